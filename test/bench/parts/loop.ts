/** The times for which the event loop of the real daemon stands still in each kind of sync. */
import { once } from 'node:events'
import { join } from 'node:path'
import { IDLE, install, type RunningDaemon } from '../installation.ts'
import type { AddSample, Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import type { LoopDelay } from '../servers/loop-probe.ts'

const PROBE = join(import.meta.dirname, '../servers/loop-probe.ts')

export const LOOP: Part = {
  subjects: ['loop'],
  async measure({ most: leads }, add) {
    await using upstream = await startUpstream(leads)
    await using installation = await install(
      `api: { url: "${upstream.address}/now", key: bench, run_minutes: 60 }\n${IDLE}`,
    )
    process.stderr.write(`event loop, ${leads} leads\n`)
    await using daemon = await installation.startDaemon([PROBE])
    await readLoop(daemon)
    await daemon.untilSyncs(0)
    note('first', await readLoop(daemon), leads, add)
    for (const [name, state, isFull] of [
      ['unchanged', 'v1', true],
      ['incremental', 'v2', false],
      ['changed', 'v3', true],
    ] as const) {
      await fetch(`${upstream.address}/set/${state}`)
      await readLoop(daemon)
      await daemon.sync(isFull)
      note(name, await readLoop(daemon), leads, add)
    }
    return null
  },
}

function note(name: string, { p99Ms, maxMs }: LoopDelay, leads: number, add: AddSample): void {
  add(`loop ${name} p99`, leads, p99Ms)
  add(`loop ${name} max`, leads, maxMs)
}

/** Returns the measurements since the last call. */
async function readLoop({ child }: RunningDaemon): Promise<LoopDelay> {
  const answer = once(child, 'message')
  child.send('loop')
  const [told] = await answer
  return told as LoopDelay
}

/**
 * One worker of the bench, with what `leadsheet run` reads a list with: `node worker.ts URL STORE PAGE sync|help`. The
 * one that syncs reads all leads twice and tells how long that took; one that helps does so until its input ends.
 */
import { setFlagsFromString } from 'node:v8'
import { pino } from 'pino'
import { sharedPacerOf } from '../../../src/jobs/shared-pacer.ts'
import { type SyncDeps, sync } from '../../../src/jobs/sync.ts'
import { createSyncHelp } from '../../../src/jobs/sync-help.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import { openSource } from '../../../src/source/open.ts'
import { openStore } from '../../../src/store/open.ts'
import { timeStep } from '../step.ts'

// As in main.ts, which is not part of what is measured.
setFlagsFromString('--semi-space-growth-factor=1')
setFlagsFromString('--heap-growing-percent=100')

const [, , upstream = '', address = '', page = '', role = ''] = process.argv
const pageSize = Number(page)
const log = pino({ level: 'warn' }, pino.destination(2))
const now = () => new Date()

await using store = await openStore(address, now())
const source = openSource({
  ...{ baseUrl: upstream, apiKey: 'bench', maxWaitMs: 0, log },
  ...(store.place.kind === 'postgres' && { pacer: sharedPacerOf(store) }),
})
const { place } = store
await using queue = place.kind === 'postgres' ? await openQueue(place, log) : null
const help = queue && createSyncHelp({ queue, source, store, log, now, pageSize, concurrency: 1 })
const stopping = new AbortController()
help?.lane.open(stopping.signal)
if (role === 'help') await timeStep('help', helpUntilTold)
else await syncTwice({ ...help?.help, source, store, log, now })
stopping.abort()
await help?.lane.idle()
await source.close()

async function helpUntilTold(): Promise<number> {
  console.log('ready')
  for await (const _ of process.stdin);
  return source.usage.requests
}

async function syncTwice(deps: SyncDeps): Promise<void> {
  const signal = new AbortController().signal
  const options = { full: true, parts: ['leads'], pageSize, overlapMs: 0, pipelineIds: [], signal } as const
  for (const step of ['first', 'unchanged'])
    await timeStep(step, async () => {
      const result = await sync(deps, options)
      if (result.outcome !== 'ok' && result.outcome !== 'ok_no_change')
        throw new Error(`${step}: ${JSON.stringify(result)}`)
      return result.requests
    })
}

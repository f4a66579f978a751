/** leadsheet itself: a first sync, everything read again, changes alone, and everything with changes in it. */
import { setFlagsFromString } from 'node:v8'
import { pino } from 'pino'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import { openStore } from '../../../src/store/open.ts'
import { openSource } from '../../../src/upstream/open.ts'
import { file, leads, timeStep, url } from '../step.ts'

// As in main.ts, which is not part of what is measured.
setFlagsFromString('--semi-space-growth-factor=1')
setFlagsFromString('--heap-growing-percent=100')

const log = pino({ level: 'silent' })
await using store = await openStore(file, new Date())

await timeStep('first', () => run('v1', true, leads, leads))
await timeStep('unchanged', () => run('v1', true, leads, 0))
await timeStep('incremental', () => run('v2', false, null, changedIn(7)))
await timeStep('changed', () => run('v3', true, leads, changedIn(13)))

function changedIn(ending: number): number {
  return Math.floor((leads - ending - 1) / 100) + 1
}

async function run(state: string, full: boolean, seen: number | null, changed: number) {
  const source = openSource({ baseUrl: `${url}/${state}`, apiKey: 'bench', maxWaitMs: 0, log })
  try {
    const result = await sync(
      { source, store, log, now: () => new Date() },
      {
        full,
        parts: ['leads'],
        pageSize: 500,
        overlapMs: 0,
        pipelineIds: [],
        signal: new AbortController().signal,
      },
    )
    const written = result.leads.inserted + result.leads.updated
    if ((seen !== null && result.leads.seen !== seen) || written !== changed) {
      throw new Error(
        `${state}: ${result.leads.seen} leads seen, ${written} written, not ${changed}: ${JSON.stringify(result.problems)}`,
      )
    }
    return result.requests
  } finally {
    await source.close()
  }
}

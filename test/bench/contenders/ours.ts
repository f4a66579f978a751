/**
 * leadsheet itself: a first sync, everything read again, changes alone, and everything with changes in it.
 * The database may be one of PostgreSQL. A fourth argument names the steps; by default all are run.
 */
import { setFlagsFromString } from 'node:v8'
import { openStore } from '../../../src/store/open.ts'
import { file, leads, timeStep, url } from '../step.ts'
import { syncLeads } from './sync.ts'

// The same as in main.ts, which is not loaded here.
setFlagsFromString('--semi-space-growth-factor=1')
setFlagsFromString('--heap-growing-percent=100')

const steps = process.argv[5]?.split(',')
await using store = await openStore(file, new Date())

await run('first', 'v1', { seen: leads, changed: leads })
await run('unchanged', 'v1', { seen: leads, changed: 0 })
await run('incremental', 'v2', { seen: null, changed: changedIn(7) })
await run('changed', 'v3', { seen: leads, changed: changedIn(13) })

function changedIn(ending: number): number {
  return Math.floor((leads - ending - 1) / 100) + 1
}

async function run(step: string, state: string, expected: { seen: number | null; changed: number }) {
  if (steps !== undefined && !steps.includes(step)) return
  await timeStep(step, async () => {
    const result = await syncLeads(store, `${url}/${state}`, { full: expected.seen !== null })
    const written = result.leads.inserted + result.leads.updated
    const isSeen = expected.seen === null || result.leads.seen === expected.seen
    if (!isSeen || written !== expected.changed) {
      const found = `${result.leads.seen} leads seen, ${written} written: ${JSON.stringify(result.problems)}`
      throw new Error(`${step}: found ${found}, expected ${JSON.stringify(expected)}`)
    }
  })
}

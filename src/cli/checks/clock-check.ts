/** Checks this machine's clock against the clock of the upstream, and against the times in the database. */

import { type CheckResult, fail, ok } from '../../checks/check.ts'
import { CLOCK_AHEAD_MAX_MS } from '../../checks/machine.ts'
import type { Db } from '../../store/db/store.ts'
import { findLastSpan } from '../../store/schedule/uptime.ts'
import { findLastRun } from '../../store/sync/sync-run.ts'
import { tellInstant, tellSpan } from '../../time.ts'

const REMEDY = 'let the machine set its clock by NTP: due times, and what counts as changed since, hang on it'

/** @param aheadMs how far this clock is ahead of the upstream's; null if the upstream sends no time */
export function compareClocks(aheadMs: number | null): CheckResult {
  if (aheadMs === null) return ok('clock', 'the upstream does not say what time it is')
  const found = `${tellSpan(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the upstream`
  return Math.abs(aheadMs) <= CLOCK_AHEAD_MAX_MS
    ? ok('clock', found)
    : fail('clock', `our clock is ${found}`, REMEDY)
}

/** Fails if the database holds a time in the future, because then the clock was set back. */
export async function checkPast(db: Db, now: Date): Promise<CheckResult | null> {
  const [beat, run] = [(await findLastSpan(db))?.last_tick_at, (await findLastRun(db))?.at]
  const latest = [beat, run]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1)
  if (latest === undefined || Date.parse(latest) - now.getTime() <= CLOCK_AHEAD_MAX_MS) return null
  const ahead = tellSpan(Date.parse(latest) - now.getTime())
  return fail(
    'clock',
    `the database has something of ${tellInstant(latest)}, which is still ${ahead} to come: the clock was set back`,
    REMEDY,
  )
}

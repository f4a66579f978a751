/** What nobody looks for where no daemon lives: the detectors that tell operators of syncs and leads, asked at once. */

import type { Db } from '../../store/db/store.ts'
import { fail, ok, warn } from '../../upstream/checkup.ts'
import type { Trouble } from '../notice.ts'
import { factsOf, type Reason } from '../notice-reasons.ts'
import { findLeadTroubles } from '../troubles/leads.ts'
import { findSyncTroubles } from '../troubles/sync.ts'
import type { HealthCheck, Subject } from './installation.ts'

/** Failures in a row after which nobody expects the next sync to read all. */
const FAILURES_MAX = 3

/** Of these another check tells already. */
const ELSEWHERE: readonly Reason[] = ['sync_late', 'records_quarantined']

export async function checkUnwatched(db: Db, now: Date): Promise<HealthCheck[]> {
  return [
    checkOf('syncs', await findSyncTroubles(db, now), 'the last one was well'),
    checkOf('upstream', await findLeadTroubles(db, now), 'nothing odd about what came'),
  ]
}

/** None says what the upstream has answered, as in all of health; `status` shows it below. */
function checkOf(what: Subject, all: readonly Trouble[], well: string): HealthCheck {
  const troubles = all.filter(({ reason }) => !ELSEWHERE.includes(reason))
  const [first] = troubles
  if (first === undefined) return ok(what, well)
  const titles = [...new Set(troubles.map(({ reason }) => factsOf(reason).title))].join(', ')
  const { failures = 0 } = first
  const found = failures > 1 ? `${titles}, ${failures} times in a row` : titles
  const isLasting = first.reason === 'key_refused' || failures >= FAILURES_MAX
  return (isLasting ? fail : warn)(what, found, first.hint)
}

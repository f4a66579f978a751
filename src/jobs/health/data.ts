/** Whether each resource is read often enough: by the due times of the sync, and by the day at the least. */
import { shellCommand } from '../../errors.ts'
import type { Instant } from '../../model.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Timing } from '../../schedule/timing.ts'
import { findImplausibleTimes, tellDoubtful } from '../../store/leads/implausible-time.ts'
import { findLastReading, type Reading, type Resource } from '../../store/sync/last-read.ts'
import { fail, ok, warn } from '../../upstream/checkup.ts'
import { LATE_MS, tellInstant } from '../schedule/schedule.ts'
import { LATE_HOURS } from '../troubles/sync.ts'
import { type HealthCheck, type Installation, type Subject, tellSpan } from './installation.ts'

/** One sync may fail, and the next one read all. */
const MISSED_MAX = 3
const HOUR_MS = 3_600_000

export interface ResourceFreshness {
  readonly resource: Resource
  /** Null where it was never read to its end. */
  readonly asOf: Instant | null
  readonly isFresh: boolean
}

const WORDS: Readonly<Record<Resource, { readonly what: Subject; readonly words: string }>> = {
  leads: { what: 'leads', words: 'all leads' },
  stats: { what: 'statistics', words: 'the statistics' },
  agents: { what: 'agents', words: 'the agents' },
}

/** @param hasDaemon without one due times mean nothing: who syncs by hand is asked for one sync a day */
export async function readFreshness(
  { store, schedules, resources }: Installation,
  hasDaemon: boolean,
  now: Date,
): Promise<ResourceFreshness[]> {
  const sync = schedules.find(({ name }) => name === 'sync')
  const timing = hasDaemon ? (sync?.timing ?? null) : null
  return Promise.all(
    resources.map(async (resource) => {
      const reading = await findLastReading(store.db, resource)
      return {
        ...{ resource, asOf: reading?.asOf ?? null },
        isFresh: reading !== null && isFresh(reading, timing, now),
      }
    }),
  )
}

/** Times that cannot be right make figures that look right. */
export async function checkTimes({ store }: Installation): Promise<HealthCheck> {
  const [first, ...others] = await findImplausibleTimes(store.db)
  if (first === undefined) return ok('times', 'those of the leads differ, as they should')
  const found = [tellDoubtful(first), ...others.map(({ field }) => `${field} is doubtful too`)].join('; ')
  const field = `mapping.lead.${first.field}`
  return warn(
    'times',
    found,
    `correct ${field} in the profile; figures that go by it are doubtful until then`,
  )
}

export function checkFreshness({ resource, asOf, isFresh }: ResourceFreshness, now: Date): HealthCheck {
  const { what, words } = WORDS[resource]
  const remedy = `${shellCommand('status')} shows the last runs, and ${shellCommand('doctor')} asks the upstream`
  if (asOf === null) {
    return resource === 'leads'
      ? fail(what, `no sync has read ${words} yet`, `run ${shellCommand('sync')}`)
      : ok(what, 'none have come yet')
  }
  const age = tellSpan(now.getTime() - Date.parse(asOf))
  if (isFresh) return ok(what, `read ${age} ago`)
  const found = `no sync has read ${words} for ${age}, since ${tellInstant(asOf)}`
  // Figures are of leads; what is beside them says itself how old it is.
  return (resource === 'leads' ? fail : warn)(what, found, remedy)
}

function isFresh({ asOf, endedAt }: Reading, timing: Timing | null, now: Date): boolean {
  if (now.getTime() - Date.parse(asOf) > LATE_HOURS * HOUR_MS) return false
  // What is due while a run goes on comes after it.
  return timing === null || endedAt === null || countDue(timing, new Date(endedAt), now) < MISSED_MAX
}

/** How many due times have come since and had time to be looked after; as many as matter. */
function countDue(timing: Timing, since: Date, now: Date): number {
  let count = 0
  let dueAt = nextScheduledRun(timing, since)
  while (dueAt !== null && dueAt.getTime() + LATE_MS <= now.getTime() && count < MISSED_MAX) {
    count++
    dueAt = nextScheduledRun(timing, dueAt)
  }
  return count
}

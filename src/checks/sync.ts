/** Checks whether syncs succeed and whether the stored data is recent. */

import type { Instant } from '../domain/model.ts'
import type { ReportedPart } from '../domain/sync.ts'
import { shellCommand } from '../errors.ts'
import { counted } from '../report/words/numbers.ts'
import { nextScheduledRun } from '../schedule/scheduled-runs.ts'
import { LATE_MS, type Timing } from '../schedule/timing.ts'
import { findImplausibleTimes, formatImplausible } from '../store/leads/implausible-times.ts'
import { findLastCompleteRun, type RunSummary } from '../store/sync/sync-run.ts'
import { readWatermark } from '../store/sync/watermark.ts'
import { formatAge, formatUtc, minutesBefore } from '../time.ts'
import type { Facts } from './check.ts'
import { ALERTED, type Check, type Finding, internal, type Part, plain, SHOWN, VITAL } from './check.ts'

const DEFERRED_MINUTES = 120
/** The age in hours at which the data counts as old. Even without a schedule, one sync a day is expected. */
const LATE_HOURS = 26
/** The data is stale after so many missed syncs. After fewer, the next one reads all that was missed. */
const MISSED_MAX = 3
/** The number of failed syncs in a row after which the next sync will probably fail too. */
const LASTING_FAILURES = 3
const HOUR_MS = 3_600_000

const KEY_CODES: readonly string[] = ['api_unauthorized', 'api_forbidden']
const OTHER_SOURCE: readonly string[] = ['store_other_source']
/** A run that was stopped, or that found another going on, does not show whether syncs work. */
const STOPPED_CODES: readonly string[] = ['run_interrupted', 'job_busy']
const OF_SYNCS = { ...ALERTED, part: 'syncs' } as const

export const SYNC_CHECKS = {
  leads_stale: freshnessCheck('leads', 'leads', 'all leads'),
  statistics_stale: freshnessCheck('stats', 'statistics', 'the statistics'),
  agents_stale: freshnessCheck('agents', 'agents', 'the agents'),
  times_implausible: {
    ...SHOWN,
    part: 'times',
    title: 'implausible times',
    meaning: 'nearly all leads have one day as one of their times, or the time at which they were read',
    find: findImplausible,
  },
  key_refused: {
    ...OF_SYNCS,
    title: 'login refused',
    meaning: 'the upstream refuses the key or the login, or does not allow it to read',
    severity: 'fail',
    find: async (facts) =>
      findByCode(
        await listEndedRuns(facts),
        KEY_CODES,
        'Check the key or the login, and ask for one that may read leads.',
      ),
  },
  source_changed: {
    ...OF_SYNCS,
    title: 'another source',
    meaning: 'the settings name another source than the stored leads came from',
    severity: 'fail',
    find: async (facts) => findByCode(await listEndedRuns(facts), OTHER_SOURCE, 'Put api.url back.'),
  },
  first_sync_unfinished: {
    ...SHOWN,
    part: 'syncs',
    title: 'first sync not finished',
    meaning: 'the first sync was stopped, and no daemon goes on with it',
    find: findFirstUnfinished,
  },
  sync_failing: {
    ...OF_SYNCS,
    title: 'sync failing',
    meaning: 'the last sync failed or was incomplete',
    alert: 'after_failures',
    find: findFailing,
  },
  sync_deferred: {
    ...OF_SYNCS,
    title: 'sync deferred',
    meaning: 'the upstream makes syncs wait for more than two hours',
    find: findDeferred,
  },
  sync_late: {
    ...ALERTED,
    part: 'leads',
    title: 'data old',
    meaning: 'no sync has read all leads for 26 hours',
    // Only alerts show this finding. All other places show leads_stale, which reports old data earlier.
    shownIn: ['alerts'],
    find: findLate,
  },
} as const satisfies Record<string, Check>

export interface Freshness {
  readonly resource: ReportedPart
  /** The time up to which the stored data is complete; null if the part was never read completely. */
  readonly asOf: Instant | null
  readonly isFresh: boolean
}

export async function readFreshness(facts: Facts, part: ReportedPart): Promise<Freshness> {
  const sync = facts.schedules.find(({ name }) => name === 'sync')
  // If no daemon ever ran, nobody follows the sync schedule, so the schedule is ignored.
  const timing = (await facts.daemonState()) === 'none' ? null : (sync?.timing ?? null)
  const read = await facts.lastRead(part)
  if (read === null) return { resource: part, asOf: null, isFresh: false }
  const { asOf, endedAt } = read
  const isOld = facts.now.getTime() - Date.parse(asOf) > LATE_HOURS * HOUR_MS
  // Missed syncs are counted from the end of the last run. A sync that becomes due during a run was not
  // missed, because it has to wait for the end of that run.
  const missed = timing === null || endedAt === null ? 0 : countDue(timing, new Date(endedAt), facts.now)
  return { resource: part, asOf, isFresh: !isOld && missed < MISSED_MAX }
}

/** Counts the syncs that were due after `since` and have not started in time. Stops at MISSED_MAX. */
function countDue(timing: Timing, since: Date, now: Date): number {
  let count = 0
  let dueAt = nextScheduledRun(timing, since)
  while (dueAt !== null && dueAt.getTime() + LATE_MS <= now.getTime() && count < MISSED_MAX) {
    count++
    dueAt = nextScheduledRun(timing, dueAt)
  }
  return count
}

function freshnessCheck(reported: ReportedPart, part: Part, words: string): Check {
  return {
    ...(reported === 'leads' ? VITAL : SHOWN),
    part,
    title: `${part} old`,
    meaning: `no sync has read ${words} for 26 hours, or three scheduled syncs in a row were missed`,
    async find(facts) {
      if (!facts.reportedParts.includes(reported)) return []
      const { asOf, isFresh } = await readFreshness(facts, reported)
      if (isFresh || (asOf === null && reported !== 'leads')) return []
      if (asOf === null) return plain(`no sync has read ${words} yet`, `run ${shellCommand('sync')}`)
      return plain(
        `no sync has read ${words} for ${formatAge(facts.now, asOf)}, since ${formatUtc(asOf)}`,
        `${shellCommand('status')} shows the last runs, and ${shellCommand('doctor')} asks the upstream`,
      )
    },
  }
}

/** Figures that are computed from implausible times are wrong but look right. */
async function findImplausible({ db }: Facts): Promise<Finding[]> {
  const [first, ...others] = await findImplausibleTimes(db)
  if (first === undefined) return []
  const found = [formatImplausible(first), ...others.map(({ field }) => `${field} is implausible too`)]
  return plain(
    found.join('; '),
    `correct mapping.lead.${first.field} in the profile; figures that go by it are doubtful until then`,
  )
}

/** Only runs that were not stopped and have ended show whether syncs work. */
async function listEndedRuns(facts: Facts): Promise<RunSummary[]> {
  return (await facts.runs()).filter(
    ({ outcome, problems }) => outcome !== null && !problems.some(({ code }) => STOPPED_CODES.includes(code)),
  )
}

/** Returns a finding if the last run failed for one of these reasons, which no retry removes. */
function findByCode(runs: readonly RunSummary[], codes: readonly string[], hint: string): Finding[] {
  const problemOf = ({ problems }: RunSummary) => problems.find(({ code }) => codes.includes(code))
  const failed = newestWhile(runs, (run) => problemOf(run) !== undefined)
  const problem = failed[0] && problemOf(failed[0])
  if (!problem) return []
  const since = formatUtc(failed.at(-1)?.startedAt ?? '')
  return internal(`${problem.message}. Every sync has failed since ${since}`, problem.hint ?? hint)
}

/** Returns the newest runs of which all are so. */
function newestWhile(runs: readonly RunSummary[], isSo: (run: RunSummary) => boolean): readonly RunSummary[] {
  const end = runs.findIndex((run) => !isSo(run))
  return end < 0 ? runs : runs.slice(0, end)
}

/** Only while no daemon is alive, which would repeat the sync. Parts of the data are missing. */
async function findFirstUnfinished(facts: Facts): Promise<Finding[]> {
  const [last] = await facts.runs()
  const ended = (await listEndedRuns(facts)).filter(({ outcome }) => outcome !== 'killed')
  if (last === undefined || ended.length > 0 || (await facts.daemonState()) === 'alive') return []
  if ((await facts.leases()).some(({ name }) => name === 'sync')) return []
  return plain(
    `the first sync has not finished: it was stopped after its start at ${formatUtc(last.startedAt)}`,
    `run ${shellCommand('sync')}; it goes on from there`,
  )
}

async function findFailing(facts: Facts): Promise<Finding[]> {
  const runs = await listEndedRuns(facts)
  if (findByCode(runs, [...KEY_CODES, ...OTHER_SOURCE], '').length > 0) return []
  const others = runs.filter(({ outcome }) => outcome !== 'deferred')
  const failed = newestWhile(others, ({ outcome }) => outcome !== 'ok' && outcome !== 'ok_no_change')
  const [last] = failed
  const oldest = failed.at(-1)
  if (last === undefined || oldest === undefined) return []
  const [problem] = last.problems
  const error = problem ? `${problem.part}: ${problem.message}` : 'the process was killed'
  const times = failed.length === 1 ? 'The last sync' : `The last ${counted(failed.length, 'sync')}`
  return internal(
    `${times} failed or came back incomplete, since ${formatUtc(oldest.startedAt)}. The last error: ${error}`,
    problem?.hint ?? `${shellCommand('status')} shows the runs, ${shellCommand('doctor')} asks the upstream.`,
    {
      brief:
        failed.length > 1 ? `sync failing, ${failed.length} times in a row` : 'the last sync did not finish',
      failures: failed.length,
      severity: failed.length >= LASTING_FAILURES ? 'fail' : 'warn',
    },
  )
}

/** Returns whether the last sync ended whole. A sync that runs, or that found another at work, shows nothing. */
export async function isLastSyncWhole(facts: Facts): Promise<boolean> {
  const isSyncing = (await facts.leases()).some(({ name }) => name === 'sync')
  const last = (await facts.runs()).find(
    ({ outcome, problems }) =>
      !(outcome === null && isSyncing) && !problems.some(({ code }) => code === 'job_busy'),
  )
  return last?.outcome === 'ok' || last?.outcome === 'ok_no_change'
}

async function findDeferred(facts: Facts): Promise<Finding[]> {
  const { db, now } = facts
  const { notBefore } = await readWatermark(db)
  const deferred = newestWhile(await listEndedRuns(facts), ({ outcome }) => outcome === 'deferred')
  const oldest = deferred.at(-1)
  if (oldest === undefined) return []
  const isLong = oldest.startedAt <= minutesBefore(now, DEFERRED_MINUTES)
  const isFar = notBefore !== null && notBefore > minutesBefore(now, -DEFERRED_MINUTES)
  if (!isLong && !isFar) return []
  const until = notBefore === null ? '' : ` It asks for no request before ${formatUtc(notBefore)}.`
  return internal(
    `The upstream has been asking to wait since ${formatUtc(oldest.startedAt)}.${until}`,
    'Ask its operator for a higher limit, sync less often (sync.schedule), or set limits.requests_per_second in the profile.',
  )
}

async function findLate(facts: Facts): Promise<Finding[]> {
  const asOf = (await findLastCompleteRun(facts.db))?.asOf ?? null
  const since = asOf ?? (await listEndedRuns(facts)).at(-1)?.startedAt
  if (since === undefined || since > minutesBefore(facts.now, LATE_HOURS * 60)) return []
  return internal(
    asOf === null
      ? `No sync has read all leads yet; the first was at ${formatUtc(since)}.`
      : `No sync has read all leads since ${formatUtc(since)}: what reports say is as old.`,
    `${shellCommand('status')} shows the last runs, and whether any was begun.`,
  )
}

/** What is wrong with the syncs, by the runs in the store. */
import { shellCommand } from '../../errors.ts'
import type { Instant } from '../../model.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Db } from '../../store/db/store.ts'
import { findLastWholeRun, listRuns, type RunSummary } from '../../store/sync/sync-run.ts'
import { readWatermark } from '../../store/sync/watermark.ts'
import type { Trouble } from '../notice.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { minutesBefore, type Watch } from './watch.ts'

/** Looked back over: a day at the usual pace. */
const RUNS_MAX = 100
const DEFERRED_MINUTES = 120
/** Also a copy that nobody syncs by the clock is older than it should be then. */
export const LATE_HOURS = 26

const KEY_CODES: readonly string[] = ['api_unauthorized', 'api_forbidden']
/** Runs that end so say nothing of the next one. */
const STOPPED_CODES: readonly string[] = ['run_interrupted', 'job_busy']

export const WATCH_SYNC: Watch = {
  reasons: ['key_refused', 'sync_failing', 'sync_deferred', 'sync_late'],
  find: ({ store }, now) => findSyncTroubles(store.db, now),
}

export async function findSyncTroubles(db: Db, now: Date): Promise<Trouble[]> {
  const runs = (await listRuns(db, RUNS_MAX)).filter(tellsAnything)
  const whole = await findLastWholeRun(db)
  const { notBefore } = await readWatermark(db)
  return [
    keyRefused(runs) ?? failing(runs),
    deferred(runs, notBefore, now),
    late(runs, whole?.asOf ?? null, now),
  ].filter((trouble) => trouble !== null)
}

/** One that was told to stop, and one under way, tell nothing of what is wrong. */
function tellsAnything({ outcome, problems }: RunSummary): boolean {
  return outcome !== null && !problems.some(({ code }) => STOPPED_CODES.includes(code))
}

function keyRefused([last]: readonly RunSummary[]): Trouble | null {
  const problem = last?.problems.find(({ code }) => KEY_CODES.includes(code))
  if (!last || !problem) return null
  return {
    ...{ reason: 'key_refused', subject: '' },
    message: problem.message,
    hint: problem.hint ?? 'Check api.key, and ask for one that may read leads.',
  }
}

function failing(runs: readonly RunSummary[]): Trouble | null {
  const others = runs.filter(({ outcome }) => outcome !== 'deferred')
  const first = others.findIndex(({ outcome }) => outcome === 'ok' || outcome === 'ok_no_change')
  const failed = first < 0 ? others : others.slice(0, first)
  const [last] = failed
  const oldest = failed.at(-1)
  if (last === undefined || oldest === undefined) return null
  const [problem] = last.problems
  const error = problem ? `${problem.part}: ${problem.message}` : 'the process was killed'
  const times = failed.length === 1 ? 'The last sync' : `The last ${counted(failed.length, 'sync')}`
  return {
    ...{ reason: 'sync_failing', subject: '' },
    message: `${times} failed or came back incomplete, since ${tellInstant(oldest.startedAt)}. The last error: ${error}`,
    hint:
      problem?.hint ??
      `${shellCommand('status')} shows the runs, ${shellCommand('doctor')} asks the upstream.`,
    failures: failed.length,
  }
}

function deferred(runs: readonly RunSummary[], notBefore: Instant | null, now: Date): Trouble | null {
  const first = runs.findIndex(({ outcome }) => outcome !== 'deferred')
  const oldest = (first < 0 ? runs : runs.slice(0, first)).at(-1)
  if (oldest === undefined) return null
  const isLong = oldest.startedAt <= minutesBefore(now, DEFERRED_MINUTES)
  const isFar = notBefore !== null && notBefore > minutesBefore(now, -DEFERRED_MINUTES)
  if (!isLong && !isFar) return null
  const until = notBefore === null ? '' : ` It asks for no request before ${tellInstant(notBefore)}.`
  return {
    ...{ reason: 'sync_deferred', subject: '' },
    message: `The upstream has been asking to wait since ${tellInstant(oldest.startedAt)}.${until}`,
    hint: 'Ask its operator for a higher limit, sync less often (sync.schedule), or set limits.requests_per_second in the profile.',
  }
}

function late(runs: readonly RunSummary[], asOf: Instant | null, now: Date): Trouble | null {
  const since = asOf ?? runs.at(-1)?.startedAt
  if (since === undefined || since > minutesBefore(now, LATE_HOURS * 60)) return null
  const message =
    asOf === null
      ? `No sync has read all leads yet; the first was at ${tellInstant(since)}`
      : `No sync has read all leads since ${tellInstant(since)}: what reports say is as old`
  return {
    ...{ reason: 'sync_late', subject: '' },
    message: `${message}.`,
    hint: `${shellCommand('status')} shows the last runs, and whether any was begun.`,
  }
}

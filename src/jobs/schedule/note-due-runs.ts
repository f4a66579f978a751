/** Finds the scheduled runs that became due, and decides which missed runs are caught up on. */
import type { Instant } from '../../domain/model.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { type CatchUp, LATE_MS, type Timing } from '../../schedule/timing.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { addScheduledRun, findLastScheduledRun } from '../../store/schedule/scheduled-run.ts'
import { findGap, type Gap } from '../../store/schedule/uptime.ts'
import { formatUtc, HOUR_MS } from '../../time.ts'
import { formatHours, type Schedule } from './schedule.ts'

const SCHEDULED_RUNS_MAX = 400
/** The message in the first row of a schedule. Only runs that become due after this row are stored. */
export const SET_UP = 'the schedule was set up'

interface NotedScheduledRun {
  readonly due_at: Instant
  readonly state: 'pending' | 'skipped'
  readonly message: string | null
}

/**
 * Stores the runs that have become due. Each run is stored once, however often this function is called and
 * even if the clock is changed.
 * @returns the missed runs that are not caught up on, oldest first
 */
export async function noteScheduledRuns(
  store: Store,
  schedule: Schedule,
  now: Date,
): Promise<NotedScheduledRun[]> {
  const at = now.toISOString()
  const last = await findLastScheduledRun(store.db, schedule.name, at)
  const noted = last
    ? await judge(store.db, schedule, scheduledRunsBetween(schedule.timing, new Date(last.due_at), now), now)
    : [firstSight(schedule, at)]
  if (noted.length === 0) return []
  const added: NotedScheduledRun[] = []
  await store.write(async (trx) => {
    for (const scheduledRun of noted) {
      const isNew = await addScheduledRun(trx, {
        schedule: schedule.name,
        ...scheduledRun,
        noted_at: at,
        not_before: null,
      })
      if (isNew) added.push(scheduledRun)
    }
  })
  return last ? added.filter(({ state }) => state === 'skipped') : []
}

function firstSight({ runsAtFirstSight }: Schedule, at: Instant): NotedScheduledRun {
  return runsAtFirstSight
    ? { due_at: at, state: 'pending', message: null }
    : { due_at: at, state: 'skipped', message: SET_UP }
}

async function judge(
  db: Db,
  { catchUp }: Schedule,
  scheduledRuns: readonly Date[],
  now: Date,
): Promise<NotedScheduledRun[]> {
  const made = new Set(madeUpFor(catchUp, scheduledRuns, now))
  const latest = [...made].at(-1)
  const noted: NotedScheduledRun[] = []
  let gap: Gap | null = null
  for (const dueAt of scheduledRuns) {
    const instant = dueAt.toISOString()
    if (made.has(dueAt)) {
      noted.push({ due_at: instant, state: 'pending', message: null })
      continue
    }
    if (gap?.to == null || instant > gap.to) gap = await findGap(db, instant)
    const message = `missed: ${formatGap(gap)}; ${formatPolicy(catchUp, dueAt, latest, now)}`
    noted.push({ due_at: instant, state: 'skipped', message })
  }
  return noted
}

function madeUpFor(
  { policy, windowHours }: CatchUp,
  scheduledRuns: readonly Date[],
  now: Date,
): readonly Date[] {
  const windowMs = policy === 'none' ? LATE_MS : windowHours * HOUR_MS
  const inWindow = scheduledRuns.filter((dueAt) => now.getTime() - dueAt.getTime() <= windowMs)
  return policy === 'all' ? inWindow : inWindow.slice(-1)
}

function formatGap(gap: Gap | null): string {
  if (gap === null) return 'other work came first'
  const [from, to] = [gap.from, gap.to].map((instant) => instant && formatUtc(instant))
  const span = from && to ? ` from ${from} to ${to}` : ''
  if (gap.why === 'down') return `nothing ran${span}`
  if (gap.why === 'unwritable') return `the database could not be written${span}`
  return gap.why === 'clock'
    ? `the clock was set, or the machine slept${span}`
    : `the process was held up${span}`
}

function formatPolicy(
  { policy, windowHours }: CatchUp,
  dueAt: Date,
  latest: Date | undefined,
  now: Date,
): string {
  if (policy === 'none') return 'not made up for'
  const isPast = latest === undefined || now.getTime() - dueAt.getTime() > windowHours * HOUR_MS
  return isPast
    ? `more than ${formatHours(windowHours)} ago`
    : `that of ${formatUtc(latest.toISOString())} stands for it`
}

/**
 * Lists the runs after `from` up to and including `to`, at most the last ones. The search goes back from
 * `to`,
 * because the clock may have been years behind.
 */
function scheduledRunsBetween(timing: Timing, from: Date, to: Date): Date[] {
  for (let span = HOUR_MS; ; span *= 4) {
    const start = Math.max(from.getTime(), to.getTime() - span)
    const scheduledRuns = scheduledRunsFrom(timing, new Date(start), to)
    if (scheduledRuns.length >= SCHEDULED_RUNS_MAX || start === from.getTime())
      return scheduledRuns.slice(-SCHEDULED_RUNS_MAX)
  }
}

function scheduledRunsFrom(timing: Timing, from: Date, to: Date): Date[] {
  const scheduledRuns: Date[] = []
  for (
    let dueAt = nextScheduledRun(timing, from);
    dueAt !== null && dueAt <= to;
    dueAt = nextScheduledRun(timing, dueAt)
  )
    scheduledRuns.push(dueAt)
  return scheduledRuns
}

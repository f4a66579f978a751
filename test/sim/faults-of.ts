/** Compares what a daemon recorded and ran with what was due. The list of faults must be empty. */
import { LATE_MS } from '../../src/schedule/timing.ts'
import type { ScheduledRun } from '../../src/store/schedule/scheduled-run.ts'
import { dueTimes } from './due-times.ts'
import type { Planned, Run, World } from './world.ts'

const HOUR_MS = 3_600_000
/** A run this close to the end of its window may be left out, because the work before it took time. */
const EDGE_MS = 3 * HOUR_MS

/** Returns the faults up to the current moment of the world. */
export async function faultsOf(world: World): Promise<string[]> {
  const faults: string[] = []
  for (const planned of world.planned) {
    const { name, timing } = planned.schedule
    const until = new Date(world.clock.at)
    const [due = []] = dueTimes([planned.rule], timing.timeZone, world.from, until)
    const rows = await world.store.db
      .selectFrom('scheduled_run')
      .where('schedule', '=', name)
      .where('due_at', '>', world.from.toISOString())
      .where('due_at', '<=', until.toISOString())
      .selectAll()
      .execute()
    const runs = world.runs.filter(({ schedule }) => schedule === name)
    const found = [
      ...gaps(due, rows),
      ...doubles(runs, world.kills),
      ...contradictions(rows, runs),
      ...unexplained(rows, runs),
      ...wronglyLeftOut(planned, due, rows, world),
    ]
    faults.push(...found.map((fault) => `${name} ${fault}`))
  }
  return faults
}

function gaps(due: readonly Date[], rows: readonly ScheduledRun[]): string[] {
  const expected = new Set(due.map((dueAt) => dueAt.toISOString()))
  const noted = new Set(rows.map(({ due_at }) => due_at))
  return [
    ...[...expected.difference(noted)].map((dueAt) => `${dueAt}: missing in the ledger`),
    ...[...noted.difference(expected)].map((dueAt) => `${dueAt}: never due`),
  ]
}

/** Lists runs that were done twice, except after a kill that came before the first could be recorded. */
function doubles(runs: readonly Run[], kills: readonly number[]): string[] {
  const faults: string[] = []
  for (const [dueAt, ofScheduledRun] of Map.groupBy(runs, ({ due }) => due.dueAt.toISOString())) {
    for (const [index, { endedAt }] of ofScheduledRun.entries()) {
      const next = ofScheduledRun[index + 1]
      if (endedAt === null || next === undefined) continue
      if (!kills.some((kill) => kill >= endedAt && kill <= next.begunAt)) faults.push(`${dueAt}: done twice`)
    }
  }
  return faults
}

function contradictions(rows: readonly ScheduledRun[], runs: readonly Run[]): string[] {
  const done = new Set(
    runs.filter(({ endedAt }) => endedAt !== null).map(({ due }) => due.dueAt.toISOString()),
  )
  return rows
    .filter(({ due_at, state }) => (state === 'done') !== done.has(due_at))
    .map(
      ({ due_at, state }) => `${due_at}: ${state} in the ledger, and ${done.has(due_at) ? '' : 'not '}done`,
    )
}

/** Lists runs that are late or left out without a reason. */
function unexplained(rows: readonly ScheduledRun[], runs: readonly Run[]): string[] {
  const faults: string[] = []
  for (const { due_at, state, message } of rows) {
    if (state === 'skipped' && !message) faults.push(`${due_at}: skipped, and nothing says why`)
  }
  for (const { due, begunByClock } of runs) {
    const { dueAt, late } = due
    const isLate = begunByClock - dueAt.getTime() > LATE_MS
    if (isLate !== (late !== null))
      faults.push(`${dueAt.toISOString()}: ${isLate ? '' : 'not '}late, told ${late?.why}`)
    if (late !== null && late.from > late.to) faults.push(`${dueAt.toISOString()}: late until before it was`)
  }
  return faults
}

/**
 * Lists runs that were left out, although the policy of the schedule wants them at the first tick with a
 * correct clock.
 */
function wronglyLeftOut(
  { schedule: { catchUp } }: Planned,
  due: readonly Date[],
  rows: readonly ScheduledRun[],
  { ticks, runs }: World,
): string[] {
  const byScheduledRun = new Map(rows.map((row) => [row.due_at, row]))
  const windowMs = catchUp.policy === 'none' ? LATE_MS : catchUp.windowHours * HOUR_MS - EDGE_MS
  const right = ticks.filter(({ isClockRight }) => isClockRight)
  let tick = 0
  return due.flatMap((dueAt, index) => {
    while ((right[tick]?.at ?? Number.POSITIVE_INFINITY) < dueAt.getTime()) tick++
    const seenAt = right[tick]?.at
    const row = byScheduledRun.get(dueAt.toISOString())
    if (seenAt === undefined || row === undefined || row.state === 'done') return []
    if (seenAt - dueAt.getTime() > windowMs) return []
    const next = due[index + 1]?.getTime() ?? Number.POSITIVE_INFINITY
    if (catchUp.policy === 'latest' && next <= seenAt) return []
    const isBusy = runs.some(
      ({ begunAt, endedAt }) => begunAt <= next && (endedAt === null || endedAt >= next),
    )
    if (row.message?.startsWith('overlapped') && catchUp.policy !== 'all' && isBusy) return []
    return [`${row.due_at}: ${row.state}, though it was seen in time: ${row.message}`]
  })
}

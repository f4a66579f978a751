/** Holds what a daemon did, by its ledger and by what ran, against what was due; an empty list is the only good one. */
import { LATE_MS } from '../../src/jobs/schedule/schedule.ts'
import type { Slot } from '../../src/store/schedule/scheduled-run.ts'
import { dueTimes } from './due-times.ts'
import type { Planned, Run, World } from './world.ts'

const HOUR_MS = 3_600_000
/** So near the end of its dashboard a slot may be let go, for what came before it took its time. */
const EDGE_MS = 3 * HOUR_MS

/** Up to the moment at which the world is. */
export async function faultsOf(world: World): Promise<string[]> {
  const faults: string[] = []
  for (const planned of world.planned) {
    const { name, timing } = planned.schedule
    const until = new Date(world.clock.at)
    const [due = []] = dueTimes([planned.rule], timing.timeZone, world.from, until)
    const rows = await world.store.db
      .selectFrom('schedule_slot')
      .where('schedule', '=', name)
      .where('slot', '>', world.from.toISOString())
      .where('slot', '<=', until.toISOString())
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

function gaps(due: readonly Date[], rows: readonly Slot[]): string[] {
  const expected = new Set(due.map((slot) => slot.toISOString()))
  const noted = new Set(rows.map(({ slot }) => slot))
  return [
    ...[...expected.difference(noted)].map((slot) => `${slot}: missing in the ledger`),
    ...[...noted.difference(expected)].map((slot) => `${slot}: never due`),
  ]
}

/** Work that was done for a slot for which it had been done, where no kill had come before that could be noted. */
function doubles(runs: readonly Run[], kills: readonly number[]): string[] {
  const faults: string[] = []
  for (const [slot, ofSlot] of Map.groupBy(runs, ({ due }) => due.slot.toISOString())) {
    for (const [index, { endedAt }] of ofSlot.entries()) {
      const next = ofSlot[index + 1]
      if (endedAt === null || next === undefined) continue
      if (!kills.some((kill) => kill >= endedAt && kill <= next.begunAt)) faults.push(`${slot}: done twice`)
    }
  }
  return faults
}

function contradictions(rows: readonly Slot[], runs: readonly Run[]): string[] {
  const done = new Set(
    runs.filter(({ endedAt }) => endedAt !== null).map(({ due }) => due.slot.toISOString()),
  )
  return rows
    .filter(({ slot, state }) => (state === 'done') !== done.has(slot))
    .map(({ slot, state }) => `${slot}: ${state} in the ledger, and ${done.has(slot) ? '' : 'not '}done`)
}

/** What is late or left out without a word. */
function unexplained(rows: readonly Slot[], runs: readonly Run[]): string[] {
  const faults: string[] = []
  for (const { slot, state, message } of rows) {
    if (state === 'skipped' && !message) faults.push(`${slot}: skipped, and nothing says why`)
  }
  for (const { due, begunByClock } of runs) {
    const { slot, late } = due
    const isLate = begunByClock - slot.getTime() > LATE_MS
    if (isLate !== (late !== null))
      faults.push(`${slot.toISOString()}: ${isLate ? '' : 'not '}late, told ${late?.why}`)
    if (late !== null && late.from > late.to) faults.push(`${slot.toISOString()}: late until before it was`)
  }
  return faults
}

/** What the policy of the schedule would have had done at the first beat of a daemon that knew the time. */
function wronglyLeftOut(
  { schedule: { catchUp } }: Planned,
  due: readonly Date[],
  rows: readonly Slot[],
  { beats, runs }: World,
): string[] {
  const bySlot = new Map(rows.map((row) => [row.slot, row]))
  const windowMs = catchUp.policy === 'none' ? LATE_MS : catchUp.windowHours * HOUR_MS - EDGE_MS
  const right = beats.filter(({ isClockRight }) => isClockRight)
  let beat = 0
  return due.flatMap((slot, index) => {
    while ((right[beat]?.at ?? Number.POSITIVE_INFINITY) < slot.getTime()) beat++
    const seenAt = right[beat]?.at
    const row = bySlot.get(slot.toISOString())
    if (seenAt === undefined || row === undefined || row.state === 'done') return []
    if (seenAt - slot.getTime() > windowMs) return []
    const next = due[index + 1]?.getTime() ?? Number.POSITIVE_INFINITY
    if (catchUp.policy === 'latest' && next <= seenAt) return []
    const isBusy = runs.some(
      ({ begunAt, endedAt }) => begunAt <= next && (endedAt === null || endedAt >= next),
    )
    if (row.message?.startsWith('overlapped') && catchUp.policy !== 'all' && isBusy) return []
    return [`${row.slot}: ${row.state}, though it was seen in time: ${row.message}`]
  })
}

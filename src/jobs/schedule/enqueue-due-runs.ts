/** Which due times of a schedule have come since the last one noted, and which of them are made up for. */
import type { Instant } from '../../model.ts'
import { jitterMs } from '../../schedule/jitter.ts'
import { nextSlot } from '../../schedule/slots.ts'
import type { CatchUp, Timing } from '../../schedule/timing.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { addSlot, findLastSlot } from '../../store/schedule/scheduled-run.ts'
import { findGap, type Gap } from '../../store/schedule/uptime.ts'
import { LATE_MS, type Schedule, tellHours, tellInstant } from './schedule.ts'

/** No more slots than this are noted at once, nor walked one by one. */
const SLOTS_MAX = 400
/** Of the first row of a schedule, from which on its due times count. */
export const SET_UP = 'the schedule was set up'
const HOUR_MS = 60 * 60_000

export interface NotedSlot {
  readonly slot: Instant
  readonly state: 'due' | 'skipped'
  /** Why it is skipped. */
  readonly message: string | null
}

/**
 * Notes the slots that have come, each once, however often it is called and wherever the clock goes.
 * @returns those that were missed and are not made up for, oldest first
 */
export async function noteSlots(store: Store, schedule: Schedule, now: Date): Promise<NotedSlot[]> {
  const at = now.toISOString()
  const last = await findLastSlot(store.db, schedule.name, at)
  const noted = last
    ? await judge(store.db, schedule, slotsBetween(schedule.timing, new Date(last.slot), now), now)
    : [firstSight(schedule, at)]
  if (noted.length === 0) return []
  const added: NotedSlot[] = []
  await store.write(async (trx) => {
    for (const slot of noted) {
      const begin = slot.state === 'due' ? startOf(store, schedule, new Date(slot.slot)) : null
      const isNew = await addSlot(trx, {
        ...{ schedule: schedule.name, ...slot, noted_at: at },
        not_before: begin !== null && begin > now ? begin.toISOString() : null,
      })
      if (isNew) added.push(slot)
    }
  })
  return last ? added.filter(({ state }) => state === 'skipped') : []
}

/** When a slot begins: its time, and what the settings want it to be put off by; never past half the way to the next. */
export function startOf(
  { installationId }: Pick<Store, 'installationId'>,
  { name, timing, jitterSeconds }: Pick<Schedule, 'name' | 'timing' | 'jitterSeconds'>,
  slot: Date,
): Date {
  if (jitterSeconds === 0) return slot
  const next = nextSlot(timing, slot)
  const room = next === null ? Number.POSITIVE_INFINITY : (next.getTime() - slot.getTime()) / 2
  const seed = `${installationId} ${name} ${slot.toISOString()}`
  return new Date(slot.getTime() + Math.min(room, jitterMs(seed, jitterSeconds)))
}

function firstSight({ runsAtFirstSight }: Schedule, at: Instant): NotedSlot {
  return runsAtFirstSight
    ? { slot: at, state: 'due', message: null }
    : { slot: at, state: 'skipped', message: SET_UP }
}

async function judge(db: Db, { catchUp }: Schedule, slots: readonly Date[], now: Date): Promise<NotedSlot[]> {
  const made = new Set(madeUpFor(catchUp, slots, now))
  const latest = [...made].at(-1)
  const noted: NotedSlot[] = []
  let gap: Gap | null = null
  for (const slot of slots) {
    const instant = slot.toISOString()
    if (made.has(slot)) {
      noted.push({ slot: instant, state: 'due', message: null })
      continue
    }
    if (gap?.to == null || instant > gap.to) gap = await findGap(db, instant)
    const message = `missed: ${tellGap(gap)}; ${tellPolicy(catchUp, slot, latest, now)}`
    noted.push({ slot: instant, state: 'skipped', message })
  }
  return noted
}

function madeUpFor({ policy, windowHours }: CatchUp, slots: readonly Date[], now: Date): readonly Date[] {
  const windowMs = policy === 'none' ? LATE_MS : windowHours * HOUR_MS
  const inWindow = slots.filter((slot) => now.getTime() - slot.getTime() <= windowMs)
  return policy === 'all' ? inWindow : inWindow.slice(-1)
}

function tellGap(gap: Gap | null): string {
  if (gap === null) return 'other work came first'
  const [from, to] = [gap.from, gap.to].map((instant) => instant && tellInstant(instant))
  const span = from && to ? ` from ${from} to ${to}` : ''
  if (gap.why === 'down') return `nothing ran${span}`
  return gap.why === 'clock'
    ? `the clock was set, or the machine slept${span}`
    : `the process was held up${span}`
}

function tellPolicy(
  { policy, windowHours }: CatchUp,
  slot: Date,
  latest: Date | undefined,
  now: Date,
): string {
  if (policy === 'none') return 'not made up for'
  const isPast = latest === undefined || now.getTime() - slot.getTime() > windowHours * HOUR_MS
  return isPast
    ? `more than ${tellHours(windowHours)} ago`
    : `that of ${tellInstant(latest.toISOString())} stands for it`
}

/**
 * After `from`, up to and including `to`: the last of them if there are very many. Looks back step by step, so
 * that a clock which was years behind does not make it walk through those years.
 */
function slotsBetween(timing: Timing, from: Date, to: Date): Date[] {
  for (let span = HOUR_MS; ; span *= 4) {
    const start = Math.max(from.getTime(), to.getTime() - span)
    const slots = slotsFrom(timing, new Date(start), to)
    if (slots.length >= SLOTS_MAX || start === from.getTime()) return slots.slice(-SLOTS_MAX)
  }
}

function slotsFrom(timing: Timing, from: Date, to: Date): Date[] {
  const slots: Date[] = []
  for (let slot = nextSlot(timing, from); slot !== null && slot <= to; slot = nextSlot(timing, slot))
    slots.push(slot)
  return slots
}

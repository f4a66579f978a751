/** Leads that change at random from day to day, and are read each evening. */
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { pick } from '../random.ts'
import { lead, STAGES, save } from '../store.ts'

export const DAY_MS = 86_400_000
const START = Date.parse('2026-11-01T00:00:00Z')
const STATUSES = [...STAGES.map((stage) => stage.status), 'on_hold']

/** Returns the instant that is so many days, whole or not, after the first midnight. */
export const day = (days: number): string => new Date(START + Math.round(days * DAY_MS)).toISOString()

/** Returns how many days after the first midnight an instant is. */
export const daysTo = (at: string): number => (Date.parse(at) - START) / DAY_MS

/** Returns an instant of a day: often the midnight of Berlin, at which reports begin and end. */
const momentOf = (next: () => number, today: number): string =>
  day(today + (next() < 0.25 ? 23 / 24 : next()))

/** Returns a lead as it changed on a day, or a new one. */
export function changeLead(next: () => number, id: string, before: Lead | undefined, today: number): Lead {
  const at = momentOf(next, today)
  const status = before && next() < 0.35 ? before.status : pick(next, STATUSES)
  return lead(id, {
    status,
    statusChangedAt: before?.status === status ? before.statusChangedAt : at,
    pipelineId: before?.pipelineId ?? pick(next, ['p1', 'p2']),
    createdAt: before?.createdAt ?? momentOf(next, today - 3),
    score: 20 * Math.floor(next() * 6),
    source: pick(next, ['form', 'crawl', null]),
    companyCountry: pick(next, ['DE', 'FR', null]),
    valueAmount: next() < 0.2 ? null : Math.floor(next() * 100),
    valueCurrency: pick(next, ['EUR', 'USD', null]),
    updatedAt: at,
  })
}

/** Saves a lead that arrives long after these days, so that some periods ended long before. */
export async function saveLate(store: Store, days: number): Promise<void> {
  const createdAt = day(days + 14)
  const late = lead('late', { createdAt, statusChangedAt: createdAt, updatedAt: createdAt })
  await save(store, [late], day(days + 15))
}

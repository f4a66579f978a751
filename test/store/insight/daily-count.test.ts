// @both-stores
/**
 * Compares the counts by day, kept over a service's days, with the figures of each day and with a new count.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { COUNTED_FIGURES } from '../../../src/domain/insight.ts'
import type { Period } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readFigure } from '../../../src/store/figures/query.ts'
import {
  type CountedDay,
  DIMENSIONS,
  readDailyCounts,
  refreshDailyCounts,
} from '../../../src/store/insight/daily-count.ts'
import { liveThrough } from '../../support/source/living-service.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const DAY_MS = 86_400_000
const FIRST = Date.parse('2026-11-17T06:00:00Z')
const DAYS = 5
const ZONE = 'Europe/Berlin'
const BEGIN = Date.parse('2026-10-01T00:00:00Z')

/** Returns all days that the service has lived, up to the day before. */
function daysTo(now: Date): CountedDay[] {
  const days = daysUpTo(now.toISOString(), Math.floor((now.getTime() - BEGIN) / DAY_MS), ZONE)
  return days.map((day) => ({ ...day, date: localDates(day) }))
}
const LAST_DAYS = daysTo(new Date(FIRST + (DAYS - 1) * DAY_MS))

async function totals(store: Store, days: readonly Period[]) {
  const [from, to] = [localDates(days[0] as Period), localDates(days.at(-1) as Period)]
  const all: Record<string, Record<string, number>> = {}
  for (const figure of COUNTED_FIGURES) {
    for (const dimension of DIMENSIONS) {
      const rows = await readDailyCounts(store.db, { timeZone: ZONE, figure, dimension }, from, to)
      const sums: Record<string, number> = {}
      for (const { day, currency, value } of rows) {
        const key = `${day} ${currency}`
        sums[key] = (sums[key] ?? 0) + value
      }
      all[`${figure} ${dimension}`] = sums
    }
  }
  return all
}

describe(`seed ${SEED}`, () => {
  it('has the counts of the figures, the same by every dimension, and the same as counted anew', async () => {
    await liveThrough(
      { seed: SEED, first: FIRST, days: DAYS, historyDays: 40, isFull: (day) => day > 1 },
      async (store) => {
        const now = new Date(FIRST + (DAYS - 1) * DAY_MS)
        await refreshDailyCounts(store, LAST_DAYS, now)
        const kept = await totals(store, LAST_DAYS)
        for (const figure of COUNTED_FIGURES)
          for (const dimension of DIMENSIONS)
            expect(kept[`${figure} ${dimension}`], `${figure} ${dimension}`).toEqual(
              kept[`${figure} pipeline_id`],
            )
        const last = LAST_DAYS.at(-1) as Period
        for (const figure of ['new_leads', 'won', 'lost'] as const) {
          const scope = { ...last, filter: EVERY_LEAD, stalledDays: 3 }
          const [row] = await readFigure(store.db, figure, scope)
          expect(kept[`${figure} pipeline_id`]?.[`${localDates(last)} `] ?? 0, figure).toBe(row?.value)
        }
        await sql`DELETE FROM daily_count_span`.execute(store.db)
        await refreshDailyCounts(store, LAST_DAYS, now)
        expect(await totals(store, LAST_DAYS)).toEqual(kept)
      },
      (store, now) => refreshDailyCounts(store, daysTo(now), now),
    )
  })
})

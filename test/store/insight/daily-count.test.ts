// @both-stores
/** The counts by day, refreshed each evening, are those of the figures, and the same when counted anew. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { COUNTED_FIGURES } from '../../../src/domain/insight.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readFigure } from '../../../src/store/figures/query.ts'
import { DIMENSIONS, readDailyCounts, refreshDailyCounts } from '../../../src/store/insight/daily-count.ts'
import { countCases, pick, random, SEED_OF_TODAY } from '../../support/random.ts'
import { deleteLeads, lead, openEmptyStore, STAGES, save, saveEndedRun } from '../../support/store.ts'

const ZONE = 'Europe/Berlin'
const START = Date.parse('2026-11-01T00:00:00Z')
const day = (days: number): string => new Date(START + Math.round(days * 86_400_000)).toISOString()
const LEADS = countCases(40, 400)
const EVENINGS = [10, 15, 16.3, 17]

const daysTo = (days: number) =>
  daysUpTo(day(days), Math.floor(days), ZONE).map((each) => ({ ...each, date: localDates(each) }))

/** Returns the counts of each figure by day and currency, by each dimension. */
async function totals(store: Store): Promise<Record<string, Record<string, number>>> {
  const all: Record<string, Record<string, number>> = {}
  for (const figure of COUNTED_FIGURES)
    for (const dimension of DIMENSIONS) {
      const rows = await readDailyCounts(store.db, { timeZone: ZONE, figure, dimension }, '', '9')
      const byDay = Map.groupBy(rows, ({ day, currency }) => `${day} ${currency}`)
      const sums = [...byDay].map(([key, each]) => [key, each.reduce((sum, { value }) => sum + value, 0)])
      all[`${figure} ${dimension}`] = Object.fromEntries(sums)
    }
  return all
}

it(`the counts of days are those of the figures by every dimension, and as counted anew (SEED=${SEED_OF_TODAY})`, async () => {
  const next = random(SEED_OF_TODAY)
  await using store = await openEmptyStore()
  for (const evening of EVENINGS) {
    const leads = Array.from({ length: LEADS }, (_, number) => {
      const at = day(evening - 6 * next())
      return lead(`${number}`, {
        status: pick(next, STAGES).status,
        statusChangedAt: at,
        updatedAt: at,
        createdAt: day((19 * number) / LEADS - 2),
        pipelineId: pick(next, ['p1', 'p2']),
        companyCountry: pick(next, ['DE', null]),
        source: pick(next, ['form', 'crawl', null]),
        agentId: pick(next, ['a', null]),
        valueAmount: Math.floor(next() * 100),
        valueCurrency: pick(next, ['EUR', 'USD']),
      })
    })
    const arriving = leads.filter(() => next() < 0.7)
    await save(store, arriving, day(evening))
    await saveEndedRun(store, day(evening))
    const gone = arriving.filter(() => next() < 0.5).map(({ id }) => id)
    await deleteLeads(store, gone, day(evening))
    await refreshDailyCounts(store, daysTo(evening), new Date(day(evening)))
  }
  const kept = await totals(store)
  for (const figure of COUNTED_FIGURES)
    for (const dimension of DIMENSIONS)
      expect(kept[`${figure} ${dimension}`], dimension).toEqual(kept[`${figure} pipeline_id`])
  for (const { from, to, date } of daysTo(17).slice(-1))
    for (const figure of ['new_leads', 'won', 'lost'] as const) {
      const [row] = await readFigure(store.db, figure, { from, to, filter: EVERY_LEAD, stalledDays: 3 })
      expect(kept[`${figure} pipeline_id`]?.[`${date} `] ?? 0, `${figure} ${date}`).toBe(row?.value)
    }
  // All days are counted anew in another month.
  await sql`DELETE FROM daily_count`.execute(store.db)
  await refreshDailyCounts(store, daysTo(17), new Date(day(31)))
  expect(await totals(store)).toEqual(kept)
})

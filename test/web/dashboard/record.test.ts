/** The page of the record shows what the test of past days finds, and charts of the last days. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import { readBacktest } from '../../../src/jobs/reports/read-backtest.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { dailyNumbers } from '../../support/reports/daily-numbers.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'
import {
  countNow,
  LOOKED_AT,
  openCountedPages,
  READ_AT,
  textOf,
  ZONE,
} from '../../support/web/counted-pages.ts'

/** New leads of two pipelines for so many days; on the last days there are three times as many. */
async function storeOf(days: number): Promise<Store> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  const times = (day: number) => (day >= days - 3 ? 3 : 1)
  const counts = dailyNumbers({ mean: 8, days, seed: 5, times })
  const leads = daysUpTo(READ_AT, days, ZONE).flatMap((day, index) =>
    Array.from({ length: counts[index] ?? 0 }, (_, each): Lead => {
      const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
      const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
      return lead(`${localDates(day)} ${each}`, { pipelineId: each % 2 === 0 ? 'p1' : 'p2', ...times })
    }),
  )
  await save(store, leads)
  await saveWholeRun(store, READ_AT)
  return store
}

async function readRecord(store: Store): Promise<string> {
  const url = await openCountedPages(store, await countNow(store))
  return (await fetch(`${url}/record`)).text()
}

describe('the page of the record', () => {
  it('has the shares that held and the claims a year, and a chart of each number with its unusual days', async () => {
    const store = await storeOf(120)
    const request = { asOf: READ_AT, timeZone: ZONE, pipelineIds: null }
    const { ranges, reports, lastDays, from, to } = await readBacktest(store, request, LOOKED_AT)
    const html = await readRecord(store)
    const text = textOf(html)
    expect(text).toContain(`from ${from} to ${to}.`)
    const [all] = ranges
    const held = (part = 0) => `${((100 * part) / (all?.judged ?? 1)).toFixed(1)}%`
    expect(text).toContain(`New leads, all day ${all?.judged} ${held(all?.held95)} ${held(all?.held80)}`)
    expect(text).toContain(`unusual on ${reports[0]?.withClaims} of ${reports[0]?.judged} days`)
    expect(text).toContain('New leads, all month 0 – – – not yet')
    const unusual = lastDays[0]?.filter(({ isUnusual }) => isUnusual) ?? []
    expect(unusual.length).toBeGreaterThan(0)
    for (const { date, value } of unusual) expect(html).toContain(`${value} on ${date}`)
    expect(html.match(/<svg class="record-chart"/g)).toHaveLength(
      ranges.filter(({ scale }) => scale === 'day').length,
    )
  })

  it('says that no days have been counted yet', async () => {
    expect(textOf(await readRecord(await storeOf(20)))).toContain('No days have been counted yet.')
  })
})

/** The record page shows the results of the backtest, and charts of the last days. */
import { describe, expect, it } from 'vitest'
import { readBacktest } from '../../../src/jobs/insight/read-backtest.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { lead, save } from '../../support/store.ts'
import {
  countNow,
  LOOKED_AT,
  openCountedPages,
  openDailyStore,
  READ_AT,
  textOf,
  ZONE,
} from '../../support/web/counted-pages.ts'

const REQUEST = {
  asOf: READ_AT,
  timeZone: ZONE,
  pipelineIds: null,
  holidays: [],
  weekStarts: 'monday' as const,
}

async function readRecord(store: Store): Promise<string> {
  const url = await openCountedPages(store, await countNow(store))
  return (await fetch(`${url}/record`)).text()
}

describe('the page of the record', () => {
  it('has the shares that held and the claims a year, and a chart of each number with its unusual days', async () => {
    const store = await openDailyStore(120)
    const { ranges, reports, lastDays, from, to, winRates } = await readBacktest(store, REQUEST, LOOKED_AT)
    const html = await readRecord(store)
    const text = textOf(html)
    expect(text).toContain(`from ${from} to ${to}.`)
    const [all] = ranges
    const hits = (part = 0) => `${((100 * part) / (all?.judged ?? 1)).toFixed(1)}%`
    expect(text).toContain(`New leads, all day ${all?.judged} ${hits(all?.hits95)} ${hits(all?.hits80)}`)
    expect(text).toContain(`unusual on ${reports[0]?.withClaims} of ${reports[0]?.judged} days`)
    expect(text).toContain('New leads, all month 0 – – – not yet')
    expect(winRates).toEqual([])
    expect(text).not.toContain('Win rate')
    const unusual = lastDays[0]?.filter(({ isUnusual }) => isUnusual) ?? []
    expect(unusual.length).toBeGreaterThan(0)
    for (const { date, value } of unusual) expect(html).toContain(`${value} on ${date}`)
    expect(html.match(/<svg class="record-chart"/g)).toHaveLength(
      ranges.filter(({ scale }) => scale === 'day').length,
    )
  })

  it('has the windows of the win rate that were judged, or how many are known', async () => {
    const store = await openDailyStore(20)
    const decide = async (from: number, to: number) => {
      const days = Array.from({ length: to - from }, (_, day) =>
        new Date(LOOKED_AT.getTime() - (from + day + 1) * 86_400_000).toISOString(),
      )
      const leads = days.flatMap((at) =>
        ['won', 'lost', 'lost'].map((status, each) =>
          lead(`${at} ${each}`, { status, createdAt: at, updatedAt: at, statusChangedAt: at }),
        ),
      )
      await save(store, leads)
      await readBacktest(store, REQUEST, LOOKED_AT)
    }
    await decide(0, 100)
    expect(textOf(await readRecord(store))).toContain('Win rate, all 30 days 0 – – – not yet 3 of 8')
    await decide(100, 300)
    const text = textOf(await readRecord(store))
    expect(text).toContain('Win rate, all 30 days 2 100.0% 100.0% 0.0 printed')
  })

  it('has the ranges that reports published, beside those that were tested', async () => {
    const store = await openDailyStore(120)
    await readBacktest(store, REQUEST, LOOKED_AT)
    expect(textOf(await readRecord(store))).not.toContain('As published')
    const published = { before: '2026-11-20', timeZone: ZONE }
    await publishRanges(store, published, { kind: 'day', figure: 'new_leads', hits: 50, of: 64 })
    await publishRanges(store, published, {
      kind: '30_days',
      figure: 'win_rate',
      hits: 3,
      of: 3,
      pipelines: '["p1"]',
    })
    await publishRanges(store, published, { kind: 'month_end', figure: 'lost', hits: 2, of: 3 })
    const text = textOf(await readRecord(store))
    expect(text).toContain('New leads, all day 64 50 78.1% 95% withheld')
    expect(text).toContain('Win rate, p1 30 days 3 3 100.0% 95% as above')
    expect(text).toContain('Lost, all month end 3 2 66.7% 80% as above')
    expect(text).toMatch(/New leads, all day [\d .%]+ withheld New leads, p1 day [\d .%]+ printed/)
  })

  it('has how often the thresholds of lost and urgent leads came true', async () => {
    const store = await openDailyStore(120)
    await readBacktest(store, REQUEST, LOOKED_AT)
    expect(textOf(await readRecord(store))).not.toContain('Lost and urgent')
    const row = { days: 5, winners: 100, longer: 5 }
    const dates = Array.from({ length: 16 }, (_, index) => `2026-0${1 + (index % 8)}-${11 + index}`)
    const tests = dates.flatMap((tested_from, index) => [
      { ...row, status: '', tested_from, longer: 1 },
      { ...row, status: 'offer', tested_from, longer: index < 4 ? 5 : 50 },
    ])
    await store.write((trx) => trx.insertInto('stall_test').values(tests).execute())
    await store.write((trx) => trx.updateTable('stall_threshold').set({ days: 9 }).execute())
    const text = textOf(await readRecord(store))
    expect(text).toContain('Age of lost leads 1% 16 100.0% printed')
    expect(text).toContain('offer 5% 16 25.0% withheld')
  })

  it('says that no days have been counted yet', async () => {
    expect(textOf(await readRecord(await openDailyStore(20)))).toContain('No days have been counted yet.')
  })
})

/** The record page shows how often the ranges of sent reports held. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { countDays, openCountedPages, openDailyStore, textOf, ZONE } from '../../support/web/counted-pages.ts'

async function readRecord(store: Store): Promise<string> {
  const url = await openCountedPages(store)
  return (await fetch(`${url}/record`)).text()
}

describe('the page of the record', () => {
  it('has the ranges that reports published', async () => {
    const store = await openDailyStore(120)
    await countDays(store)
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
    expect(text).toContain('Win rate, p1 30 days 3 3 100.0% 95% printed')
    expect(text).toContain('Lost, all month end 3 2 66.7% 80% printed')
  })

  it('says that no range of a report has been tested yet', async () => {
    expect(textOf(await readRecord(await openDailyStore(20)))).toContain('No report has printed a range')
  })
})

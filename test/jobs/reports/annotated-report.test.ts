// @both-stores
/** The reports of an annotated day and of the days after it, from the leads to the page. */
import { expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { daysUpTo, localDates } from '../../../src/domain/period.ts'
import { annotate } from '../../../src/jobs/annotations.ts'
import { createContents } from '../../../src/jobs/reports/report-content.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { DAILY, makeDue, reportDeps } from '../../support/mail/reports.ts'
import { dailyNumbers } from '../../support/reports/daily-numbers.ts'
import { lead, openFilledStore, save, saveWholeRun } from '../../support/store.ts'

const ZONE = 'Europe/Berlin'
const DAYS = 120
const CAMPAIGN = '2026-11-13'
const REPORT: Report = { ...DAILY, title: null, timeZone: ZONE }

/** Renders the report of a morning. On the day of the campaign, there were three times the normal leads. */
async function reportOn(morning: string, locale = 'en-GB', isAnnotated = true) {
  const now = new Date(`${morning}T06:00:00Z`)
  await using store = await openFilledStore(`with a campaign, up to ${morning}`, (empty) =>
    saveDays(empty, now),
  )
  const given = { days: CAMPAIGN, text: 'campaign', pipelineId: null, isLeftOut: true, writtenBy: 'test' }
  if (isAnnotated) await annotate(store, given, now)
  const deps = reportDeps(store, () => now)
  const { issue } = await makeDue(deps, REPORT)
  return await createContents(deps, REPORT, issue)({ ...REPORT, locale }, null)
}

async function saveDays(store: Store, now: Date): Promise<void> {
  const days = daysUpTo(now.toISOString(), DAYS, ZONE)
  const counts = dailyNumbers({ mean: 40, days: DAYS, seed: 5 })
  const leads = days.flatMap((day, index) => {
    const count = (counts[index] ?? 0) * (localDates(day) === CAMPAIGN ? 3 : 1)
    return Array.from({ length: count }, (_, each): Lead => {
      const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
      const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
      return lead(`${localDates(day)} ${each}`, { pipelineId: each % 2 === 0 ? 'p1' : 'p2', ...times })
    })
  })
  await save(store, leads)
  await saveWholeRun(store, now.toISOString())
}

it('a day with three times the normal leads is called unusual without an annotation, and with one the report says what is known', async () => {
  const plain = await reportOn('2026-11-14', 'en-GB', false)
  expect(plain.text).toMatch(/^\d+ new leads, more than the normal \d/m)
  const { html, text, subject } = await reportOn('2026-11-14')
  expect([html, text, subject].join()).not.toMatch(/than the normal|A normal Friday|\d new[^.]*\(normal/)
  for (const page of [html, text]) {
    // The annotation stands in the headline and in the legend of the chart.
    expect(page.match(/13 Nov: campaign/g)?.length).toBeGreaterThanOrEqual(2)
    expect(page).toContain('Marked: A')
  }
  const german = await reportOn('2026-11-14', 'de-DE')
  expect(german.html).toContain('13. Nov.: campaign')
  expect(german.html).toContain('Markiert: A')
})

// @both-stores
/** Reports that are sent store their ranges, print how many held, and withhold a claim that stopped being true. */
import { expect, it } from 'vitest'
import type { LeadFilter } from '../../../src/domain/figures.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { readIssue } from '../../../src/store/reports/issue.ts'
import { DAILY, enqueueDue, makeDue, recipient, reportDeps } from '../../support/mail/reports.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { openDailyStore, READ_AT, ZONE } from '../../support/web/counted-pages.ts'

const OF_DAY: Report = { ...DAILY, timeZone: ZONE }
const NOW = new Date(READ_AT)
const DAY_MS = 86_400_000
const P1: LeadFilter = { pipelineIds: ['p1'], conditions: [] }
const ana = recipient('ana@example.com')

const listPublished = (store: Store) =>
  store.db.selectFrom('published_range').selectAll().orderBy('figure').orderBy('pipelines').execute()

const publish = (store: Store, range: Parameters<typeof publishRanges>[2]) =>
  publishRanges(store, { before: '2026-11-20', timeZone: ZONE }, range)

async function openWorld() {
  const store = await openDailyStore(120)
  const deps = reportDeps(store, () => NOW)
  return { store, deps }
}

it('a report stores its ranges when it is sent, once, and not when it is only made, not worth a mail, or lacks data of its period', async () => {
  const { store, deps } = await openWorld()
  await makeDue(deps, OF_DAY)
  await enqueueDue(deps, [ana], { ...OF_DAY, name: 'alarm', sendWhen: { if_threshold: 'won > 99' } })
  const later = reportDeps(store, () => new Date(NOW.getTime() + 2 * DAY_MS))
  const [uncovered] = await enqueueDue(later, [ana], OF_DAY)
  expect((await readIssue(store.db, uncovered?.issue.id ?? ''))?.figures.freshness.coversPeriod).toBe(false)
  expect(await listPublished(store)).toEqual([])
  const [enqueued] = await enqueueDue(deps, [ana], OF_DAY)
  const published = await listPublished(store)
  const insight = (await readIssue(store.db, enqueued?.issue.id ?? ''))?.figures.insight
  expect(published.map(({ kind }) => kind)).toEqual(['day', 'month_end', 'day', 'day'])
  const ofDay = published.filter(({ kind }) => kind === 'day')
  const judged = insight?.expectations.filter(({ figure }) => figure === 'new_leads') ?? []
  const day = '2026-11-20'
  const days = { time_zone: ZONE, time_window: day, as_of_day: day, first_day: day, last_day: day }
  expect(ofDay).toEqual(
    ['', '["p1"]', '["p2"]'].map((pipelines, index) => {
      const { actual, range, figure } = judged[index] ?? {}
      return { ...days, kind: 'day', figure, pipelines, actual, ...range, issue_id: enqueued?.issue.id }
    }),
  )
  await enqueueDue(deps, [ana, recipient('ben@example.com')], OF_DAY)
  await enqueueDue(deps, [recipient('cleo@example.com', { filter: P1 })], { ...OF_DAY, name: 'other' })
  expect((await listPublished(store)).filter(({ kind }) => kind === 'day')).toEqual(ofDay)
})

it('a claim whose published ranges held too rarely is withheld in reports', async () => {
  const { store, deps } = await openWorld()
  const read = async () => {
    const issue = await makeDue(deps, OF_DAY)
    return {
      judgements: issue.issue.figures.insight?.expectations.slice(0, 4).map(({ judgement }) => judgement),
      range: issue.issue.figures.insight?.expectations[0]?.range,
    }
  }
  const before = await read()
  // Eleven ranges say nothing.
  await publish(store, { kind: 'day', figure: 'new_leads', hits: 4, of: 11 })
  expect((await read()).judgements).toEqual(before.judgements)
  await publish(store, { kind: 'week', figure: 'new_leads', hits: 0, of: 70 })
  expect((await read()).judgements).toEqual(before.judgements)
  await store.write((trx) => trx.deleteFrom('published_range').execute())
  await publish(store, { kind: 'day', figure: 'new_leads', hits: 8, of: 12 })
  const after = await read()
  expect(after.range).toBeNull()
  // The pipelines moved as the whole did, so they are named only if the whole is not.
  expect(after.judgements).toEqual(['withheld', 'learning', 'high', 'high'])
  await store.write((trx) => trx.deleteFrom('published_range').execute())
  await publish(store, { kind: 'day', figure: 'new_leads', hits: 54, of: 60, pipelines: '["p2"]' })
  expect((await read()).judgements).toEqual(before.judgements)
})

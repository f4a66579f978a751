// @both-stores
/** Compares every number of a report over a service's days with a plain count over all rows of the store. */
import { describe, expect, it } from 'vitest'
import type { LeadFilter, PeriodKind, ReportFigures } from '../../../src/domain/figures.ts'
import type { Period } from '../../../src/domain/model.ts'
import { daysBefore, daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import type { Db, Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type ReportRequest, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { loadPast, type Past, type PastLead, sumOf } from '../../support/data/past.ts'
import { liveThrough } from '../../support/source/living-service.ts'
import { openPreparedStore } from '../../support/store.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const DAY_MS = 86_400_000
const FIRST = Date.parse('2026-11-17T06:00:00Z')
const DAYS = 5
const LAST = new Date(FIRST + (DAYS - 1) * DAY_MS)
const ZONE = 'Europe/Berlin'

/** Uses a store of several days. A last full sync finds some leads gone. */
async function withDays(use: (store: Store) => Promise<void>): Promise<void> {
  const life = { seed: SEED, first: FIRST, days: DAYS, historyDays: 40 }
  await using store = await openPreparedStore(`days of ${SEED}`, (place) => liveThrough(place, life))
  await use(store)
}

function requestOf(
  kind: PeriodKind,
  filter: LeadFilter,
  change: Partial<ReportRequest> = {},
  at = LAST,
): ReportRequest {
  const period = periodOf(kind, at, ZONE, { holidays: [], lastEnd: null })
  return {
    kind,
    period,
    prior: priorOf(kind, period),
    filter,
    stalledDays: 3,
    topScore: 60,
    rowsMax: 1000,
    since: null,
    trendDays: daysUpTo(period.to, 96, ZONE),
    ...change,
  }
}

/** The leads of a filter as plain rows, for comparison. */
interface Plain {
  readonly past: Past
  at(instant: string): PastLead[]
}

async function plainOf(db: Db, isChosen: (lead: PastLead) => boolean): Promise<Plain> {
  const past = await loadPast(db)
  return { past, at: (instant) => past.at(instant).filter(isChosen) }
}

const created = (leads: readonly PastLead[], { from, to }: Period): PastLead[] =>
  leads.filter((lead) => lead.createdAt >= from && lead.createdAt < to)

const closed = (leads: readonly PastLead[], outcome: string, { from }: Pick<Period, 'from'>): PastLead[] =>
  leads.filter((lead) => lead.outcome === outcome && lead.since >= from)

const open = (leads: readonly PastLead[]): PastLead[] => leads.filter((lead) => lead.outcome === 'open')

/** The 30 local days that end with the period, which ends at midnight. */
const recent = ({ to, timeZone }: Period) => daysBefore(new Date(to), 30, timeZone)

function winRate(leads: readonly PastLead[], period: Period) {
  const part = closed(leads, 'won', recent(period)).length
  return { part, whole: part + closed(leads, 'lost', recent(period)).length }
}

function expectTotals(figures: ReportFigures, plain: Plain): void {
  const { period, prior } = figures
  const [now, before] = [plain.at(period.to), plain.at(prior.to)]
  const compared = <T>(of: (leads: readonly PastLead[], period: Period) => T) => ({
    current: of(now, period),
    prior: of(before, prior),
  })
  expect(figures.leads).toBe(now.length)
  expect(figures.newLeads).toEqual(compared((leads, span) => created(leads, span).length))
  expect(figures.won).toEqual(compared((leads, span) => closed(leads, 'won', span).length))
  expect(figures.lost).toEqual(compared((leads, span) => closed(leads, 'lost', span).length))
  expect(figures.wonValue).toEqual(
    compared((leads, span) => sumOf(closed(leads, 'won', span).map((lead) => lead.value))),
  )
  expect(figures.winRate).toEqual(compared(winRate))
  expect(figures.openValue).toEqual(compared((leads) => sumOf(open(leads).map((lead) => lead.value))))
}

function expectSeries(figures: ReportFigures, request: ReportRequest, plain: Plain): void {
  const start = plain.past
    .at('~')
    .map((lead) => lead.createdAt)
    .reduce((a, b) => (a < b ? a : b), '~')
  const each = <T>(spans: readonly Period[], of: (leads: readonly PastLead[], span: Period) => T) =>
    spans.map((span) => (start < span.to ? of(plain.at(span.to), span) : null))
  const { trendDays } = request
  const newOf = (leads: readonly PastLead[], span: Period) => created(leads, span).length
  expect(figures.trend.map((day) => day.newLeads)).toEqual(each(trendDays, newOf))
  const lastNoon = new Date(Date.parse(figures.period.to) - DAY_MS / 2).toISOString()
  expect(figures.trend.at(-1)?.day).toBe(lastNoon.slice(0, '2026-11-20'.length))
}

function expectLists(figures: ReportFigures, request: ReportRequest, plain: Plain): void {
  const leads = plain.at(figures.period.to)
  const top = created(leads, figures.period).filter((lead) => (lead.score ?? -1) >= request.topScore)
  expect(figures.topLeads.total).toBe(top.length)
  expect(figures.topLeads.rows.map((row) => row.id).toSorted()).toEqual(top.map((lead) => lead.id).toSorted())
  const scores = figures.topLeads.rows.map((row) => row.score ?? -1)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))

  const limit = new Date(Date.parse(figures.period.to) - request.stalledDays * DAY_MS).toISOString()
  const stalled = open(leads).filter((lead) => lead.isKnown && lead.changedAt <= limit)
  expect(figures.stalled.total).toBe(stalled.length)
  const byId = new Map(stalled.map((lead) => [lead.id, lead]))
  expect(figures.stalled.rows).toHaveLength(Math.min(stalled.length, request.rowsMax))
  for (const row of figures.stalled.rows) {
    const lead = byId.get(row.id)
    expect(lead).toMatchObject({ changedAt: row.changedAt, score: row.score, value: row.value })
    // The status at that time counts, not a later one.
    if (lead?.activityStatus) expect(row.status, row.id).toBe(lead.activityStatus)
    expect(row.idleDays).toBe(
      Math.floor((Date.parse(figures.period.to) - Date.parse(row.changedAt)) / DAY_MS),
    )
  }
  const changes = figures.stalled.rows.map((row) => row.changedAt)
  expect(changes).toEqual(changes.toSorted())
}

function expectGroups(figures: ReportFigures, plain: Plain): void {
  const { period, byPipeline, bySource } = figures
  const now = plain.at(period.to)
  for (const line of byPipeline) {
    const leads = now.filter((lead) => lead.pipelineId === line.id)
    expect(line).toMatchObject(groupOf(leads, period))
    expect(line.leads).toBe(leads.length)
    expect(line.openValue).toEqual(sumOf(open(leads).map((lead) => lead.value)))
  }
  for (const line of bySource) {
    const leads = now.filter((lead) => lead.source === line.source)
    expect(line).toMatchObject(groupOf(leads, period))
  }
  const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)
  expect(sum(byPipeline.map((line) => line.leads))).toBe(figures.leads)
  expect(sum(byPipeline.map((line) => line.stalled))).toBe(figures.stalled.total)
  for (const lines of [byPipeline, bySource]) {
    expect(sum(lines.map((line) => line.newLeads))).toBe(figures.newLeads.current)
    expect(sum(lines.map((line) => line.won))).toBe(figures.won.current)
    expect(sum(lines.map((line) => line.winRate.whole))).toBe(figures.winRate.current.whole)
  }
}

function groupOf(leads: PastLead[], period: Period) {
  return {
    newLeads: created(leads, period).length,
    won: closed(leads, 'won', period).length,
    winRate: winRate(leads, period),
  }
}

describe(`the figures of reports over days of a service (SEED=${SEED})`, () => {
  it('know nothing of days after the last reading, rather than that they were empty', async () => {
    await withDays(async ({ db }) => {
      const later = new Date(LAST.getTime() + 3 * DAY_MS)
      const { trend } = await readReportFigures(db, requestOf('day', EVERY_LEAD, {}, later))
      expect(trend.slice(-3).map(({ newLeads }) => newLeads)).toEqual([null, null, null])
      expect(trend.at(-4)?.newLeads).not.toBeNull()
    })
  })

  it('are what a plain count gives, for every kind of period and every filter', async () => {
    await withDays(async ({ db }) => {
      const pipelines = await db.selectFrom('pipeline').select('id').orderBy('id').execute()
      const some = pipelines.slice(0, 2).map(({ id }) => id)
      const countries = await db
        .selectFrom('lead')
        .select('company_country as name')
        .groupBy('company_country')
        .orderBy((eb) => eb.fn.countAll(), 'desc')
        .orderBy('company_country')
        .execute()
      const few = countries.flatMap(({ name }, index) => (name === null || index % 3 > 0 ? [] : [name]))
      const cases: [PeriodKind, LeadFilter, (lead: PastLead) => boolean][] = [
        ['day', EVERY_LEAD, () => true],
        ['week', EVERY_LEAD, () => true],
        ['month', EVERY_LEAD, () => true],
        ['day', { pipelineIds: some, conditions: [] }, (lead) => some.includes(lead.pipelineId)],
        [
          'working_day',
          { pipelineIds: null, conditions: [{ field: 'company_country', in: few }] },
          (lead) => lead.country !== null && few.includes(lead.country),
        ],
        [
          'week',
          { pipelineIds: some, conditions: [{ field: 'company_country', in: few }] },
          (lead) => some.includes(lead.pipelineId) && lead.country !== null && few.includes(lead.country),
        ],
      ]
      for (const [kind, filter, isChosen] of cases) {
        const request = requestOf(kind, filter)
        const figures = await readReportFigures(db, request)
        const plain = await plainOf(db, isChosen)
        expectTotals(figures, plain)
        expectSeries(figures, request, plain)
        expectLists(figures, request, plain)
        expectGroups(figures, plain)
        expect(figures.newLeads.current).toBeGreaterThan(0)
      }
    })
  })
})

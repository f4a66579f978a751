// @both-stores
/** Random pasts: each figure and each section of a report equal a plain count of one lead after another. */
import { expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Lead, Period } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { COVERAGES } from '../../../src/store/figures/coverage.ts'
import type { CoverageName, FigureName } from '../../../src/store/figures/definition.ts'
import { REACHED } from '../../../src/store/figures/funnel.ts'
import { type FigureScope, readFigure, readRows } from '../../../src/store/figures/query.ts'
import { type ReportRequest, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { saveLeads } from '../../../src/store/leads/lead.ts'
import { loadPast, type Past, type PastLead, sumOf } from '../../support/data/past.ts'
import { changeLead, DAY_MS, day, saveLate } from '../../support/data/random-past.ts'
import { countCases, pick, random } from '../../support/random.ts'
import { requestOf } from '../../support/reports/request.ts'
import {
  deleteLeads,
  IN_POSTGRES,
  lead,
  observedAt,
  openEmptyStore,
  STAGES,
  save,
  saveActivity,
  saveEndedRun,
} from '../../support/store.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const DAYS = 40
const LEADS = 40
const PERIODS = countCases(IN_POSTGRES ? 8 : 30, 100)
const REPORTS = 6
const ZONE = 'Europe/Berlin'

type Next = () => number

const hasActivity = (id: string): boolean => Number(id) % 2 === 0

/**
 * Plays the days: some leads change, a few go or come back, and everything new is read in the evening. Leads with even
 * numbers have an activity, which agrees with their states. Others turn out to be older, or are set back to an earlier record.
 */
async function liveThrough(store: Store, next: Next): Promise<void> {
  const leads = new Map<string, Lead>()
  const past: Lead[] = []
  const gone = new Set<string>()
  const activity = new Map<string, Parameters<typeof saveActivity>[2]>()
  for (let today = 0; today < DAYS; today++) {
    const evening = day(today + 1)
    const changed = new Set<string>()
    for (let number = 0; number < LEADS; number++) {
      const id = `${number}`
      const tell = (entry: Parameters<typeof saveActivity>[2][number]) =>
        activity.set(id, [...(activity.get(id) ?? []), entry])
      if (next() < 0.1) tell({ id: `note of ${today}`, at: day(today + next()) })
      if (next() > 0.15) continue
      const before = leads.get(id)
      const change = changeLead(next, id, before, today)
      const daysEarlier = hasActivity(id) || next() < 0.9 ? 0 : next()
      const createdAt = daysBefore(change.createdAt ?? '', daysEarlier)
      const now = lead(id, { ...change, createdAt })
      leads.set(id, now)
      changed.add(id)
      const move = { fromStatus: before?.status ?? null, toStatus: now.status }
      if (move.fromStatus !== move.toStatus) tell({ id: `${today}`, at: now.updatedAt ?? '', ...move })
    }
    const read = [...leads.values()].filter(({ id }) => changed.has(id))
    // A few leads are set back to an earlier record by a full scan.
    const back = past.filter(({ id }) => next() < 0.02 && !changed.has(id) && !hasActivity(id))
    const setBack = [...new Map(back.map((each) => [each.id, each])).values()]
    for (const each of setBack) leads.set(each.id, each)
    await store.write((trx) => saveLeads(trx, setBack, observedAt(evening), 'list'))
    await save(store, read, evening)
    past.push(...read)
    for (const { id } of [...read, ...setBack]) gone.delete(id)
    const known = [...new Set(past.map(({ id }) => id))]
    // The activity of only some leads is read, which may tell of moves long ago.
    for (const id of known.filter((id) => hasActivity(id) && next() < 0.2))
      await saveActivity(store, id, activity.get(id) ?? [], evening)
    const going = known.filter((id) => !gone.has(id) && next() < 0.02)
    for (const id of going) gone.add(id)
    await deleteLeads(store, going, evening)
  }
  await saveEndedRun(store, day(DAYS))
  await saveLate(store, DAYS)
}

function randomFilter(next: Next): FigureScope['filter'] {
  return {
    pipelineIds: pick(next, [null, ['p2'], ['p1', 'p2']]),
    conditions: pick(next, [
      [],
      [{ field: 'score', min: 40, max: null }],
      [{ field: 'status', in: ['new', 'won'] }],
      [{ field: 'company_country', in: ['DE'] }],
    ]),
  }
}

/** The leads that a report or a figure is about, as plain rows. */
interface Plain {
  readonly past: Past
  isIn(lead: Pick<PastLead, 'id' | 'pipelineId'>): boolean
  at(instant: string): PastLead[]
}

async function plainOf({ db }: Store, past: Past, scope: FigureScope): Promise<Plain> {
  const chosen = await readRows<{ lead_id: string }>(
    { db, tempTables: new Map() },
    scope.filter.conditions.length > 0
      ? { reads: ['chosen'], sql: 'SELECT lead_id FROM chosen' }
      : { reads: [], sql: 'SELECT id AS lead_id FROM lead' },
    scope,
  )
  const ids = new Set(chosen.map((row) => row.lead_id))
  const isIn: Plain['isIn'] = ({ id, pipelineId }) =>
    ids.has(id) && (scope.filter.pipelineIds?.includes(pipelineId) ?? true)
  return { past, isIn, at: (instant) => past.at(instant).filter(isIn) }
}

type Span = Pick<Period, 'from' | 'to'>

const daysBefore = (at: string, days: number) => new Date(Date.parse(at) - days * DAY_MS).toISOString()
const createdIn = (leads: readonly PastLead[], { from, to }: Span) =>
  leads.filter((lead) => lead.createdAt >= from && lead.createdAt < to)
const openOf = (leads: readonly PastLead[]) => leads.filter((lead) => lead.outcome === 'open')
const worth = (leads: readonly PastLead[]) => sumOf(leads.map((lead) => lead.value))

/** Counts leads, as they were at the end of a span, one after another. */
function countPlain(there: readonly PastLead[], { from, to }: Span) {
  const closed = (outcome: string, since = from) =>
    there.filter((lead) => lead.outcome === outcome && lead.since >= since)
  const recent = (outcome: string) => closed(outcome, daysBefore(to, 30)).length
  return {
    leads: there.length,
    newLeads: createdIn(there, { from, to }).length,
    won: closed('won').length,
    lost: closed('lost').length,
    disqualified: closed('disqualified').length,
    wonValue: worth(closed('won')),
    winRate: { part: recent('won'), whole: recent('won') + recent('lost') },
    openValue: worth(openOf(there)),
    closed,
  }
}

const stalledOf = (leads: readonly PastLead[], to: string, days: number) =>
  openOf(leads).filter((lead) => lead.isKnown && lead.changedAt <= daysBefore(to, days))

/** The figures and coverages of a scope. */
function plainFigures({ past, isIn, at }: Plain, { from, to, stalledDays }: FigureScope) {
  const [there, before] = [at(to), at(from)]
  const { closed, ...counts } = countPlain(there, { from, to })
  const created = createdIn(there, { from, to })
  const open = openOf(there)
  const stalledSince = daysBefore(to, stalledDays)
  const money = (values: ReturnType<typeof worth>) =>
    values.map(({ amount, currency }) => ({ of: currency, value: amount, part: null, whole: null }))
  const number = (value: number) => [{ of: null, value, part: null, whole: null }]
  const share = ({ part, whole }: { part: number; whole: number }) => [
    { of: null, value: whole === 0 ? null : part / whole, part, whole },
  ]
  const covered = (leads: readonly PastLead[], isKnown: (lead: PastLead) => boolean) => [
    { known: leads.filter(isKnown).length, of: leads.length },
  ]
  const figures: Partial<Record<FigureName, unknown>> = {
    leads: number(counts.leads),
    new_leads: number(counts.newLeads),
    won: number(counts.won),
    lost: number(counts.lost),
    disqualified: number(counts.disqualified),
    won_value: money(counts.wonValue),
    win_rate: share(counts.winRate),
    period_conversion: share({ part: counts.won, whole: created.length }),
    cohort_conversion: share({
      part: created.filter(({ outcome }) => outcome === 'won').length,
      whole: created.length,
    }),
    open: number(open.length),
    open_value: money(counts.openValue),
    stalled: number(stalledOf(there, to, stalledDays).length),
  }
  const isLate = ({ createdAt, firstAt, isTraced }: Pick<PastLead, 'createdAt' | 'firstAt' | 'isTraced'>) =>
    Date.parse(firstAt) - Date.parse(createdAt) > 60_000 && !isTraced
  const unknown =
    before.filter((lead) => lead.status === null && isLate(lead)).length +
    past.leads.filter((lead) => isIn(lead) && isLate(lead) && lead.createdAt >= from && lead.createdAt < to)
      .length
  const of = before.length + created.length
  const coverages: Record<CoverageName, unknown> = {
    period: [{ known: Math.max(0, of - unknown), of }],
    end: covered(there, ({ status, ...lead }) => status !== null || !isLate(lead)),
    cohort: covered(created, ({ status, isTraced }) => status !== null || isTraced),
    life: covered(there, ({ reached }) => reached !== null),
    value: covered(open, ({ isKnown }) => isKnown),
    stalled: covered(open, ({ isKnown, createdAt }) => isKnown || createdAt > stalledSince),
    won_value: covered(closed('won'), ({ isKnown }) => isKnown),
  }
  const furthest = there.flatMap(({ reached }) => reached ?? [])
  const funnel = STAGES.filter(({ inFunnel }) => inFunnel && furthest.length > 0).map(
    ({ status, position }) => ({ status, reached: furthest.filter((each) => each >= position).length }),
  )
  return { figures, coverages, funnel }
}

function expectTotals(figures: ReportFigures, plain: Plain): void {
  const [now, before] = [figures.period, figures.prior].map((span) => countPlain(plain.at(span.to), span))
  expect(figures.leads).toBe(now?.leads)
  for (const name of ['newLeads', 'won', 'lost', 'wonValue', 'winRate', 'openValue'] as const)
    expect(figures[name], name).toEqual({ current: now?.[name], prior: before?.[name] })
}

function expectTrend(figures: ReportFigures, { trendDays }: ReportRequest, plain: Plain): void {
  const start = plain.past.leads.reduce(
    (first, { createdAt }) => (createdAt < first ? createdAt : first),
    '~',
  )
  expect(figures.trend.map((each) => each.newLeads)).toEqual(
    trendDays.map((span) => (start < span.to ? createdIn(plain.at(span.to), span).length : null)),
  )
  const lastNoon = daysBefore(figures.period.to, 0.5)
  expect(figures.trend.at(-1)?.day).toBe(lastNoon.slice(0, '2026-11-20'.length))
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Expects the best new leads, best first, and the stalled ones, the longest stalled first. */
function expectLists(figures: ReportFigures, { topScore, stalledDays }: ReportRequest, plain: Plain): void {
  const { period } = figures
  const leads = plain.at(period.to)
  // The status at that time counts, not a later one.
  const shown = ({ id, score, value, shownStatus }: PastLead) => ({ id, score, value, status: shownStatus })
  const top = createdIn(leads, period)
    .filter((lead) => (lead.score ?? -1) >= topScore)
    .sort(
      (a, b) => (b.score ?? 0) - (a.score ?? 0) || inOrder(a.createdAt, b.createdAt) || inOrder(a.id, b.id),
    )
  expect(figures.topLeads).toMatchObject({ total: top.length, rows: top.map(shown) })
  const stalled = stalledOf(leads, period.to, stalledDays)
    .sort((a, b) => inOrder(a.changedAt, b.changedAt) || inOrder(a.id, b.id))
    .map((lead) => {
      const idleDays = Math.floor((Date.parse(period.to) - Date.parse(lead.changedAt)) / DAY_MS)
      return { ...shown(lead), changedAt: lead.changedAt, idleDays }
    })
  expect(figures.stalled).toMatchObject({ total: stalled.length, rows: stalled })
}

function expectGroups(figures: ReportFigures, plain: Plain): void {
  const { period, byPipeline, bySource } = figures
  const now = plain.at(period.to)
  const groupOf = (leads: readonly PastLead[]) => {
    const { newLeads, won, winRate, ...counts } = countPlain(leads, period)
    return { counts, group: { newLeads, won, winRate } }
  }
  for (const line of byPipeline) {
    const { counts, group } = groupOf(now.filter((lead) => lead.pipelineId === line.id))
    expect(line).toMatchObject({ ...group, leads: counts.leads, openValue: counts.openValue })
  }
  for (const line of bySource)
    expect(line).toMatchObject(groupOf(now.filter((lead) => lead.source === line.source)).group)
  const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)
  expect(sum(byPipeline.map((line) => line.leads))).toBe(figures.leads)
  expect(sum(byPipeline.map((line) => line.stalled))).toBe(figures.stalled.total)
  for (const lines of [byPipeline, bySource]) {
    expect(sum(lines.map((line) => line.newLeads))).toBe(figures.newLeads.current)
    expect(sum(lines.map((line) => line.won))).toBe(figures.won.current)
    expect(sum(lines.map((line) => line.winRate.whole))).toBe(figures.winRate.current.whole)
  }
}

it(`random pasts (SEED=${SEED}) give each figure and each report the same as one lead after another`, async () => {
  const next = random(SEED)
  await using store = await openEmptyStore()
  await liveThrough(store, next)
  const past = await loadPast(store.db)
  const trx = { db: store.db, tempTables: new Map() }
  const changes = await store.db.selectFrom('lead_version').select(['valid_from', 'changed_at']).execute()
  const instants = [
    ...past.leads.map((lead) => lead.createdAt),
    ...changes.flatMap((version) => [version.valid_from, version.changed_at]),
  ].filter((at) => at < day(DAYS))
  for (let round = 0; round < PERIODS; round++) {
    // Each period begins and ends with something that happened then, or so long ago as a rate or a stall reaches back.
    const end = daysBefore(pick(next, instants), pick(next, [0, 0, -3, -30]))
    const [from = '', to = ''] = [pick(next, instants), end].sort()
    const scope = { from, to, filter: randomFilter(next), stalledDays: 3 }
    const plain = plainFigures(await plainOf(store, past, scope), scope)
    const of = JSON.stringify(scope)
    for (const [name, expected] of Object.entries(plain.figures))
      expect(await readFigure(store.db, name as FigureName, scope), `${name} ${of}`).toEqual(expected)
    for (const [name, expected] of Object.entries(plain.coverages))
      expect(await readRows(trx, COVERAGES[name as CoverageName], scope), `${name} ${of}`).toEqual(expected)
    expect(await readRows(trx, REACHED, scope), of).toEqual(plain.funnel)
  }
  for (let round = 0; round < REPORTS; round++) {
    const kind = pick(next, ['day', 'working_day', 'week', 'month'] as const)
    const asked = { filter: randomFilter(next), stalledDays: 3, topScore: 60, rowsMax: 1000 }
    const request = requestOf(kind, new Date(day(2 + next() * (DAYS - 2))), ZONE, asked)
    const figures = await readReportFigures(store.db, request)
    const plain = await plainOf(store, past, { ...request.period, ...asked })
    expectTotals(figures, plain)
    expectTrend(figures, request, plain)
    expectLists(figures, request, plain)
    expectGroups(figures, plain)
  }
  // Nothing is known of days after the last reading.
  const { trend } = await readReportFigures(store.db, requestOf('day', new Date(day(DAYS + 3)), ZONE))
  expect(trend.slice(-4).map(({ newLeads }) => newLeads === null)).toEqual([false, true, true, true])
})

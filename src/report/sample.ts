/**
 * Invents figures. They show a preview of a report before there are leads, and test its templates before a
 * report is sent. The figures of `sampleFigures` fill every block of a report. The figures of `emptyFigures`
 * leave every list empty.
 */
import type { PeriodKind, ReportFigures } from '../domain/figures.ts'
import type { Expectation, ExpectedFigure, JudgedWinRate } from '../domain/insight.ts'
import { LISTED_FIELDS } from '../domain/lead-fields.ts'
import type { ChangedLead, ChangeKind, ListedLead, QueryTable } from '../domain/lists.ts'
import type { Instant, Money, Period } from '../domain/model.ts'
import { daysUpTo, localDates } from '../domain/period.ts'
import { DAY_MS } from '../schedule/zone.ts'

interface SampleScope {
  readonly kind: PeriodKind
  readonly period: Period
  readonly prior: Period
  readonly stalledDays: number
  readonly topScore: number
  readonly queries: readonly QueryTable[]
}

const HOUR_MS = 60 * 60_000
const TREND_DAYS = 96
const CURRENCY = 'EUR'
// The numbers of these pipelines add up to the totals in `sampleFigures`.
const PIPELINES = [
  { name: 'DACH manufacturing', newLeads: 21, won: 2, wonOf66: 17, open: 2_100_000, stalled: 7 },
  { name: 'EU mid-market', newLeads: 20, won: 1, wonOf66: 16, open: 1_800_000, stalled: 4 },
  { name: 'Nordics SaaS', newLeads: 18, won: 1, wonOf66: 14, open: 1_400_000, stalled: 3 },
] as const
const PEOPLE = [
  ['Nordwind Maschinenbau', 'Hanna Vogel', 'Head of Operations', 'Germany', 'nordwind.example'],
  ['Fjordlys Energi', 'Sofie Dahl', 'Chief Technology Officer', 'Norway', 'fjordlys.example'],
  ['Brightwater Analytics', "Tom O'Hara", 'VP Sales', 'Ireland', 'brightwater.example'],
  ['Société Générale de Câblage', 'Élise Martin', 'Directrice des achats', 'France', 'cablage.example'],
  ['Kobalt & Söhne', 'Jan Kobalt', 'Managing Director', 'Austria', 'kobalt.example'],
] as const
const ABOUT = 'Plans and runs production lines for mid-sized makers of parts'

/** The width of the range follows from the numbers of won and decided leads. */
function sampleRate(pipeline: JudgedWinRate['pipeline'], won: number, decided: number): JudgedWinRate {
  const wide = Math.round(2 * Math.sqrt(won * (1 - won / decided)))
  return {
    pipeline,
    won,
    decided,
    judgement: 'normal',
    expected: won / decided,
    range: { low: won - wide, high: won + wide },
    periods: { known: 24, needed: 8 },
    record: { hits: 15, of: 16 },
  }
}

/** Returns figures of a busy period. All leads were created and changed before the end of the period. */
export function sampleFigures(scope: SampleScope): ReportFigures {
  const { kind, period, prior, stalledDays, topScore } = scope
  const days = Math.max(1, Math.round((Date.parse(period.to) - Date.parse(period.from)) / DAY_MS))
  const times = (each: number) => Math.round(each * days)
  const ago = (hours: number): Instant => new Date(Date.parse(period.to) - hours * HOUR_MS).toISOString()
  const money = (amount: number): Money[] => [{ amount, currency: CURRENCY }]
  const compared = (current: number, before: number) => ({ current: times(current), prior: times(before) })
  const leads = PEOPLE.map((_, index) => sampleLead(index, topScore, ago(3 + index)))
  const change = (kindOf: ChangeKind, first: number, count: number, from: string | null, to: string) => {
    const rows = leads.slice(first, first + count).map((lead, index): ChangedLead => {
      const { id, companyName, pipelineName, value } = lead
      return { id, companyName, pipelineName, fromStatus: from, toStatus: to, at: ago(4 + index), value }
    })
    const value = money(rows.reduce((sum, row) => sum + (row.value?.amount ?? 0), 0))
    return { kind: kindOf, total: rows.length, value, rows }
  }
  return {
    kind,
    period,
    prior,
    filter: { pipelineIds: null, conditions: [] },
    freshness: {
      dataAsOf: new Date(Date.parse(period.to) + 6 * HOUR_MS).toISOString(),
      coversPeriod: true,
      statsAsOf: ago(-6),
      agentsAsOf: ago(-6),
      lastFailure: null,
      runId: 'sample',
      requests: 42,
      quarantinedRecords: 3,
    },
    pipelines: PIPELINES.map(({ name }) => name),
    leads: 3003,
    newLeads: compared(59, 50),
    won: compared(4, 5),
    lost: compared(6, 4),
    wonValue: { current: money(times(54_500)), prior: money(times(61_000)) },
    winRate: { current: { part: 47, whole: 198 }, prior: { part: 41, whole: 192 } },
    openValue: { current: money(5_300_000), prior: money(5_435_000) },
    known: {
      status: { current: { known: 3912, of: 3912 }, prior: { known: 3870, of: 3870 } },
      value: { current: { known: 1190, of: 1190 }, prior: { known: 1204, of: 1204 } },
    },
    trend: daysUpTo(period.to, TREND_DAYS, period.timeZone).map((day, index) => {
      return { day: localDates(day), newLeads: wave(index, 59) }
    }),
    funnel: {
      source: 'service',
      coverage: null,
      daysCoverage: { known: 2840, of: 2840 },
      asOf: ago(-6),
      stages: [
        { status: 'discovered', reached: 3003, conversion: null, medianDays: 0.4 },
        { status: 'qualified', reached: 1806, conversion: 1806 / 3003, medianDays: 2.1 },
        { status: 'contacted', reached: 1765, conversion: 1765 / 1806, medianDays: 6.5 },
        { status: 'meeting_booked', reached: 275, conversion: 275 / 1765, medianDays: 11 },
        { status: 'won', reached: 96, conversion: 96 / 275, medianDays: null },
      ],
    },
    changes: {
      since: period.from,
      coverage: { known: 64, of: 64 },
      kinds: [
        change('won', 0, 2, 'meeting_booked', 'won'),
        change('forward', 2, 3, 'qualified', 'contacted'),
        change('back', 4, 1, 'meeting_booked', 'contacted'),
        change('lost', 1, 1, 'contacted', 'lost'),
        change('deleted', 3, 1, null, 'contacted'),
        change('returned', 0, 1, null, 'qualified'),
      ],
    },
    topLeads: { minScore: topScore, total: 12, rows: leads },
    stalled: {
      days: stalledDays,
      coverage: { known: 1190, of: 1190 },
      total: 14,
      rows: leads.map((lead, index) => ({ ...lead, idleDays: stalledDays + 34 - 6 * index })),
    },
    byPipeline: PIPELINES.map(({ name, newLeads, won, wonOf66, open, stalled }, index) => ({
      id: `pl_${index + 1}`,
      name,
      leads: 1001,
      newLeads: times(newLeads),
      won: times(won),
      winRate: { part: wonOf66, whole: 66 },
      openValue: money(open),
      stalled,
    })),
    bySource: ['web_search', 'referral', null].map((source, index) => ({
      source,
      newLeads: times(31 - 12 * index),
      won: times(2 - index / 2),
      winRate: { part: 20 - 4 * index, whole: 80 },
    })),
    agents: {
      asOf: ago(-6),
      rows: ['running', 'idle', 'failing'].map((status, index) => ({
        name: ['Scout', 'Enricher', 'Outreach'][index] ?? 'Agent',
        kind: ['discovery', 'enrichment', 'outreach'][index] ?? null,
        status,
        statusChangedAt: ago(9),
        taskType: null,
        taskPipelineName: null,
        lastSeenAt: ago(-5),
        errors24h: index === 2 ? 17 : 0,
        lastErrorMessage: index === 2 ? 'mailbox refused the connection' : null,
      })),
      outages: [{ agentName: 'Outreach', beganAt: ago(9), endedAt: null, hours: 9 }],
    },
    serviceStats: [
      {
        pipelineName: PIPELINES[1].name,
        figure: 'won',
        currency: null,
        ours: 41,
        upstream: 42,
        asOf: ago(-6),
      },
    ],
    dataQuality: {
      quarantined: [{ resource: 'leads', reason: 'created_at: expected a time', records: 3 }],
      drift: [{ change: 'new', path: 'company.funding', at: ago(5) }],
      lastScan: { result: 'complete', at: ago(-6) },
    },
    insight: {
      notes: [],
      winRates: [
        sampleRate(null, 47, 198),
        ...PIPELINES.map(({ name, wonOf66 }, index) =>
          sampleRate({ id: `pl_${index + 1}`, name }, wonOf66, 66),
        ),
      ],
      drivers: [
        {
          figure: 'new_leads',
          actual: times(59),
          expected: times(50),
          dimension: 'source',
          parts: [{ name: 'web_search', actual: times(31), expected: times(22), difference: times(9) }],
          rest: 0,
        },
      ],
      pace: [
        {
          figure: 'won',
          currency: null,
          pipelines: null,
          span: 'month',
          lastDay: localDates(daysUpTo(period.to, 1, period.timeZone)[0] ?? period),
          goal: { name: 'Wins of the month', target: 80, owner: 'Ana' },
          soFar: 41,
          daysLeft: 10,
          perDay: 1.6,
          end: { low: 55, high: 68, expected: 61, record: { hits: 41, of: 50 } },
        },
      ],
      today: {
        total: 6,
        value: money(190_000),
        byOwner: [
          { owner: 'Ana', leads: 4 },
          { owner: null, leads: 2 },
        ],
        rows: leads.map((lead, index) => ({
          lead: { ...lead, owner: index % 3 === 2 ? null : 'Ana' },
          why: { kind: 'stalling', stageDays: 11 + index, limitDays: 14, isOfWinners: true },
        })),
      },
      oldLeads: {
        old: 212,
        open: 1190,
        value: money(1_900_000),
        ageDays: 94,
        winners: 812,
        countedAt: ago(-5),
      },
      lastUnusual: {},
      expectations: [
        sampleExpectation('new_leads', times(59), times(34), times(71)),
        sampleExpectation('won', times(4), times(1), times(8)),
      ],
    },
    queries: scope.queries,
    failed: [],
    warnings: [],
  }
}

/** Returns figures with almost nothing: one new lead, and no rows in any list. */
export function emptyFigures(figures: ReportFigures): ReportFigures {
  const none = { current: 0, prior: 0 }
  const nothing = { current: [], prior: [] }
  const unread = { current: { known: 0, of: 0 }, prior: { known: 0, of: 0 } }
  return {
    ...figures,
    freshness: { ...figures.freshness, quarantinedRecords: 0 },
    pipelines: [],
    leads: 1,
    newLeads: { current: 1, prior: 0 },
    won: none,
    lost: none,
    wonValue: nothing,
    winRate: { current: { part: 0, whole: 0 }, prior: { part: 0, whole: 0 } },
    openValue: nothing,
    known: { status: unread, value: unread },
    trend: figures.trend.map(({ day }) => ({ day, newLeads: null })),
    funnel: { ...figures.funnel, stages: [] },
    changes: { ...figures.changes, kinds: [] },
    topLeads: { ...figures.topLeads, total: 0, rows: [] },
    stalled: { ...figures.stalled, total: 0, rows: [] },
    byPipeline: [],
    bySource: [],
    agents: { asOf: null, rows: [], outages: [] },
    serviceStats: [],
    dataQuality: { quarantined: [], drift: [], lastScan: null },
    insight: null,
    queries: figures.queries.map((query) => ({ ...query, rows: [] })),
  }
}

function sampleExpectation(figure: ExpectedFigure, actual: number, low: number, high: number): Expectation {
  return {
    figure,
    pipeline: null,
    actual,
    judgement: 'normal',
    range: { low, high },
    shift: null,
    inARow: 1,
    expected: (low + high) / 2,
    periods: { known: 26, needed: 8 },
    record: { hits: 187, of: 196 },
  }
}

/** Fills in an invented result of a query: names in the first column, numbers in the other columns. */
export function sampleTable(table: QueryTable): QueryTable {
  const rows = ['Software', 'Financial services', 'Health care'].map((name, row) =>
    table.columns.map((_, column) => (column === 0 ? name : 120 - 30 * row - 7 * column)),
  )
  return { ...table, rows }
}

// All fields of a listed lead, each of them null. `sampleLead` gives a value to some of the fields.
const NOTHING = Object.fromEntries(LISTED_FIELDS.map((name) => [name, null])) as unknown as Pick<
  ListedLead,
  (typeof LISTED_FIELDS)[number]
>

function sampleLead(index: number, topScore: number, at: Instant): ListedLead {
  const [companyName, contactName, contactTitle, companyCountry, companyDomain] =
    PEOPLE[index] ?? (PEOPLE[0] as (typeof PEOPLE)[number])
  return {
    ...NOTHING,
    id: `ld_${index + 1}`,
    companyName,
    companyOneLiner: ABOUT,
    companyDomain,
    companyCountry,
    contactName,
    contactTitle,
    pipelineId: `pl_${(index % PIPELINES.length) + 1}`,
    pipelineName: PIPELINES[index % PIPELINES.length]?.name ?? '',
    status: index % 2 === 0 ? 'contacted' : 'meeting_booked',
    score: Math.min(100, topScore + 16 - 3 * index),
    source: 'web_search',
    value: { amount: 84_000 - 12_500 * index, currency: CURRENCY },
    createdAt: at,
    changedAt: at,
  }
}

/** Returns the invented number of a day. The numbers vary around `mean`. Two days of each week are quiet. */
function wave(index: number, mean: number): number {
  const ofWeek = index % 7 > 4 ? 0.4 : 1.2
  return Math.round(mean * ofWeek * (1 + 0.25 * Math.sin(index / 5)))
}

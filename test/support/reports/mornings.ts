/** Reports of every kind of morning, for the tests of first screens, words and numbers. */
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Expectation, Insight, JudgedWinRate, Pace, TodayLead } from '../../../src/domain/insight.ts'
import type { ListedLead } from '../../../src/domain/lists.ts'
import { periodBetween } from '../../../src/domain/period.ts'
import { nameReport } from '../../../src/report/words/locale-context.ts'
import { BLANK_LISTED } from '../data/blank-lead.ts'
import { compose, localeContextOf, type Making, templates } from '../report.ts'
import { busyDay, busyWeek, emptyDay, firstDay, staleDay } from './figures.ts'

export interface Morning {
  readonly name: string
  readonly template: 'daily' | 'weekly' | 'monthly'
  readonly figures: ReportFigures
  readonly making: Making
}

const usd = (amount: number) => ({ amount, currency: 'USD' })

const LEAD: ListedLead = {
  ...BLANK_LISTED,
  id: 'ld_1',
  companyName: 'Mudrex',
  pipelineId: 'eu',
  pipelineName: 'EU mid-market',
  status: 'contacted',
  score: 71,
  value: usd(41_000),
  createdAt: '2026-11-01T09:00:00.000Z',
  changedAt: '2026-11-14T09:00:00.000Z',
}

const today = (why: TodayLead['why'], change: Partial<ListedLead>): TodayLead => ({
  lead: { ...LEAD, id: change.companyName ?? LEAD.id, ...change },
  why,
})
const TODAY = [
  today({ kind: 'stalling', stageDays: 6, limitDays: 6.2, isOfWinners: true }, { owner: 'Ana' }),
  today(
    { kind: 'overdue', expectedCloseAt: '2026-11-20T00:00:00.000Z' },
    { companyName: 'Genuity', owner: 'Ben', status: 'meeting', value: usd(27_000) },
  ),
  today(
    { kind: 'uncontacted', score: 94, since: '2026-11-18T10:00:00.000Z' },
    { companyName: 'Olio Labs', status: 'new', score: 94, value: usd(20_000) },
  ),
  today(
    { kind: 'stalling', stageDays: 9, limitDays: 6.2, isOfWinners: false },
    { companyName: 'Inflow', owner: 'Ana', value: usd(19_500) },
  ),
  today(
    { kind: 'returned', at: '2026-11-19T10:00:00.000Z', days: 21 },
    { companyName: 'Dataglade', owner: 'Cem', value: usd(8_000) },
  ),
]

/** Returns what is expected of a figure: that it lies between two numbers. */
export function expectation(
  figure: Expectation['figure'],
  actual: number,
  [low, expected, high]: readonly [number, number, number],
  change: Partial<Expectation> = {},
): Expectation {
  return {
    figure,
    pipeline: null,
    actual,
    judgement: 'normal',
    range: { low, high },
    expected,
    periods: { known: 40, needed: 8 },
    record: { hits: 48, of: 50 },
    inARow: 1,
    shift: null,
    ...change,
  }
}

const WON = expectation('won', 3, [0, 2, 4])
const EU = { pipeline: { id: 'pl_2', name: 'EU mid-market' } }
const NORDICS = { pipeline: { id: 'pl_3', name: 'Nordics SaaS' } }
const IN_PIPELINES = [
  expectation('new_leads', 35, [22, 33, 46], EU),
  expectation('new_leads', 24, [14, 24, 35], NORDICS),
]
const NORMAL = [expectation('new_leads', 59, [41, 57, 74]), WON, ...IN_PIPELINES]

export const GOAL: Pace = {
  figure: 'new_leads',
  currency: null,
  pipelines: null,
  span: 'month',
  lastDay: '2026-11-30',
  goal: { name: 'New leads in November', target: 650, owner: null },
  soFar: 529,
  daysLeft: 10,
  perDay: 11.2,
  end: { low: 590, high: 660, expected: 618, record: { hits: 41, of: 50 } },
}

export const NORMAL_RATE: JudgedWinRate = {
  pipeline: null,
  won: 45,
  decided: 190,
  judgement: 'normal',
  range: { low: 34, high: 57 },
  expected: 0.24,
  periods: { known: 20, needed: 8 },
  record: { hits: 11, of: 12 },
}

const INSIGHT: Insight = {
  expectations: NORMAL,
  lastUnusual: {},
  publishedRecord: { hits: 118, of: 124 },
  drivers: [],
  winRates: [NORMAL_RATE],
  pace: [],
  today: {
    total: 30,
    value: [usd(412_000)],
    byOwner: [
      { owner: 'Ana', leads: 12 },
      { owner: 'Ben', leads: 9 },
      { owner: 'Cem', leads: 5 },
      { owner: null, leads: 4 },
    ],
    rows: TODAY,
  },
  oldLeads: null,
  notes: [],
}

function day(insight: Partial<Insight> = {}, figures: Partial<ReportFigures> = {}): ReportFigures {
  return { ...busyDay(), insight: { ...INSIGHT, ...insight }, ...figures }
}

const LINKS: Making = {
  context: {
    leadUrl: 'https://crm.example.com/leads/{id}',
    moreUrl: 'https://reports.example.com/archive?report=daily',
    unsubscribe: 'mailto:reports@example.com',
  },
}

function week(expectations: Insight['expectations'], insight: Partial<Insight> = {}): ReportFigures {
  const filter = { pipelineIds: null, conditions: [] }
  return { ...busyWeek(), filter, insight: { ...INSIGHT, expectations, ...insight } }
}

const monthBetween = (from: string, to: string) => periodBetween(from, to, 'Europe/Berlin')

const MANY = Array.from({ length: 300 }, (_, index) => ({
  ...(busyDay().byPipeline[index % 2] ?? { id: '', name: '' }),
  id: `pl_${index}`,
  name: `Team ${String.fromCharCode(65 + (index % 26))}${String.fromCharCode(65 + Math.floor(index / 26))}`,
})) as ReportFigures['byPipeline']

const ofDay = (name: string, figures: ReportFigures): Morning => ({
  name,
  template: 'daily',
  figures,
  making: LINKS,
})

const ON_MONDAY: Making = { ...LINKS, now: '2026-11-23T05:04:00.000Z' }

/** All mornings that the first screen is looked at for. */
export const MORNINGS: readonly Morning[] = [
  ofDay('normal', day({ pace: [GOAL] })),
  ofDay(
    'low with a cause',
    day(
      {
        expectations: [
          expectation('new_leads', 19, [41, 57, 74], { judgement: 'low', inARow: 3 }),
          WON,
          ...IN_PIPELINES,
        ],
        drivers: [
          {
            figure: 'new_leads',
            actual: 19,
            expected: 57,
            dimension: 'source',
            parts: [{ name: 'Website', actual: 3, expected: 33, difference: -30 }],
            rest: -8,
          },
        ],
      },
      { newLeads: { current: 19, prior: 50 } },
    ),
  ),
  ofDay(
    'holiday',
    day(
      {
        expectations: NORMAL.map((each) => ({ ...each, judgement: 'left_out' as const, range: null })),
        holidays: [{ day: '2026-11-20', names: { en: 'Day of Repentance', de: 'Buß- und Bettag' } }],
        holidayCount: 1,
      },
      { newLeads: { current: 4, prior: 50 } },
    ),
  ),
  ofDay(
    'bulk import',
    day(
      { imports: [{ day: '2026-11-20', leads: 5000, source: 'CSV import' }] },
      { newLeads: { current: 5059, prior: 50 } },
    ),
  ),
  ofDay('backfill', day({ backfill: { leads: 5009, openValue: [usd(14_900_000)] } })),
  ofDay('old data', { ...staleDay(), insight: null }),
  ofDay('first week', { ...firstDay(), insight: { ...INSIGHT, expectations: [], winRates: [] } }),
  ofDay('no data', emptyDay()),
  ofDay('300 pipelines', day({}, { byPipeline: MANY, pipelines: MANY.map(({ name }) => name) })),
  {
    name: 'week with holidays',
    template: 'weekly',
    figures: {
      ...week([expectation('new_leads', 82, [80, 96, 119]), expectation('won', 0, [0, 4, 9])], {
        holidays: [
          { day: '2026-11-17', names: { en: 'First Day', de: 'Erster Tag' } },
          { day: '2026-11-18', names: { en: 'Repentance Day', de: 'Buß- und Bettag' } },
          { day: '2026-11-19', names: { en: 'Third Day', de: 'Dritter Tag' } },
        ],
        holidayCount: 3,
      }),
      newLeads: { current: 82, prior: 280 },
      won: { current: 0, prior: 11 },
      wonValue: { current: [], prior: [] },
    },
    making: ON_MONDAY,
  },
  {
    name: 'month',
    template: 'monthly',
    figures: {
      ...week([expectation('new_leads', 1204, [1080, 1190, 1290]), expectation('won', 61, [44, 57, 72])], {
        yearBefore: { period: monthBetween('2025-10-01', '2025-11-01'), newLeads: 1043, won: 52 },
        holidays: [{ day: '2026-10-03', names: { en: 'German Unity Day', de: 'Tag der Deutschen Einheit' } }],
        holidayCount: 0,
        pace: [
          {
            ...GOAL,
            goal: { name: 'New leads in October', target: 1250, owner: null },
            soFar: 1204,
            lastDay: '2026-10-31',
            daysLeft: 0,
            end: null,
          },
        ],
      }),
      kind: 'month',
      period: monthBetween('2026-10-01', '2026-11-01'),
      prior: monthBetween('2026-09-01', '2026-10-01'),
      newLeads: { current: 1204, prior: 1188 },
      won: { current: 61, prior: 49 },
    },
    making: ON_MONDAY,
  },
]

/** Renders the mail of a morning, without a chart. */
export function renderMorning({ template, figures, making }: Morning, locale: string) {
  const title = nameReport(template, localeContextOf({ locale }))
  const { blocks } = templates.definition(template)
  const context = { chart: null, title, blocks, ...making.context }
  const view = compose(figures, { ...making, locale, context })
  return { ...templates.render(template, view), preheader: view.preheader }
}

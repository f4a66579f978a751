/** Reports of every kind of morning, for the tests of first screens, words and numbers. */
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Expectation, Insight, Pace, TodayLead } from '../../../src/domain/insight.ts'
import type { ListedLead } from '../../../src/domain/lists.ts'
import type { Instant } from '../../../src/domain/model.ts'
import { BLANK_LISTED } from '../data/blank-lead.ts'
import type { Making } from '../report.ts'
import { busyDay, busyWeek, emptyDay, firstDay, staleDay } from './figures.ts'

export interface Morning {
  readonly name: string
  readonly template: 'daily' | 'weekly' | 'monthly'
  readonly figures: ReportFigures
  readonly making: Making
}

const LEAD: ListedLead = {
  ...BLANK_LISTED,
  id: 'ld_1',
  companyName: 'Mudrex',
  pipelineId: 'eu',
  pipelineName: 'EU mid-market',
  status: 'contacted',
  score: 71,
  value: { amount: 41_000, currency: 'USD' },
  createdAt: '2026-11-01T09:00:00.000Z',
  changedAt: '2026-11-14T09:00:00.000Z',
}

const TODAY: readonly TodayLead[] = [
  {
    lead: { ...LEAD, owner: 'Ana' },
    why: { kind: 'stalling', stageDays: 6, limitDays: 6.2, isOfWinners: true },
  },
  {
    lead: {
      ...LEAD,
      id: 'ld_2',
      companyName: 'Genuity',
      owner: 'Ben',
      status: 'meeting',
      value: usd(27_000),
    },
    why: { kind: 'overdue', expectedCloseAt: '2026-11-20T00:00:00.000Z' },
  },
  {
    lead: {
      ...LEAD,
      id: 'ld_3',
      companyName: 'Olio Labs',
      owner: null,
      status: 'new',
      score: 94,
      value: usd(20_000),
    },
    why: { kind: 'uncontacted', score: 94, since: '2026-11-18T10:00:00.000Z' },
  },
  {
    lead: { ...LEAD, id: 'ld_4', companyName: 'Inflow', owner: 'Ana', value: usd(19_500) },
    why: { kind: 'stalling', stageDays: 9, limitDays: 6.2, isOfWinners: false },
  },
  {
    lead: { ...LEAD, id: 'ld_5', companyName: 'Dataglade', owner: 'Cem', value: usd(8_000) },
    why: { kind: 'returned', at: '2026-11-19T10:00:00.000Z', days: 21 },
  },
]

function usd(amount: number) {
  return { amount, currency: 'USD' }
}

function expectation(given: Partial<Expectation> & Pick<Expectation, 'figure' | 'actual'>): Expectation {
  return {
    pipeline: null,
    judgement: 'normal',
    range: given.figure === 'won' ? { low: 0, high: 4 } : { low: 41, high: 74 },
    expected: given.figure === 'won' ? 2 : 57,
    periods: { known: 40, needed: 8 },
    record: { hits: 48, of: 50 },
    inARow: 1,
    shift: null,
    ...given,
  }
}

const NORMAL = [
  expectation({ figure: 'new_leads', actual: 59 }),
  expectation({ figure: 'won', actual: 3 }),
  ...(['eu', 'us'] as const).map((id) =>
    expectation({
      figure: 'new_leads',
      actual: id === 'eu' ? 35 : 24,
      expected: id === 'eu' ? 33 : 24,
      range: id === 'eu' ? { low: 22, high: 46 } : { low: 14, high: 35 },
      pipeline: { id, name: id === 'eu' ? 'EU mid-market' : 'US growth' },
    }),
  ),
]

const GOAL: Pace = {
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

const INSIGHT: Insight = {
  expectations: NORMAL,
  lastUnusual: {},
  publishedRecord: { hits: 118, of: 124 },
  drivers: [],
  winRates: [
    {
      pipeline: null,
      won: 45,
      decided: 190,
      judgement: 'normal',
      range: { low: 34, high: 57 },
      expected: 0.24,
      periods: { known: 20, needed: 8 },
      record: { hits: 11, of: 12 },
    },
  ],
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

const judged = (...changed: readonly Expectation[]): readonly Expectation[] => [
  ...changed,
  ...NORMAL.filter(
    ({ figure, pipeline }) =>
      !changed.some((each) => each.figure === figure && each.pipeline?.id === pipeline?.id),
  ),
]

const LOW_DAY = expectation({ figure: 'new_leads', actual: 19, judgement: 'low', inARow: 3 })

const LINKS: Making = {
  context: {
    leadUrl: 'https://crm.example.com/leads/{id}',
    moreUrl: 'https://reports.example.com/archive?report=daily',
    unsubscribe: 'mailto:reports@example.com',
  },
}

const WEEK_NOW: Instant = '2026-11-23T05:04:00.000Z'

function week(insight: Partial<Insight> = {}): ReportFigures {
  return {
    ...busyWeek(),
    filter: { pipelineIds: null, conditions: [] },
    insight: {
      ...INSIGHT,
      expectations: [
        expectation({ figure: 'new_leads', actual: 284, range: { low: 241, high: 322 }, expected: 280 }),
        expectation({ figure: 'won', actual: 14, range: { low: 6, high: 18 }, expected: 11 }),
      ],
      ...insight,
    },
  }
}

function month(insight: Partial<Insight> = {}): ReportFigures {
  return {
    ...week(insight),
    kind: 'month',
    period: { from: '2026-09-30T22:00:00.000Z', to: '2026-10-31T23:00:00.000Z', timeZone: 'Europe/Berlin' },
    prior: { from: '2026-08-31T22:00:00.000Z', to: '2026-09-30T22:00:00.000Z', timeZone: 'Europe/Berlin' },
    newLeads: { current: 1204, prior: 1188 },
    won: { current: 61, prior: 49 },
  }
}

const MANY = Array.from({ length: 300 }, (_, index) => ({
  ...(busyDay().byPipeline[index % 2] ?? { id: '', name: '' }),
  id: `pl_${index}`,
  name: `Team ${String.fromCharCode(65 + (index % 26))}${String.fromCharCode(65 + Math.floor(index / 26))}`,
})) as ReportFigures['byPipeline']

/** All mornings that the first screen is looked at for. */
export const MORNINGS: readonly Morning[] = [
  { name: 'normal', template: 'daily', figures: day({ pace: [GOAL] }), making: LINKS },
  {
    name: 'low with a cause',
    template: 'daily',
    figures: day(
      {
        expectations: judged(LOW_DAY),
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
    making: LINKS,
  },
  {
    name: 'holiday',
    template: 'daily',
    figures: day(
      {
        expectations: NORMAL.map((each) => ({ ...each, judgement: 'left_out' as const, range: null })),
        holidays: [{ day: '2026-11-20', names: { en: 'Day of Repentance', de: 'Buß- und Bettag' } }],
        holidayCount: 1,
      },
      { newLeads: { current: 4, prior: 50 } },
    ),
    making: LINKS,
  },
  {
    name: 'bulk import',
    template: 'daily',
    figures: day(
      { imports: [{ day: '2026-11-20', leads: 5000, source: 'CSV import' }] },
      { newLeads: { current: 5059, prior: 50 } },
    ),
    making: LINKS,
  },
  {
    name: 'backfill',
    template: 'daily',
    figures: day({
      backfill: {
        leads: 5009,
        openValue: [usd(14_900_000)],
      },
    }),
    making: LINKS,
  },
  { name: 'old data', template: 'daily', figures: { ...staleDay(), insight: null }, making: LINKS },
  {
    name: 'first week',
    template: 'daily',
    figures: { ...firstDay(), insight: { ...INSIGHT, expectations: [], winRates: [] } },
    making: LINKS,
  },
  { name: 'no data', template: 'daily', figures: emptyDay(), making: LINKS },
  {
    name: '300 pipelines',
    template: 'daily',
    figures: day({}, { byPipeline: MANY, pipelines: MANY.map(({ name }) => name) }),
    making: LINKS,
  },
  {
    name: 'week with holidays',
    template: 'weekly',
    figures: {
      ...week({
        expectations: [
          expectation({ figure: 'new_leads', actual: 82, range: { low: 80, high: 119 }, expected: 96 }),
          expectation({ figure: 'won', actual: 0, range: { low: 0, high: 9 }, expected: 4 }),
        ],
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
    making: { ...LINKS, now: WEEK_NOW },
  },
  {
    name: 'month',
    template: 'monthly',
    figures: month({
      expectations: [
        expectation({ figure: 'new_leads', actual: 1204, range: { low: 1080, high: 1290 }, expected: 1190 }),
        expectation({ figure: 'won', actual: 61, range: { low: 44, high: 72 }, expected: 57 }),
      ],
      yearBefore: {
        period: {
          from: '2025-09-30T22:00:00.000Z',
          to: '2025-10-31T23:00:00.000Z',
          timeZone: 'Europe/Berlin',
        },
        newLeads: 1043,
        won: 52,
      },
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
    making: { ...LINKS, now: WEEK_NOW },
  },
]

/** Invented figures of busy and empty periods, for tests of the texts about them. They begin with those of a preview. */

import { BLOCKS } from '../../../src/domain/choices.ts'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { ListedLead } from '../../../src/domain/lists.ts'
import type { Money } from '../../../src/domain/model.ts'
import { periodBetween } from '../../../src/domain/period.ts'
import type { BlockContext } from '../../../src/report/context.ts'
import { emptyFigures, sampleFigures } from '../../../src/report/sample.ts'

export const GENERATED_AT = '2026-11-21T05:04:00.000Z'
const DATA_AS_OF = '2026-11-21T05:00:00.000Z'
const inBerlin = (from: string, to: string) => periodBetween(from, to, 'Europe/Berlin')

const usd = (amount: number): Money => ({ amount, currency: 'USD' })
const eur = (amount: number): Money => ({ amount, currency: 'EUR' })

const NONE_IN_QUESTION = { known: 0, of: 0 }

export const CONTEXT: BlockContext = {
  title: 'Daily leads',
  recipient: 'dana@example.com',
  blocks: BLOCKS,
  leadUrl: null,
  moreUrl: null,
  // As if its files lay beside the page.
  chart: { light: 'cid:trend-light', dark: 'cid:trend-dark', width: 552, height: 226 },
  attached: new Map(),
  leftOut: [],
  notMade: [],
  failed: [],
  resend: null,
  unsubscribe: null,
}

/** Leads unlike those of a preview: long names, letters of any language, and fields that are missing. */
const ODD: readonly Partial<ListedLead>[] = [
  { value: usd(120_000) },
  { companyName: 'Şimşek Łódź Optik', companyCountry: 'Türkiye', value: null },
  {
    companyName: 'Fathom Analytics for Regional Hospitals and Care Homes',
    companyOneLiner: null,
    contactName: 'Bartholomew Featherstonehaugh-Cholmondeley',
  },
  {
    companyOneLiner:
      'Heat pumps, financed, installed and looked after for the whole of their life by one team',
    contactName: null,
    contactTitle: null,
  },
]

/** A busy Friday: two currencies, one failing agent. */
export function busyDay(): ReportFigures {
  return busyPeriod('day', inBerlin('2026-11-20', '2026-11-21'), inBerlin('2026-11-13', '2026-11-14'))
}

function busyPeriod(
  kind: ReportFigures['kind'],
  period: ReportFigures['period'],
  prior: ReportFigures['prior'],
): ReportFigures {
  const sample = sampleFigures({ kind, period, prior, stalledDays: 14, topScore: 80, queries: [] })
  const odd = <T extends { readonly id: string }>(rows: readonly T[]) =>
    rows.map((row) => ({ ...row, ...ODD[Number(row.id.replace('ld_', '')) - 1] }))
  const none = { newLeads: 0, won: 0, winRate: { part: 0, whole: 8 } }
  const ended = { endedAt: '2026-11-20T11:44:00.000Z', hours: 2.5 }
  return {
    ...sample,
    freshness: { ...sample.freshness, quarantinedRecords: 0 },
    wonValue: { current: [usd(84_000), eur(12_500)], prior: [usd(41_000)] },
    winRate: { current: { part: 45, whole: 190 }, prior: { part: 46, whole: 177 } },
    openValue: {
      current: [usd(4_210_000), eur(1_305_000)],
      prior: [usd(3_980_000), eur(1_290_000)],
    },
    changes: {
      ...sample.changes,
      kinds: sample.changes.kinds.map((each) => ({
        ...each,
        total: each.kind === 'lost' ? 4 : each.total,
        rows: odd(each.rows),
      })),
    },
    topLeads: { ...sample.topLeads, rows: odd(sample.topLeads.rows) },
    stalled: { ...sample.stalled, rows: odd(sample.stalled.rows) },
    byPipeline: sample.byPipeline.map((line) =>
      line.name === 'Nordics SaaS' ? { ...line, openValue: [usd(4_210_000)] } : line,
    ),
    bySource: sample.bySource.map((line) => (line.source === null ? { ...line, ...none } : line)),
    agents: {
      ...sample.agents,
      outages: [
        { agentName: 'Outreach', beganAt: '2026-11-20T09:14:00.000Z', ...ended },
        ...sample.agents.outages,
      ],
    },
    serviceStats: [
      stat('leads', null, 3912, 3910),
      stat('open_value', 'EUR', 1_305_000, 1_304_250.5),
      stat('win_rate', null, 0.2368, 0.24),
    ],
    insight: null,
  }
}

/** A Sunday without events and problems. */
export function quietDay(): ReportFigures {
  const period = inBerlin('2026-11-22', '2026-11-23')
  const busy = busyPeriod('day', period, inBerlin('2026-11-15', '2026-11-16'))
  return {
    ...busy,
    pipelines: ['EU mid-market'],
    newLeads: { current: 0, prior: 2 },
    won: { current: 0, prior: 0 },
    lost: { current: 0, prior: 1 },
    changes: { since: period.from, coverage: NONE_IN_QUESTION, kinds: [] },
    serviceStats: [],
    dataQuality: { ...busy.dataQuality, quarantined: [], drift: [] },
    wonValue: { current: [], prior: [] },
    winRate: { current: { part: 2, whole: 7 }, prior: { part: 3, whole: 8 } },
    openValue: { current: [eur(640_000)], prior: [eur(640_000)] },
    topLeads: { minScore: 80, total: 0, rows: [] },
    stalled: { days: 14, coverage: NONE_IN_QUESTION, total: 0, rows: [] },
    agents: wellAgents(busy),
  }
}

/** Returns the agents without the one that fails. */
function wellAgents({ agents }: ReportFigures): ReportFigures['agents'] {
  return { ...agents, rows: agents.rows.filter(({ errors24h }) => errors24h === 0), outages: [] }
}

export const QUIET_GENERATED_AT = '2026-11-23T05:04:00.000Z'

/** The busy Friday, but the last whole sync was at 14:10 and the next one failed. */
export function staleDay(): ReportFigures {
  const busy = busyDay()
  const at = '2026-11-20T13:10:00.000Z'
  return {
    ...busy,
    freshness: {
      ...busy.freshness,
      dataAsOf: at,
      statsAsOf: at,
      agentsAsOf: at,
      coversPeriod: false,
      lastFailure: {
        at: '2026-11-21T05:00:00.000Z',
        code: 'api_unreachable',
        message: 'https://api.example.com answered 503 to five attempts at GET /leads',
      },
      quarantinedRecords: 3,
    },
    newLeads: { current: 31, prior: 50 },
    won: { current: 1, prior: 2 },
    wonValue: { current: [usd(22_000)], prior: [usd(41_000)] },
    funnel: { ...busy.funnel, asOf: at },
    changes: { ...busy.changes, kinds: busy.changes.kinds.slice(0, 1) },
    agents: { ...busy.agents, asOf: at },
  }
}

/** The stale Friday with every problem: sections fail, leads are missing, and the report is late. */
export function dayWithProblems(): ReportFigures {
  const stale = staleDay()
  return {
    ...stale,
    stalled: { ...stale.stalled, total: 0, rows: [] },
    agents: { asOf: null, rows: [], outages: [] },
    queries: [QUERY],
    failed: [
      { block: 'stalled', query: null, message: 'no such column: idle_days' },
      { block: 'agents', query: null, message: 'malformed JSON' },
      {
        block: 'queries',
        query: 'by-industry',
        message:
          'templates/daily/report.yaml:12:10  the queries of the report (by-industry) took longer than 30 s',
      },
    ],
    warnings: [
      { kind: 'late', from: '2026-11-21T05:55:00.000Z', to: '2026-11-21T08:10:00.000Z', why: 'down' },
      { kind: 'unusual', what: 'scope', was: 3912, is: 1204 },
      { kind: 'unusual', what: 'deletion', was: 3912, is: 1180 },
    ],
  }
}

/** The first day after the first sync. Nothing before it is known. */
export function firstDay(): ReportFigures {
  const busy = busyDay()
  return {
    ...busy,
    newLeads: { current: 59, prior: 0 },
    won: { current: 3, prior: 0 },
    wonValue: { ...busy.wonValue, prior: [] },
    winRate: { ...busy.winRate, prior: { part: 0, whole: 0 } },
    openValue: { ...busy.openValue, prior: [] },
    stalled: { days: 14, coverage: NONE_IN_QUESTION, total: 0, rows: [] },
    trend: busy.trend.map(({ day }, index) => ({ day, newLeads: index < busy.trend.length - 1 ? null : 59 })),
    agents: wellAgents(busy),
  }
}

/** A day before the first sync has ended. */
export function emptyDay(): ReportFigures {
  const empty = emptyFigures(busyDay())
  const unread = { dataAsOf: null, coversPeriod: false, statsAsOf: null, agentsAsOf: null }
  return {
    ...empty,
    freshness: { ...empty.freshness, ...unread, runId: null, requests: null },
    leads: 0,
    newLeads: { current: 0, prior: 0 },
    funnel: { ...empty.funnel, asOf: null },
    changes: { ...empty.changes, coverage: NONE_IN_QUESTION },
    stalled: { ...empty.stalled, coverage: NONE_IN_QUESTION },
  }
}

/** Returns a copy with what `change` makes of each value, which it gets with its name. */
function changedIn(figures: ReportFigures, change: (name: string, value: unknown) => unknown): ReportFigures {
  return JSON.parse(JSON.stringify(figures, change))
}

/** The week of the same Friday, for some of the leads. */
export function busyWeek(): ReportFigures {
  const busy = busyPeriod('week', inBerlin('2026-11-16', '2026-11-23'), inBerlin('2026-11-09', '2026-11-16'))
  const conditions = [
    { field: 'company_country', in: ['Germany', 'Austria'] },
    { field: 'score', min: 60, max: null },
  ]
  return { ...busy, filter: { pipelineIds: null, conditions }, funnel: { ...busy.funnel, source: 'ours' } }
}

/** A day with the widest numbers, amounts and words. */
export function wideDay(): ReportFigures {
  const million = 1_284_567
  const yen = { amount: 123_400_000, currency: 'JPY' }
  const amounts = { current: [yen, eur(400_000)], prior: [usd(400_000)] }
  const stage = { reached: million, conversion: 0.999, medianDays: 323 }
  const widest: Readonly<Record<string, unknown>> = {
    ...stage,
    ...yen,
    name: 'North America Mid-market',
    companyName: 'EquipmentShare',
    contactName: 'Bartholomew Featherstonehaugh',
    idleDays: 3_232,
    total: million,
    newLeads: million,
    won: million,
    stalled: million,
  }
  const isWhole = (value: unknown) => typeof value === 'object' && value !== null
  const busy = changedIn(busyDay(), (name, value) => (isWhole(value) ? value : (widest[name] ?? value)))
  const stages = ['Prequalification', 'Proposal/Price Quote', 'disqualified']
  const { funnel, stalled } = busy
  return {
    ...busy,
    leads: million,
    newLeads: { current: million, prior: 984_321 },
    won: { current: 12_345, prior: 98_765 },
    wonValue: amounts,
    openValue: amounts,
    winRate: { current: { part: 123_456, whole: million }, prior: { part: 1, whole: 20 } },
    funnel: { ...funnel, stages: [...stages.map((status) => ({ ...stage, status })), ...funnel.stages] },
    stalled: { ...stalled, rows: stalled.rows.map((row) => ({ ...row, status: 'disqualified' })) },
    byPipeline: busy.byPipeline.map((line) => ({ ...line, openValue: amounts.current })),
    serviceStats: [
      stat('disqualified', null, million, 984_321),
      stat('open_value', 'EUR', 12_305_000.25, 1_304_250.5),
      stat('won_value', 'JPY', 123_400_000, 23_400_000),
    ],
    queries: [
      {
        ...QUERY,
        title: 'Widest',
        columns: ['subindustry', 'new_leads', 'median_days', 'open_value'],
        rows: [
          ['Telecommunications', million, 12.5, 123_400_000.5],
          ['B2B -> Analytics', 3, 323.25, 0.5],
        ],
      },
    ],
  }
}

/** The names of what is the program's own, and of the lists that are filled. */
const OURS = ['timeZone', 'figure', 'change', 'kind', 'code', 'result']
const LISTS = ['rows', 'byPipeline', 'bySource', 'outages', 'serviceStats', 'quarantined', 'drift']

/** A day on which every list is full, and every name is as long and hostile as an upstream could send it. */
export function hostileDay(text: string): ReportFigures {
  const busy = busyDay()
  const value = { amount: 1_234_567, currency: '' }
  const lastFailure = { at: DATA_AS_OF, code: 'store_busy', message: '' }
  const more = { owner: '', fromStatus: '', idleDays: 323, value, newLeads: 1_234_567, openValue: [value] }
  const whole: ReportFigures = {
    ...busy,
    freshness: { ...busy.freshness, runId: '', lastFailure, quarantinedRecords: 7 },
    pipelines: ['', ''],
    serviceStats: [stat('open_value', '', 1_234_567.891, 7_654_321.198)],
    dataQuality: { ...busy.dataQuality, lastScan: { result: 'incomplete', at: DATA_AS_OF } },
    queries: [],
  }
  const { funnel, agents, ...said } = changedIn(whole, (name, each) => {
    if (typeof each === 'string') return OURS.includes(name) || each.startsWith('2026-') ? each : text
    if (Array.isArray(each) && LISTS.includes(name)) return Array(20).fill({ ...each.at(-1), ...more })
    return name === 'total' ? 400 : each
  })
  return {
    ...said,
    funnel: { ...funnel, source: busy.funnel.source },
    agents: { ...agents, rows: agents.rows.flatMap((agent) => [agent, { ...agent, status: 'failing' }]) },
    queries: [
      {
        ...QUERY,
        title: text,
        note: text,
        columns: [text, text],
        rows: Array(20).fill([text, 1_234_567]),
        isCut: true,
      },
    ],
  }
}

/** A query without a row. */
const QUERY: ReportFigures['queries'][number] = {
  name: 'by-industry',
  title: 'New leads by industry',
  note: null,
  sql: '',
  columns: [],
  rows: [],
  isCut: false,
}

function stat(
  figure: ReportFigures['serviceStats'][number]['figure'],
  currency: string | null,
  ours: number,
  upstream: number,
): ReportFigures['serviceStats'][number] {
  return { pipelineName: 'EU mid-market', figure, currency, ours, upstream, asOf: DATA_AS_OF }
}

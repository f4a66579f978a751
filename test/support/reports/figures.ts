/** Invented figures of busy and empty periods, for tests of the texts about them. */

import { BLOCKS } from '../../../src/domain/choices.ts'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { AgentLine, ChangedLead, ListedLead } from '../../../src/domain/lists.ts'
import type { Money } from '../../../src/domain/model.ts'
import { periodBetween } from '../../../src/domain/period.ts'
import type { BlockContext } from '../../../src/report/context.ts'
import { BLANK_LISTED } from '../data/blank-lead.ts'
import { normalTrend, trendOf } from './trend.ts'

export const GENERATED_AT = '2026-11-21T05:04:00.000Z'
const DATA_AS_OF = '2026-11-21T05:00:00.000Z'
const inBerlin = (from: string, to: string) => periodBetween(from, to, 'Europe/Berlin')
const PERIOD = inBerlin('2026-11-20', '2026-11-21')
const PRIOR = inBerlin('2026-11-13', '2026-11-14')

const usd = (amount: number): Money => ({ amount, currency: 'USD' })
const eur = (amount: number): Money => ({ amount, currency: 'EUR' })

const NONE_IN_QUESTION = { known: 0, of: 0 }
const ALL_KNOWN = { current: { known: 3912, of: 3912 }, prior: { known: 3853, of: 3853 } }

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

/** A busy Friday: two pipelines, two currencies, one failing agent. */
export function busyDay(): ReportFigures {
  return {
    kind: 'day',
    period: PERIOD,
    prior: PRIOR,
    filter: { pipelineIds: null, conditions: [] },
    freshness: {
      dataAsOf: DATA_AS_OF,
      coversPeriod: true,
      statsAsOf: DATA_AS_OF,
      agentsAsOf: DATA_AS_OF,
      lastFailure: null,
      runId: '01JDA7K2QX',
      requests: 14,
      quarantinedRecords: 0,
    },
    pipelines: ['EU mid-market', 'US growth'],
    leads: 3912,
    newLeads: { current: 59, prior: 50 },
    won: { current: 3, prior: 2 },
    lost: { current: 4, prior: 5 },
    wonValue: { current: [usd(84_000), eur(12_500)], prior: [usd(41_000)] },
    winRate: { current: { part: 45, whole: 190 }, prior: { part: 46, whole: 177 } },
    openValue: {
      current: [usd(4_210_000), eur(1_305_000)],
      prior: [usd(3_980_000), eur(1_290_000)],
    },
    known: { status: ALL_KNOWN, value: ALL_KNOWN },
    trend: trendUpTo('2026-11-20', 96),
    funnel: {
      source: 'service',
      coverage: null,
      daysCoverage: { known: 3604, of: 3604 },
      asOf: DATA_AS_OF,
      stages: [
        { status: 'discovered', reached: 3912, conversion: null, medianDays: 0.2 },
        { status: 'enriched', reached: 3604, conversion: 3604 / 3912, medianDays: 1.4 },
        { status: 'qualified', reached: 1840, conversion: 1840 / 3604, medianDays: 3.1 },
        { status: 'contacted', reached: 1422, conversion: 1422 / 1840, medianDays: 5.6 },
        { status: 'replied', reached: 488, conversion: 488 / 1422, medianDays: 4 },
        { status: 'meeting', reached: 231, conversion: 231 / 488, medianDays: 12.4 },
        { status: 'won', reached: 97, conversion: 97 / 231, medianDays: null },
      ],
    },
    changes: {
      since: PERIOD.from,
      coverage: { known: 45, of: 45 },
      kinds: [
        {
          kind: 'won',
          total: 3,
          value: [usd(84_000), eur(12_500)],
          rows: [
            changed('Halden Marine', 'meeting', 'won', usd(52_000)),
            changed('Tessera Robotics', 'meeting', 'won', usd(32_000)),
            changed('Moritz & Klein', 'meeting', 'won', eur(12_500)),
          ],
        },
        {
          kind: 'forward',
          total: 38,
          value: [usd(1_240_000)],
          rows: [
            changed('Cobalt Grid', 'replied', 'meeting', usd(120_000)),
            changed('Vela Diagnostics', 'contacted', 'replied', usd(9_500)),
            changed('Łódź Optyka', 'contacted', 'replied', null),
          ],
        },
        {
          kind: 'lost',
          total: 4,
          value: [usd(61_000)],
          rows: [
            changed('Aldgate Foods', 'meeting', 'lost', usd(48_000)),
            changed('Porter Rail', 'replied', 'lost', usd(8_000)),
            changed('Quill Legal', null, 'lost', usd(5_000)),
          ],
        },
        {
          kind: 'deleted',
          total: 1,
          value: [],
          rows: [changed('Atelier Roux', null, 'replied', usd(7_000))],
        },
      ],
    },
    topLeads: { minScore: 80, total: 12, rows: TOP_LEADS },
    stalled: { days: 14, coverage: { known: 1840, of: 1840 }, total: 14, rows: STALLED },
    byPipeline: [
      {
        id: 'eu',
        name: 'EU mid-market',
        leads: 2100,
        newLeads: 35,
        won: 2,
        winRate: { part: 26, whole: 101 },
        openValue: [eur(1_305_000)],
        stalled: 8,
      },
      {
        id: 'us',
        name: 'US growth',
        leads: 1812,
        newLeads: 24,
        won: 1,
        winRate: { part: 19, whole: 89 },
        openValue: [usd(4_210_000)],
        stalled: 6,
      },
    ],
    bySource: [
      source('crawl', 31, 2, [25, 101]),
      source('web_form', 20, 1, [18, 72]),
      source('referral', 8, 0, [2, 9]),
      source(null, 0, 0, [0, 8]),
    ],
    agents: {
      asOf: DATA_AS_OF,
      rows: [...wellAgents(11), FAILING_AGENT],
      outages: [
        {
          agentName: 'Scout-2',
          beganAt: '2026-11-20T09:14:00.000Z',
          endedAt: '2026-11-20T11:44:00.000Z',
          hours: 2.5,
        },
        { agentName: 'Scout-2', beganAt: '2026-11-20T22:14:00.000Z', endedAt: null, hours: 6.8 },
      ],
    },
    serviceStats: [
      stat('leads', null, 3912, 3910),
      stat('open_value', 'EUR', 1_305_000, 1_304_250.5),
      stat('win_rate', null, 0.2368, 0.24),
    ],
    dataQuality: {
      quarantined: [{ resource: 'lead', reason: 'the id is missing', records: 2 }],
      drift: [{ change: 'new', path: 'company.linkedin', at: '2026-11-20T08:00:00.000Z' }],
      lastScan: { result: 'complete', at: DATA_AS_OF },
    },
    insight: null,
    queries: [],
    failed: [],
    warnings: [],
  }
}

/** Returns the freshness of data that were all read at that instant. */
function freshAt(at: string): ReportFigures['freshness'] {
  return { ...busyDay().freshness, dataAsOf: at, statsAsOf: at, agentsAsOf: at }
}

/** A Sunday without events and problems. */
export function quietDay(): ReportFigures {
  const busy = busyDay()
  return {
    ...busy,
    period: inBerlin('2026-11-22', '2026-11-23'),
    prior: inBerlin('2026-11-15', '2026-11-16'),
    freshness: freshAt('2026-11-23T05:00:00.000Z'),
    pipelines: ['EU mid-market'],
    newLeads: { current: 0, prior: 2 },
    won: { current: 0, prior: 0 },
    lost: { current: 0, prior: 1 },
    changes: { since: '2026-11-21T23:00:00.000Z', coverage: NONE_IN_QUESTION, kinds: [] },
    serviceStats: [],
    dataQuality: {
      quarantined: [],
      drift: [],
      lastScan: { result: 'complete', at: '2026-11-23T05:00:00.000Z' },
    },
    wonValue: { current: [], prior: [] },
    winRate: { current: { part: 2, whole: 7 }, prior: { part: 3, whole: 8 } },
    openValue: { current: [eur(640_000)], prior: [eur(640_000)] },
    funnel: { ...busy.funnel, asOf: '2026-11-23T05:00:00.000Z' },
    topLeads: { minScore: 80, total: 0, rows: [] },
    stalled: { days: 14, coverage: NONE_IN_QUESTION, total: 0, rows: [] },
    agents: { asOf: '2026-11-23T05:00:00.000Z', rows: wellAgents(12), outages: [] },
  }
}

export const QUIET_GENERATED_AT = '2026-11-23T05:04:00.000Z'

/** The busy Friday, but the last whole sync was at 14:10 and the next one failed. */
export function staleDay(): ReportFigures {
  const busy = busyDay()
  return {
    ...busy,
    freshness: {
      ...busy.freshness,
      ...freshAt('2026-11-20T13:10:00.000Z'),
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
    funnel: { ...busy.funnel, asOf: '2026-11-20T13:10:00.000Z' },
    changes: {
      since: PERIOD.from,
      coverage: { known: 45, of: 45 },
      kinds: [
        {
          kind: 'won',
          total: 1,
          value: [usd(22_000)],
          rows: [changed('Halden Marine', 'meeting', 'won', usd(22_000))],
        },
      ],
    },
    agents: { ...busy.agents, asOf: '2026-11-20T13:10:00.000Z' },
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
    trend: trendUpTo('2026-11-20', 1),
    agents: { asOf: DATA_AS_OF, rows: wellAgents(4), outages: [] },
  }
}

/** A day before the first sync has ended. */
export function emptyDay(): ReportFigures {
  const { period, prior, filter, ...busy } = busyDay()
  const none = emptied(busy)
  return {
    ...none,
    kind: 'day',
    period,
    prior,
    filter,
    freshness: { ...none.freshness, requests: null },
    trend: trendUpTo('2026-11-20', 0),
    funnel: { ...none.funnel, source: 'service' },
    changes: { ...none.changes, since: PERIOD.from },
    topLeads: { ...none.topLeads, minScore: 80 },
    stalled: { ...none.stalled, days: 14 },
    dataQuality: { ...none.dataQuality, lastScan: null },
  }
}

/** Returns the same fields with nothing in them: no row, zero for each number, and null for each text. */
function emptied<T>(figures: T): T {
  return changedIn(figures, (_, value) => {
    if (Array.isArray(value)) return []
    if (typeof value === 'object') return value
    return { number: 0, boolean: false }[typeof value as string] ?? null
  })
}

/** Returns a copy with what `change` makes of each value, which it gets with its name. */
function changedIn<T>(figures: T, change: (name: string, value: unknown) => unknown): T {
  return JSON.parse(JSON.stringify(figures, change))
}

/** The week of the same Friday, for some of the leads. */
export function busyWeek(): ReportFigures {
  const busy = busyDay()
  const asOf = '2026-11-23T05:00:00.000Z'
  return {
    ...busy,
    kind: 'week',
    period: inBerlin('2026-11-16', '2026-11-23'),
    prior: inBerlin('2026-11-09', '2026-11-16'),
    filter: {
      pipelineIds: null,
      conditions: [
        { field: 'company_country', in: ['Germany', 'Austria'] },
        { field: 'score', min: 60, max: null },
      ],
    },
    freshness: freshAt(asOf),
    newLeads: { current: 295, prior: 301 },
    won: { current: 15, prior: 11 },
    lost: { current: 31, prior: 28 },
    wonValue: { current: [usd(391_000), eur(58_000)], prior: [usd(240_000)] },
    trend: trendUpTo('2026-11-22', 96),
    funnel: { ...busy.funnel, source: 'ours', asOf },
    changes: {
      since: '2026-11-15T23:00:00.000Z',
      coverage: busy.changes.coverage,
      kinds: busy.changes.kinds.map((each) =>
        each.kind === 'won' ? { ...each, total: 15, value: [usd(391_000), eur(58_000)] } : each,
      ),
    },
    byPipeline: inFiveDays(busy.byPipeline),
    bySource: inFiveDays(busy.bySource),
    agents: { ...busy.agents, asOf },
  }
}

/** Returns lines with five times the leads. */
function inFiveDays<T extends { newLeads: number; won: number }>(lines: readonly T[]): readonly T[] {
  return lines.map((line) => ({ ...line, newLeads: line.newLeads * 5, won: line.won * 5 }))
}

/** A day with the widest numbers, amounts and words. */
export function wideDay(): ReportFigures {
  const busy = busyDay()
  const million = 1_284_567
  const yen = { amount: 123_400_000, currency: 'JPY' }
  const amounts = { current: [yen, eur(400_000)], prior: [usd(400_000)] }
  const stage = { reached: million, conversion: 0.999, medianDays: 323 }
  const widest: Readonly<Record<string, unknown>> = {
    ...stage,
    name: 'North America Mid-market',
    companyName: 'EquipmentShare',
    contactName: 'Bartholomew Featherstonehaugh',
    idleDays: 3_232,
    value: yen,
    total: million,
    newLeads: million,
    won: million,
    stalled: million,
  }
  const widened = <T>(figures: T): T => changedIn(figures, (name, value) => widest[name] ?? value)
  const stages = ['Prequalification', 'Proposal/Price Quote', 'disqualified']
  const stalled = widened(busy.stalled)
  return {
    ...busy,
    leads: million,
    newLeads: { current: million, prior: 984_321 },
    won: { current: 12_345, prior: 98_765 },
    wonValue: amounts,
    openValue: amounts,
    winRate: { current: { part: 123_456, whole: million }, prior: { part: 1, whole: 20 } },
    funnel: {
      ...busy.funnel,
      stages: [...stages.map((status) => ({ ...stage, status })), ...widened(busy.funnel.stages)],
    },
    changes: {
      ...busy.changes,
      kinds: widened(busy.changes.kinds).map((each) => ({ ...each, value: amounts.current })),
    },
    stalled: { ...stalled, rows: stalled.rows.map((row) => ({ ...row, status: 'disqualified' })) },
    byPipeline: busy.byPipeline.map((line) => ({ ...widened(line), openValue: [yen, ...line.openValue] })),
    bySource: widened(busy.bySource),
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

/** A day on which every list is full, and every name is as long and hostile as an upstream could send it. */
export function hostileDay(text: string): ReportFigures {
  const busy = busyDay()
  const isOurs = (name: string, value: string) =>
    ['timeZone', 'figure', 'change'].includes(name) || value.startsWith('2026-')
  /** Returns a copy with the text in the place of each that is not the program's own. */
  const said = <T>(figures: T): T =>
    changedIn(figures, (name, value) => (typeof value === 'string' && !isOurs(name, value) ? text : value))
  const full = <T>(row: T, rows = 20): readonly T[] => Array(rows).fill(said(row))
  const value = { amount: 1_234_567, currency: text }
  const lead = { ...KESTREL, owner: '', companyDomain: '', value }
  const line = { leads: 400, newLeads: 1_234_567, won: 0, winRate: { part: 1, whole: 3 }, stalled: 1_234_567 }
  const agent = said(FAILING_AGENT)
  return {
    ...busy,
    freshness: {
      ...busy.freshness,
      runId: text,
      lastFailure: { at: DATA_AS_OF, code: 'store_busy', message: text },
      quarantinedRecords: 7,
    },
    pipelines: [text, text],
    funnel: { ...busy.funnel, stages: said(busy.funnel.stages) },
    topLeads: { minScore: 80, total: 400, rows: full(lead) },
    stalled: {
      days: 14,
      coverage: { known: 4000, of: 4000 },
      total: 400,
      rows: full({ ...lead, idleDays: 323 }),
    },
    changes: {
      since: PERIOD.from,
      coverage: NONE_IN_QUESTION,
      kinds: (['won', 'forward', 'back', 'lost', 'deleted', 'returned'] as const).map((kind) => ({
        kind,
        total: 400,
        value: [value],
        rows: full(changed('', '', '', value)),
      })),
    },
    byPipeline: full({ ...line, id: '', name: '', openValue: [value] }),
    bySource: full(source('', 9, 7, [5, 4])),
    agents: {
      asOf: DATA_AS_OF,
      rows: Array(15)
        .fill([agent, { ...agent, status: 'failing' }])
        .flat(),
      outages: full({ agentName: '', beganAt: PERIOD.from, endedAt: PERIOD.to, hours: 24 }, 9),
    },
    serviceStats: full(stat('open_value', '', 1_234_567.891, 7_654_321.198)),
    dataQuality: {
      quarantined: full({ resource: '', reason: '', records: 9 }, 9),
      drift: full({ change: 'new', path: '', at: PERIOD.from }, 9),
      lastScan: { result: 'incomplete', at: DATA_AS_OF },
    },
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

const LEAD: ListedLead = {
  ...BLANK_LISTED,
  id: 'l-1',
  companyName: '',
  pipelineId: 'eu',
  pipelineName: 'EU mid-market',
  status: 'enriched',
  score: null,
  source: 'crawl',
  value: null,
  createdAt: '2026-11-20T08:00:00.000Z',
  changedAt: '2026-11-20T08:30:00.000Z',
}

/** Reads a lead: its company, one-liner, country, contact with title, and score. A text may be missing. */
function top(row: string): ListedLead {
  const [companyName = '', ...cells] = row.split(' | ')
  const [oneLiner = null, country = null, name = null, title = null, score] = cells.map(
    (cell) => cell || null,
  )
  return {
    ...LEAD,
    id: companyName,
    companyName,
    companyOneLiner: oneLiner,
    companyCountry: country,
    contactName: name,
    contactTitle: title,
    score: Number(score),
  }
}

const KESTREL = top(
  'Kestrel Freight | Same-day air cargo for spare parts | Germany | Maria Štefan | Head of Operations | 96',
)
const TOP_LEADS: readonly ListedLead[] = [
  KESTREL,
  top("Bright & Sons | Bookkeeping that small builders keep up with | Ireland | Tom O'Hara | CTO | 93"),
  top(
    'Şimşek Optik | Inspection cameras for printed circuit boards | Türkiye | Zeynep Şahin | VP Sales | 91',
  ),
  top(
    'Fathom Analytics for Regional Hospitals and Care Homes |  | Sweden | Bartholomew Featherstonehaugh-Cholmondeley | Director | 88',
  ),
  top(
    'Solvei | Heat pumps, financed, installed and looked after for the whole of their life by one team | Norway |  |  | 84',
  ),
]

const STALLED = (
  [
    ['Porto Foods', 'Ana Lima', 'contacted', 33, usd(48_000)],
    ['Holm & Datter', 'Jens Holm', 'replied', 27, usd(12_000)],
    ['Kerala Textiles', 'Priya Nair', 'qualified', 21, null],
    ['Nordwind Logistik', null, 'meeting', 19, usd(230_000)],
    ['Lumen Dental', 'Grace Adeyemi', 'contacted', 16, usd(9_500)],
    ['Brasserie Lune', 'Luc Moreau', 'replied', 15, usd(7_000)],
  ] as const
).map(([companyName, contactName, status, idleDays, value]) => ({
  ...LEAD,
  id: companyName,
  companyName,
  contactName,
  pipelineName: 'US growth',
  status,
  changedAt: '2026-10-20T09:00:00.000Z',
  idleDays,
  value,
}))

function changed(company: string, from: string | null, to: string, value: Money | null): ChangedLead {
  return {
    id: company,
    companyName: company,
    pipelineName: 'EU mid-market',
    fromStatus: from,
    toStatus: to,
    at: '2026-11-20T10:00:00.000Z',
    value,
  }
}

function source(
  name: string | null,
  newLeads: number,
  won: number,
  [part, whole]: readonly [number, number],
): ReportFigures['bySource'][number] {
  return { source: name, newLeads, won, winRate: { part, whole } }
}

function stat(
  figure: ReportFigures['serviceStats'][number]['figure'],
  currency: string | null,
  ours: number,
  upstream: number,
): ReportFigures['serviceStats'][number] {
  return { pipelineName: 'EU mid-market', figure, currency, ours, upstream, asOf: DATA_AS_OF }
}

/** Returns 96 days, of which the last `known` have leads: few at weekends, and 59 on the last ones. */
function trendUpTo(last: string, known: number): ReportFigures['trend'] {
  const normal = normalTrend()
  return trendOf(96, (index) => (index < 96 - known ? null : (normal[index + 2]?.newLeads ?? 59)), last)
}

const FAILING_AGENT: AgentLine = {
  name: 'Scout-2',
  kind: 'discovery',
  status: 'failing',
  statusChangedAt: '2026-11-21T01:14:00.000Z',
  taskType: 'crawl',
  taskPipelineName: 'US growth',
  lastSeenAt: '2026-11-21T04:58:00.000Z',
  errors24h: 41,
  lastErrorMessage: 'source answered 429 Too Many Requests',
}

function wellAgents(count: number): readonly AgentLine[] {
  return Array.from({ length: count }, (_, number) => ({
    ...FAILING_AGENT,
    name: `Agent-${number + 1}`,
    status: number % 3 === 0 ? 'idle' : 'running',
    errors24h: 0,
    lastErrorMessage: null,
  }))
}

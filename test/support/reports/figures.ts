/** Invented figures of busy and empty periods, for tests of the texts about them. */

import { BLOCKS } from '../../../src/domain/choices.ts'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { AgentLine, ChangedLead, ChangeKind, ListedLead } from '../../../src/domain/lists.ts'
import type { Money } from '../../../src/domain/model.ts'
import type { BlockContext } from '../../../src/report/context.ts'
import { BLANK_LISTED } from '../data/blank-lead.ts'

export const GENERATED_AT = '2026-11-21T05:04:00.000Z'
const DATA_AS_OF = '2026-11-21T05:00:00.000Z'
const DAY_MS = 24 * 60 * 60_000
const PERIOD = {
  from: '2026-11-19T23:00:00.000Z',
  to: '2026-11-20T23:00:00.000Z',
  timeZone: 'Europe/Berlin',
}
const PRIOR = {
  from: '2026-11-12T23:00:00.000Z',
  to: '2026-11-13T23:00:00.000Z',
  timeZone: 'Europe/Berlin',
}

const NONE_IN_QUESTION = { known: 0, of: 0 }
const NOTHING_KNOWN = { current: NONE_IN_QUESTION, prior: NONE_IN_QUESTION }
const ALL_KNOWN = { current: { known: 3912, of: 3912 }, prior: { known: 3853, of: 3853 } }

/** The chart, as if its files lay beside the page. */
export const CHART: BlockContext['chart'] = {
  light: 'cid:trend-light',
  dark: 'cid:trend-dark',
  width: 552,
  height: 226,
}

export const CONTEXT: BlockContext = {
  title: 'Daily leads',
  recipient: 'dana@example.com',
  blocks: BLOCKS,
  leadUrl: null,
  moreUrl: null,
  chart: CHART,
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
    wonValue: {
      current: [
        { amount: 84_000, currency: 'USD' },
        { amount: 12_500, currency: 'EUR' },
      ],
      prior: [{ amount: 41_000, currency: 'USD' }],
    },
    winRate: { current: { part: 45, whole: 190 }, prior: { part: 46, whole: 177 } },
    openValue: {
      current: [
        { amount: 4_210_000, currency: 'USD' },
        { amount: 1_305_000, currency: 'EUR' },
      ],
      prior: [
        { amount: 3_980_000, currency: 'USD' },
        { amount: 1_290_000, currency: 'EUR' },
      ],
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
        kindOf(
          'won',
          3,
          [usd(84_000), eur(12_500)],
          [
            changed('Halden Marine', 'meeting', 'won', 52_000),
            changed('Tessera Robotics', 'meeting', 'won', 32_000),
            { ...changed('Moritz & Klein', 'meeting', 'won', null), value: eur(12_500) },
          ],
        ),
        kindOf(
          'forward',
          38,
          [usd(1_240_000)],
          [
            changed('Cobalt Grid', 'replied', 'meeting', 120_000),
            changed('Vela Diagnostics', 'contacted', 'replied', 9_500),
            changed('Łódź Optyka', 'contacted', 'replied', null),
          ],
        ),
        kindOf(
          'lost',
          4,
          [usd(61_000)],
          [
            changed('Aldgate Foods', 'meeting', 'lost', 48_000),
            changed('Porter Rail', 'replied', 'lost', 8_000),
            changed('Quill Legal', null, 'lost', 5_000),
          ],
        ),
        kindOf('deleted', 1, [], [changed('Atelier Roux', null, 'replied', 7_000)]),
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
        openValue: [{ amount: 1_305_000, currency: 'EUR' }],
        stalled: 8,
      },
      {
        id: 'us',
        name: 'US growth',
        leads: 1812,
        newLeads: 24,
        won: 1,
        winRate: { part: 19, whole: 89 },
        openValue: [{ amount: 4_210_000, currency: 'USD' }],
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
    period: { ...PERIOD, from: '2026-11-21T23:00:00.000Z', to: '2026-11-22T23:00:00.000Z' },
    prior: { ...PRIOR, from: '2026-11-14T23:00:00.000Z', to: '2026-11-15T23:00:00.000Z' },
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
    openValue: {
      current: [{ amount: 640_000, currency: 'EUR' }],
      prior: [{ amount: 640_000, currency: 'EUR' }],
    },
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
    wonValue: {
      current: [{ amount: 22_000, currency: 'USD' }],
      prior: [{ amount: 41_000, currency: 'USD' }],
    },
    funnel: { ...busy.funnel, asOf: '2026-11-20T13:10:00.000Z' },
    changes: {
      since: PERIOD.from,
      coverage: { known: 45, of: 45 },
      kinds: [kindOf('won', 1, [usd(22_000)], [changed('Halden Marine', 'meeting', 'won', 22_000)])],
    },
    agents: { ...busy.agents, asOf: '2026-11-20T13:10:00.000Z' },
  }
}

/** The stale Friday with every problem: sections fail, leads are missing, and the report is late. */
export function dayWithProblems(): ReportFigures {
  const stale = staleDay()
  const query = { note: null, sql: '', columns: [], rows: [], isCut: false }
  return {
    ...stale,
    stalled: { ...stale.stalled, total: 0, rows: [] },
    agents: { asOf: null, rows: [], outages: [] },
    queries: [{ ...query, name: 'by-industry', title: 'New leads by industry' }],
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
  const zero = { current: 0, prior: 0 }
  const noMoney = { current: [], prior: [] }
  return {
    kind: 'day',
    period: PERIOD,
    prior: PRIOR,
    filter: { pipelineIds: null, conditions: [] },
    freshness: {
      dataAsOf: null,
      coversPeriod: false,
      statsAsOf: null,
      agentsAsOf: null,
      lastFailure: null,
      runId: null,
      requests: null,
      quarantinedRecords: 0,
    },
    pipelines: [],
    leads: 0,
    newLeads: zero,
    won: zero,
    lost: zero,
    wonValue: noMoney,
    winRate: { current: { part: 0, whole: 0 }, prior: { part: 0, whole: 0 } },
    openValue: noMoney,
    known: { status: NOTHING_KNOWN, value: NOTHING_KNOWN },
    trend: trendUpTo('2026-11-20', 0),
    funnel: {
      source: 'service',
      asOf: null,
      stages: [],
      coverage: null,
      daysCoverage: NONE_IN_QUESTION,
    },
    changes: { since: PERIOD.from, coverage: NONE_IN_QUESTION, kinds: [] },
    topLeads: { minScore: 80, total: 0, rows: [] },
    stalled: { days: 14, coverage: NONE_IN_QUESTION, total: 0, rows: [] },
    byPipeline: [],
    bySource: [],
    agents: { asOf: null, rows: [], outages: [] },
    serviceStats: [],
    dataQuality: { quarantined: [], drift: [], lastScan: null },
    insight: null,
    queries: [],
    failed: [],
    warnings: [],
  }
}

/** The week of the same Friday, for some of the leads. */
export function busyWeek(): ReportFigures {
  const busy = busyDay()
  const asOf = '2026-11-23T05:00:00.000Z'
  return {
    ...busy,
    kind: 'week',
    period: { ...PERIOD, from: '2026-11-15T23:00:00.000Z', to: '2026-11-22T23:00:00.000Z' },
    prior: { ...PRIOR, from: '2026-11-08T23:00:00.000Z', to: '2026-11-15T23:00:00.000Z' },
    filter: {
      pipelineIds: null,
      conditions: [
        { field: 'company_country', in: ['Germany', 'Austria'] },
        { field: 'score', min: 60, max: null },
      ],
    },
    freshness: freshAt(asOf),
    newLeads: { current: 284, prior: 301 },
    won: { current: 14, prior: 11 },
    lost: { current: 31, prior: 28 },
    wonValue: { current: [usd(391_000), eur(58_000)], prior: [usd(240_000)] },
    trend: trendUpTo('2026-11-22', 96),
    funnel: { ...busy.funnel, source: 'ours', asOf },
    changes: {
      since: '2026-11-15T23:00:00.000Z',
      coverage: busy.changes.coverage,
      kinds: busy.changes.kinds.map((each) =>
        each.kind === 'won' ? { ...each, total: 14, value: [usd(391_000), eur(58_000)] } : each,
      ),
    },
    byPipeline: busy.byPipeline.map((line, index) => ({
      ...line,
      newLeads: index === 0 ? 169 : 115,
      won: index === 0 ? 9 : 5,
    })),
    bySource: [
      source('crawl', 151, 8, [25, 101]),
      source('web_form', 92, 5, [18, 72]),
      source('referral', 41, 1, [2, 9]),
      source(null, 0, 0, [0, 8]),
    ],
    agents: { ...busy.agents, asOf },
  }
}

/** A day with the widest numbers, amounts and words. */
export function wideDay(): ReportFigures {
  const busy = busyDay()
  const million = 1_284_567
  const counts = { current: million, prior: 984_321 }
  const yen = { amount: 123_400_000, currency: 'JPY' }
  const amounts = { current: [yen, eur(400_000)], prior: [usd(400_000)] }
  return {
    ...busy,
    leads: million,
    newLeads: counts,
    won: { current: 12_345, prior: 98_765 },
    wonValue: amounts,
    openValue: amounts,
    winRate: { current: { part: 123_456, whole: million }, prior: { part: 1, whole: 20 } },
    funnel: {
      ...busy.funnel,
      stages: ['Prequalification', 'Proposal/Price Quote', 'disqualified', ...busy.funnel.stages].map(
        (stage) => ({
          reached: million,
          conversion: 0.999,
          medianDays: 323,
          ...(typeof stage === 'string' ? { status: stage } : { status: stage.status }),
        }),
      ),
    },
    changes: {
      ...busy.changes,
      kinds: busy.changes.kinds.map((each) => ({
        ...each,
        total: million,
        value: amounts.current,
        rows: each.rows.map((row) => ({ ...row, companyName: 'EquipmentShare', value: yen })),
      })),
    },
    stalled: {
      ...busy.stalled,
      total: million,
      rows: busy.stalled.rows.map((row) => ({
        ...row,
        companyName: 'EquipmentShare',
        contactName: 'Bartholomew Featherstonehaugh',
        idleDays: 3_232,
        status: 'disqualified',
        value: yen,
      })),
    },
    byPipeline: busy.byPipeline.map((line) => ({
      ...line,
      name: 'North America Mid-market',
      newLeads: million,
      won: million,
      stalled: million,
      openValue: [yen, ...line.openValue],
    })),
    bySource: busy.bySource.map((line) => ({ ...line, newLeads: million, won: million })),
    serviceStats: [
      stat('disqualified', null, million, 984_321),
      stat('open_value', 'EUR', 12_305_000.25, 1_304_250.5),
      stat('won_value', 'JPY', 123_400_000, 23_400_000),
    ],
    queries: [
      {
        name: 'wide',
        title: 'Widest',
        note: null,
        sql: '',
        isCut: false,
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
  const agent = { ...FAILING_AGENT, name: text, kind: text, taskType: text, lastErrorMessage: text }
  return {
    ...busy,
    freshness: {
      ...busy.freshness,
      runId: text,
      lastFailure: { at: DATA_AS_OF, code: 'store_busy', message: text },
      quarantinedRecords: 7,
    },
    pipelines: [text, text],
    funnel: { ...busy.funnel, stages: busy.funnel.stages.map((stage) => ({ ...stage, status: text })) },
    topLeads: { minScore: 80, total: 400, rows: Array.from({ length: 20 }, () => hostileLead(text)) },
    stalled: {
      days: 14,
      coverage: { known: 4000, of: 4000 },
      total: 400,
      rows: Array.from({ length: 20 }, () => ({ ...hostileLead(text), idleDays: 323 })),
    },
    changes: {
      since: PERIOD.from,
      coverage: NONE_IN_QUESTION,
      kinds: (['won', 'forward', 'back', 'lost', 'deleted', 'returned'] as const).map((kind) => ({
        kind,
        total: 400,
        value: [{ amount: 1_234_567, currency: text }],
        rows: Array.from({ length: 20 }, () => ({
          ...changed(text, text, text, 1_234_567),
          pipelineName: text,
          value: { amount: 1_234_567, currency: text },
        })),
      })),
    },
    byPipeline: Array.from({ length: 20 }, () => ({
      id: text,
      name: text,
      leads: 400,
      newLeads: 1_234_567,
      won: 0,
      winRate: { part: 1, whole: 3 },
      openValue: [{ amount: 1_234_567, currency: text }],
      stalled: 1_234_567,
    })),
    bySource: Array.from({ length: 20 }, () => source(text, 9, 7, [5, 4])),
    agents: {
      asOf: DATA_AS_OF,
      rows: Array.from({ length: 30 }, (_, row) => (row % 2 ? agent : { ...agent, status: text })),
      outages: Array.from({ length: 9 }, () => ({
        agentName: text,
        beganAt: PERIOD.from,
        endedAt: PERIOD.to,
        hours: 24,
      })),
    },
    serviceStats: Array.from({ length: 20 }, () => ({
      ...stat('open_value', text, 1_234_567.891, 7_654_321.198),
      pipelineName: text,
    })),
    dataQuality: {
      quarantined: Array.from({ length: 9 }, () => ({ resource: text, reason: text, records: 9 })),
      drift: Array.from({ length: 9 }, () => ({ change: 'new' as const, path: text, at: PERIOD.from })),
      lastScan: { result: 'incomplete', at: DATA_AS_OF },
    },
    queries: [
      {
        name: 'hostile',
        title: text,
        note: text,
        sql: text,
        columns: [text, text],
        rows: Array.from({ length: 20 }, () => [text, 1_234_567]),
        isCut: true,
      },
    ],
  }
}

type StalledRow = ReportFigures['stalled']['rows'][number]

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

function hostileLead(text: string): ListedLead {
  return {
    ...LEAD,
    id: text,
    companyName: text,
    companyOneLiner: text,
    owner: text,
    companyDomain: text,
    companyCountry: text,
    contactName: text,
    contactTitle: text,
    pipelineId: text,
    pipelineName: text,
    status: text,
    score: 99,
    source: text,
    value: { amount: 1_234_567, currency: 'USD' },
  }
}

const TOP_LEADS: readonly ListedLead[] = [
  top(
    'Kestrel Freight',
    'Same-day air cargo for spare parts',
    'Germany',
    'Maria Štefan',
    'Head of Operations',
    96,
  ),
  top('Bright & Sons', 'Bookkeeping that small builders keep up with', 'Ireland', "Tom O'Hara", 'CTO', 93),
  top(
    'Şimşek Optik',
    'Inspection cameras for printed circuit boards',
    'Türkiye',
    'Zeynep Şahin',
    'VP Sales',
    91,
  ),
  top(
    'Fathom Analytics for Regional Hospitals and Care Homes',
    null,
    'Sweden',
    'Bartholomew Featherstonehaugh-Cholmondeley',
    'Director',
    88,
  ),
  top(
    'Solvei',
    'Heat pumps, financed, installed and looked after for the whole of their life by one team',
    'Norway',
    null,
    null,
    84,
  ),
]

function top(
  companyName: string,
  companyOneLiner: string | null,
  companyCountry: string,
  contactName: string | null,
  contactTitle: string | null,
  score: number,
): ListedLead {
  return {
    ...LEAD,
    id: companyName,
    companyName,
    companyOneLiner,
    companyCountry,
    contactName,
    contactTitle,
    score,
  }
}

const STALLED: readonly StalledRow[] = [
  stalled('Porto Foods', 'Ana Lima', 'contacted', 33, 48_000),
  stalled('Holm & Datter', 'Jens Holm', 'replied', 27, 12_000),
  stalled('Kerala Textiles', 'Priya Nair', 'qualified', 21, null),
  stalled('Nordwind Logistik', null, 'meeting', 19, 230_000),
  stalled('Lumen Dental', 'Grace Adeyemi', 'contacted', 16, 9_500),
  stalled('Brasserie Lune', 'Luc Moreau', 'replied', 15, 7_000),
]

function stalled(
  companyName: string,
  contactName: string | null,
  status: string,
  idleDays: number,
  amount: number | null,
): StalledRow {
  return {
    ...LEAD,
    id: companyName,
    companyName,
    contactName,
    pipelineName: 'US growth',
    status,
    changedAt: '2026-10-20T09:00:00.000Z',
    idleDays,
    value: amount === null ? null : usd(amount),
  }
}

function usd(amount: number): Money {
  return { amount, currency: 'USD' }
}

function eur(amount: number): Money {
  return { amount, currency: 'EUR' }
}

function kindOf(
  kind: ChangeKind,
  total: number,
  value: readonly Money[],
  rows: readonly ChangedLead[],
): ReportFigures['changes']['kinds'][number] {
  return { kind, total, value, rows }
}

function changed(
  companyName: string,
  fromStatus: string | null,
  toStatus: string,
  amount: number | null,
): ChangedLead {
  return {
    id: companyName,
    companyName,
    pipelineName: 'EU mid-market',
    fromStatus,
    toStatus,
    at: '2026-11-20T10:00:00.000Z',
    value: amount === null ? null : usd(amount),
  }
}

function source(
  name: string | null,
  newLeads: number,
  won: number,
  winRate: readonly [number, number],
): ReportFigures['bySource'][number] {
  return {
    source: name,
    newLeads,
    won,
    winRate: { part: winRate[0], whole: winRate[1] },
  }
}

function stat(
  figure: ReportFigures['serviceStats'][number]['figure'],
  currency: string | null,
  ours: number,
  upstream: number,
): ReportFigures['serviceStats'][number] {
  return { pipelineName: 'EU mid-market', figure, currency, ours, upstream, asOf: DATA_AS_OF }
}

/**
 * Returns 96 days, of which the last `known` have leads: many on weekdays, few at weekends, 59 and 3 on the
 * last two.
 */
function trendUpTo(last: string, known: number): ReportFigures['trend'] {
  return Array.from({ length: 96 }, (_, index) => {
    const ago = 95 - index
    const at = new Date(Date.parse(last) - ago * DAY_MS)
    const isWeekend = at.getUTCDay() % 6 === 0
    const day = at.toISOString().slice(0, 10)
    if (ago >= known) return { day, newLeads: null }
    const wave = Math.round(41 + index / 8 + 6 * Math.sin(index / 9) + ((index * 7) % 11))
    if (ago === 0) return { day, newLeads: 59 }
    return { day, newLeads: isWeekend ? Math.round(wave / 4) : wave }
  })
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

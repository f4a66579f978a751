/** Figures of made-up days, from busy to empty, for tests of what is said about them. Each is a full day. */
import type { AgentLine, DailyFigures, StalledLead, TopLead } from '../../src/model.ts'

export const GENERATED_AT = '2026-11-21T05:04:00.000Z'
const DATA_AS_OF = '2026-11-21T05:00:00.000Z'
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

export const CONTEXT = {
  title: 'Daily leads',
  recipient: 'dana@example.com',
  generatedAt: GENERATED_AT,
}

/** A Friday with much to tell: two pipelines, two currencies, one agent failing. */
export function busyDay(): DailyFigures {
  return {
    period: PERIOD,
    prior: PRIOR,
    freshness: {
      dataAsOf: DATA_AS_OF,
      coversPeriod: true,
      lastFailure: null,
      runId: '01JDA7K2QX',
      requests: 14,
      heldRows: 0,
    },
    pipelines: ['EU mid-market', 'US growth'],
    leads: 3912,
    newLeads: { current: 59, prior: 50 },
    won: { current: 3, prior: 2 },
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
    funnel: {
      asOf: DATA_AS_OF,
      stages: [
        { status: 'discovered', reached: 3912, conversion: null },
        { status: 'enriched', reached: 3604, conversion: 3604 / 3912 },
        { status: 'qualified', reached: 1840, conversion: 1840 / 3604 },
        { status: 'contacted', reached: 1422, conversion: 1422 / 1840 },
        { status: 'replied', reached: 488, conversion: 488 / 1422 },
        { status: 'meeting', reached: 231, conversion: 231 / 488 },
        { status: 'won', reached: 97, conversion: 97 / 231 },
      ],
    },
    topLeads: { minScore: 80, total: 12, rows: TOP_LEADS },
    stalled: { days: 14, total: 14, rows: STALLED },
    agents: { asOf: DATA_AS_OF, rows: [...wellAgents(11), FAILING_AGENT] },
  }
}

/** A Sunday on which nothing happened and nothing is wrong. */
export function quietDay(): DailyFigures {
  const busy = busyDay()
  return {
    ...busy,
    period: { ...PERIOD, from: '2026-11-21T23:00:00.000Z', to: '2026-11-22T23:00:00.000Z' },
    prior: { ...PRIOR, from: '2026-11-14T23:00:00.000Z', to: '2026-11-15T23:00:00.000Z' },
    freshness: { ...busy.freshness, dataAsOf: '2026-11-23T05:00:00.000Z' },
    pipelines: ['EU mid-market'],
    newLeads: { current: 0, prior: 2 },
    won: { current: 0, prior: 0 },
    wonValue: { current: [], prior: [] },
    winRate: { current: { part: 2, whole: 7 }, prior: { part: 3, whole: 8 } },
    openValue: {
      current: [{ amount: 640_000, currency: 'EUR' }],
      prior: [{ amount: 640_000, currency: 'EUR' }],
    },
    funnel: { ...busy.funnel, asOf: '2026-11-23T05:00:00.000Z' },
    topLeads: { minScore: 80, total: 0, rows: [] },
    stalled: { days: 14, total: 0, rows: [] },
    agents: { asOf: '2026-11-23T05:00:00.000Z', rows: wellAgents(12) },
  }
}

export const QUIET_CONTEXT = { ...CONTEXT, generatedAt: '2026-11-23T05:04:00.000Z' }

/** The busy Friday, but the last whole sync was at 14:10 and the one after it failed. */
export function staleDay(): DailyFigures {
  const busy = busyDay()
  return {
    ...busy,
    freshness: {
      ...busy.freshness,
      dataAsOf: '2026-11-20T13:10:00.000Z',
      coversPeriod: false,
      lastFailure: {
        at: '2026-11-21T05:00:00.000Z',
        message: 'https://api.example.com answered 503 to five attempts at GET /leads',
      },
      heldRows: 3,
    },
    newLeads: { current: 31, prior: 50 },
    won: { current: 1, prior: 2 },
    wonValue: {
      current: [{ amount: 22_000, currency: 'USD' }],
      prior: [{ amount: 41_000, currency: 'USD' }],
    },
    funnel: { ...busy.funnel, asOf: '2026-11-20T13:10:00.000Z' },
    agents: { ...busy.agents, asOf: '2026-11-20T13:10:00.000Z' },
  }
}

/** The first day after the first sync: nothing before it is known. */
export function firstDay(): DailyFigures {
  const busy = busyDay()
  return {
    ...busy,
    newLeads: { current: 59, prior: 0 },
    won: { current: 3, prior: 0 },
    wonValue: { ...busy.wonValue, prior: [] },
    winRate: { ...busy.winRate, prior: { part: 0, whole: 0 } },
    openValue: { ...busy.openValue, prior: [] },
    stalled: { days: 14, total: 0, rows: [] },
    agents: { asOf: DATA_AS_OF, rows: wellAgents(4) },
  }
}

/** No sync has ever ended. */
export function emptyDay(): DailyFigures {
  const zero = { current: 0, prior: 0 }
  const noMoney = { current: [], prior: [] }
  return {
    period: PERIOD,
    prior: PRIOR,
    freshness: {
      dataAsOf: null,
      coversPeriod: false,
      lastFailure: null,
      runId: null,
      requests: null,
      heldRows: 0,
    },
    pipelines: [],
    leads: 0,
    newLeads: zero,
    won: zero,
    wonValue: noMoney,
    winRate: { current: { part: 0, whole: 0 }, prior: { part: 0, whole: 0 } },
    openValue: noMoney,
    funnel: { asOf: null, stages: [] },
    topLeads: { minScore: 80, total: 0, rows: [] },
    stalled: { days: 14, total: 0, rows: [] },
    agents: { asOf: null, rows: [] },
  }
}

/** Every list full and every name as long and as hostile as an upstream could send it. */
export function hostileDay(text: string): DailyFigures {
  const busy = busyDay()
  const agent = { ...FAILING_AGENT, name: text, kind: text, taskType: text, lastErrorMessage: text }
  return {
    ...busy,
    freshness: {
      ...busy.freshness,
      runId: text,
      lastFailure: { at: DATA_AS_OF, message: text },
      heldRows: 7,
    },
    pipelines: [text, text],
    funnel: { ...busy.funnel, stages: busy.funnel.stages.map((stage) => ({ ...stage, status: text })) },
    topLeads: {
      minScore: 80,
      total: 400,
      rows: Array.from({ length: 20 }, (_, row) => ({
        id: String(row),
        companyName: text,
        companyOneLiner: text,
        companyCountry: text,
        contactName: text,
        contactTitle: text,
        pipelineName: text,
        status: text,
        score: 99,
        source: text,
      })),
    },
    stalled: {
      days: 14,
      total: 400,
      rows: Array.from({ length: 20 }, (_, row) => ({
        id: String(row),
        companyName: text,
        contactName: text,
        pipelineName: text,
        status: text,
        updatedAt: '2026-01-01T00:00:00.000Z',
        idleDays: 323,
        value: { amount: 1_234_567, currency: 'USD' },
      })),
    },
    agents: {
      asOf: DATA_AS_OF,
      rows: Array.from({ length: 30 }, (_, row) => (row % 2 ? agent : { ...agent, status: text })),
    },
  }
}

const TOP_LEADS: readonly TopLead[] = [
  top(
    'Kestrel Freight',
    'Same-day air cargo for spare parts',
    'Germany',
    'Maria Štefan',
    'Head of Operations',
    96,
  ),
  top('Bright & Sons', 'Bookkeeping that small builders keep up with', 'Ireland', "Tom O'Hara", 'CTO', 93),
  top('深圳凯欣', 'Inspection cameras for printed circuit boards', 'China', '王芳', 'VP Sales', 91),
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
): TopLead {
  return {
    id: companyName,
    companyName,
    companyOneLiner,
    companyCountry,
    contactName,
    contactTitle,
    pipelineName: 'EU mid-market',
    status: 'enriched',
    score,
    source: 'crawl',
  }
}

const STALLED: readonly StalledLead[] = [
  stalled('Porto Foods', 'Ana Lima', 'contacted', 33, 48_000),
  stalled('Holm & Datter', 'Jens Holm', 'replied', 27, 12_000),
  stalled('Kerala Textiles', 'Priya Nair', 'qualified', 21, null),
  stalled('Nordwind Logistik', null, 'meeting_booked', 19, 230_000),
  stalled('Lumen Dental', 'Grace Adeyemi', 'contacted', 16, 9_500),
  stalled('Atelier Roux', 'Luc Roux', 'replied', 15, 7_000),
]

function stalled(
  companyName: string,
  contactName: string | null,
  status: string,
  idleDays: number,
  amount: number | null,
): StalledLead {
  return {
    id: companyName,
    companyName,
    contactName,
    pipelineName: 'US growth',
    status,
    updatedAt: '2026-10-20T09:00:00.000Z',
    idleDays,
    value: amount === null ? null : { amount, currency: 'USD' },
  }
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

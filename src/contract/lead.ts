/** The schemas of leads in the API, in the list and singly, and of the list's query. */
import { z } from 'zod'

/** In the order of the sales funnel. `outcome` says how a lead with the status is counted. */
export const STAGES = [
  { status: 'discovered', outcome: 'open' },
  { status: 'enriched', outcome: 'open' },
  { status: 'qualified', outcome: 'open' },
  { status: 'contacted', outcome: 'open' },
  { status: 'replied', outcome: 'open' },
  { status: 'meeting', outcome: 'open' },
  { status: 'won', outcome: 'won' },
  { status: 'lost', outcome: 'lost' },
  { status: 'disqualified', outcome: 'disqualified' },
] as const

export const LEAD_STATUSES = STAGES.map((stage) => stage.status)
export type LeadStatus = (typeof STAGES)[number]['status']

/** The statuses on the way to a won deal, `won` included. `lost` and `disqualified` are left out. */
export const FUNNEL_STATUSES: readonly LeadStatus[] = STAGES.filter(
  ({ outcome }) => outcome === 'open' || outcome === 'won',
).map(({ status }) => status)

/** RFC 3339 in UTC, such as `2026-11-20T08:15:00.000Z`. Only a request may leave out the milliseconds. */
export const instantSchema = z.iso.datetime('expected an instant in UTC such as 2026-11-20T08:15:00.000Z')

const companySchema = z.object({
  name: z.string(),
  domain: z.string().nullable(),
  industry: z.string().nullable(),
  subindustry: z.string().nullable(),
  employees: z.int().nonnegative().nullable(),
  city: z.string().nullable(),
  country: z.string().nullable(),
  region: z.string().nullable(),
  one_liner: z.string().nullable(),
})

const contactSchema = z.object({
  name: z.string(),
  title: z.string().nullable(),
  email: z.email().nullable(),
})

export const moneySchema = z.object({
  /** In whole units of the currency. */
  amount: z.number(),
  currency: z.string().length(3),
})

const leadShape = {
  id: z.string().min(1),
  pipeline_id: z.string().min(1),
  status: z.enum(LEAD_STATUSES),
  company: companySchema,
  contact: contactSchema.nullable(),
  /** Null until the lead is scored. */
  score: z.int().min(0).max(100).nullable(),
  /** The expected value of the deal; null until the lead is qualified. */
  value: moneySchema.nullable(),
  source: z.string(),
  /** The name of the person who sells to the lead. */
  owner: z.string().nullable(),
  agent_id: z.string().nullable(),
  tags: z.array(z.string()),
  created_at: instantSchema,
  updated_at: instantSchema,
  status_changed_at: instantSchema,
  /** Null until the lead has had a meeting. A date alone is its midnight in UTC. */
  expected_close_at: instantSchema.nullable(),
}

const leadSchema = z.object(leadShape)
export type WireLead = z.infer<typeof leadSchema>

const activitySchema = z.object({
  id: z.string(),
  type: z.enum(['discovered', 'enriched', 'scored', 'status_changed', 'note', 'error']),
  at: instantSchema,
  agent_id: z.string().nullable(),
  summary: z.string(),
  from_status: z.enum(LEAD_STATUSES).nullable(),
  to_status: z.enum(LEAD_STATUSES).nullable(),
})
export type WireActivity = z.infer<typeof activitySchema>

export const leadDetailSchema = z.object({
  ...leadShape,
  enrichment: z.looseObject({}).nullable(),
  activity: z.array(activitySchema),
})
export type WireLeadDetail = z.infer<typeof leadDetailSchema>

const PAGE_LIMIT_DEFAULT = 100
export const PAGE_LIMIT_MAX = 1000

export const LEAD_SORTS = [
  'created_at',
  '-created_at',
  'updated_at',
  '-updated_at',
  'score',
  '-score',
  'id',
] as const

/** An empty text is refused, so that `limit=` is not read as 0. */
const digits = (number: z.ZodInt) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    number,
  )

const repeatable = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).optional(),
  )

/** The query string of `GET /leads`. An unknown parameter is an error. */
export const leadQuerySchema = z.strictObject({
  pipeline_id: z.string().optional(),
  status: repeatable(z.enum(LEAD_STATUSES)),
  updated_since: instantSchema.optional(),
  created_since: instantSchema.optional(),
  min_score: digits(z.int().min(0).max(100)).optional(),
  /** Words that must all occur in the names, domain or address of company and contact. */
  q: z.string().trim().min(1).max(200).optional(),
  sort: z.enum(LEAD_SORTS).default('updated_at'),
  limit: digits(z.int().min(1).max(PAGE_LIMIT_MAX)).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().optional(),
})
export type LeadQuery = z.infer<typeof leadQuerySchema>

const pageSchema = z.object({
  next_cursor: z.string().nullable(),
  has_more: z.boolean(),
  total: z.int().nonnegative(),
})

export const leadListSchema = z.object({ data: z.array(leadSchema), page: pageSchema })
export type WireLeadList = z.infer<typeof leadListSchema>

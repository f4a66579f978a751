/**
 * The schemas of leads in the API: a lead in a list, a single lead with its details, and the query string and
 * answer of the list.
 */
import { z } from 'zod'

/**
 * The statuses of a lead in the order of the sales funnel. `outcome` says how a lead with the status is
 * counted.
 */
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

/**
 * The format of an instant: RFC 3339 in UTC, such as `2026-11-20T08:15:00.000Z`. Only a request may leave out
 * the milliseconds.
 */
export const instantSchema = z.iso.datetime('expected an instant in UTC such as 2026-11-20T08:15:00.000Z')

const companySchema = z
  .object({
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
  .meta({ id: 'Company' })

const contactSchema = z
  .object({ name: z.string(), title: z.string().nullable(), email: z.email().nullable() })
  .meta({ id: 'Contact' })

export const moneySchema = z
  .object({
    amount: z.number().meta({ description: 'in whole units of the currency' }),
    currency: z.string().length(3).meta({ description: 'ISO 4217' }),
  })
  .meta({ id: 'Money' })

const leadShape = {
  id: z.string().min(1),
  pipeline_id: z.string().min(1),
  status: z.enum(LEAD_STATUSES),
  company: companySchema,
  contact: contactSchema.nullable(),
  score: z.int().min(0).max(100).nullable().meta({ description: '0 to 100, null until scored' }),
  value: moneySchema.nullable().meta({ description: 'expected deal value, null until qualified' }),
  source: z.string().meta({ description: 'where the agent found the company' }),
  agent_id: z.string().nullable().meta({ description: 'the agent that worked on the lead last' }),
  tags: z.array(z.string()),
  created_at: instantSchema,
  updated_at: instantSchema,
  status_changed_at: instantSchema,
}

const leadSchema = z.object(leadShape).meta({ id: 'Lead' })
export type WireLead = z.infer<typeof leadSchema>

const activitySchema = z
  .object({
    id: z.string(),
    type: z.enum(['discovered', 'enriched', 'scored', 'status_changed', 'note', 'error']),
    at: instantSchema,
    agent_id: z.string().nullable(),
    summary: z.string(),
    from_status: z.enum(LEAD_STATUSES).nullable(),
    to_status: z.enum(LEAD_STATUSES).nullable(),
  })
  .meta({ id: 'Activity' })
export type WireActivity = z.infer<typeof activitySchema>

export const leadDetailSchema = z
  .object({
    ...leadShape,
    enrichment: z.looseObject({}).nullable().meta({
      description: 'open object: technologies, funding, hiring, social, and a confidence for each',
    }),
    activity: z.array(activitySchema).meta({ description: 'oldest first' }),
  })
  .meta({ id: 'LeadDetail' })
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

/**
 * The format of a whole number in a query string. An empty text is refused, so that `limit=` is not read as
 * 0.
 */
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
  status: repeatable(z.enum(LEAD_STATUSES)).meta({ description: 'repeatable' }),
  updated_since: instantSchema.optional().meta({ description: 'updated_at at or after this instant' }),
  created_since: instantSchema.optional().meta({ description: 'created_at at or after this instant' }),
  min_score: digits(z.int().min(0).max(100)).optional(),
  q: z.string().trim().min(1).max(200).optional().meta({
    description: 'words that must all occur in the names, domain or address of company and contact',
  }),
  sort: z.enum(LEAD_SORTS).default('updated_at'),
  limit: digits(z.int().min(1).max(PAGE_LIMIT_MAX)).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().optional().meta({ description: 'opaque; from page.next_cursor of the page before' }),
})
export type LeadQuery = z.infer<typeof leadQuerySchema>

const pageSchema = z
  .object({
    next_cursor: z.string().nullable(),
    has_more: z.boolean(),
    total: z.int().nonnegative().meta({ description: 'leads that match the filters at this moment' }),
  })
  .meta({ id: 'Page' })

export const leadListSchema = z
  .object({ data: z.array(leadSchema), page: pageSchema })
  .meta({ id: 'LeadList' })
export type WireLeadList = z.infer<typeof leadListSchema>

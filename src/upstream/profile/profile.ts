/**
 * The profile: the settings that describe an upstream's API, such as its endpoints, its key, its paging and
 * its fields. A profile is checked when it is loaded. Its defaults fit most list APIs. The profile of the
 * reference service is built in, see `reference-profile.ts`.
 */
import { z } from 'zod'
import { API_PREFIX } from '../../contract/api.ts'
import { LEAD_FIELDS } from '../../domain/lead-fields.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { fieldPathSchema } from '../values/json.ts'
import { declaredFieldsSchema } from './declared-field.ts'
import { fieldRuleSchema, placeSchema } from './field-rule.ts'
import { explainIssue, group, type NamePlace } from './profile-mistakes.ts'
import { webhookProfileSchema } from './webhook-profile.ts'

/** A path below the base URL, `.` for the base URL itself, a whole URL, or `none`. */
const endpoint = z.string().min(1)
export type Place = z.output<typeof placeSchema>

const endpointsSchema = group({
  leads: endpoint.default(`${API_PREFIX}/leads`),
  lead: endpoint.default(`${API_PREFIX}/leads/{id}`),
  pipelines: endpoint.default(`${API_PREFIX}/pipelines`),
  stats: endpoint.default(`${API_PREFIX}/pipelines/{id}/stats`),
  webhooks: endpoint.default(`${API_PREFIX}/webhooks`),
  agents: endpoint.default(`${API_PREFIX}/agents/status`),
})
export type EndpointName = keyof z.output<typeof endpointsSchema>

/** The name and the value of a header (RFC 9110, 5.5 and 5.6.2). */
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'the name of a header' })
const headerValue = z
  .string()
  .regex(/^[\t -~\u{80}-\u{ff}]*$/u, { error: 'the value of a header, in one line' })

/** The way in which a request carries the API key; `probe/auth-probe.ts` detects it for an unknown upstream. */
const authSchema = group({
  header: headerName.default('Authorization'),
  /**
   * `{basic}` is the key in base64, as HTTP Basic sends it: `user:password` or a user name. Empty: no header.
   */
  value: headerValue.default('Bearer {key}'),
  query: z.string().min(1).optional(),
  /** Further headers of every request. `{key}` and `{basic}` are replaced in their values too. */
  headers: z.record(headerName, headerValue).default({}),
}).refine((auth) => sendsKey(auth) || (auth.value === '' && Object.keys(auth.headers).length > 0), {
  path: ['value'],
  message: 'a text with {key} or {basic}, or the key would never be sent; where none is wanted, auth: none',
})

interface AuthParts {
  readonly value: string
  readonly query?: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

export function sendsKey(auth: AuthParts | 'none'): boolean {
  if (auth === 'none') return false
  const texts = [auth.value, ...Object.values(auth.headers)]
  return auth.query !== undefined || texts.some((text) => /\{(key|basic)\}/.test(text))
}

const size = {
  size_param: z.string().min(1).optional(),
  size_max: z.int().min(1).default(1000),
}
const more = {
  has_more: fieldPathSchema.optional(),
  /** The place of the number of all records, which ends a list only if `stop_at_total` is true. */
  total: placeSchema.optional(),
}
/** For upstreams that answer a request past the last page with an error or with the last page again. */
const stop_at_total = z.boolean().default(false)

export const pagingSchema = z.discriminatedUnion('kind', [
  group({
    kind: z.literal('cursor'),
    param: z.string(),
    next: placeSchema,
    /** The cursors that mean the end, besides null, false and an empty text; by default 0, -1, "#" and words for null. */
    end: z.array(z.union([z.string(), z.number()])).optional(),
    ...size,
    ...more,
  }),
  group({
    kind: z.literal('page'),
    param: z.string(),
    start: z.int().min(0).default(1),
    /** The place of the number of pages. If it is set, no page after the last one is requested. */
    pages: placeSchema.optional(),
    stop_at_total,
    ...size,
    ...more,
  }),
  group({
    kind: z.literal('offset'),
    param: z.string(),
    start: z.int().min(0).default(0),
    stop_at_total,
    ...size,
    ...more,
  }),
  group({ kind: z.literal('next_url'), next: fieldPathSchema, ...size, ...more }),
  /** Follows the `Link` header (RFC 8288). */
  group({ kind: z.literal('link'), ...size, ...more }),
  /** Requests records by the `Range` header. */
  group({
    kind: z.literal('range'),
    unit: z.string().default('items'),
    size_max: size.size_max,
    ...more,
  }),
  /** Sends the id of the last record to get the records after it. */
  group({ kind: z.literal('last_id'), param: z.string(), id: fieldPathSchema, ...size, ...more }),
  group({ kind: z.literal('none'), ...size, ...more }),
])
export type PagingProfile = z.output<typeof pagingSchema>

/** A part of a JSON body, as the API wants it. */
const jsonTemplate = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())])

/** A filter by time. In `value`, `{value}` stands for the time, which is written in `format`. */
const timeFilter = group({
  param: z.string().min(1),
  format: z.enum(['iso', 'iso_seconds', 'epoch_s', 'epoch_ms', 'date', 'datetime']).default('iso'),
  /** A text, or JSON whose texts may have `{value}`, such as `{ after: "{value}" }`. */
  value: z.union([z.string(), jsonTemplate]).default('{value}'),
  /** Says whether the filter is a query parameter or a header, such as If-Modified-Since. */
  in: z.enum(['query', 'header']).default('query'),
})
export type TimeFilter = z.output<typeof timeFilter>

const filtersSchema = group({
  updated_since: timeFilter.optional(),
  created_since: timeFilter.optional(),
  pipeline: z.string().min(1).optional(),
  status: z.string().min(1).optional(),
  min_score: z.string().min(1).optional(),
  q: z.string().min(1).optional(),
})

const rules = <const T extends readonly string[]>(names: T) =>
  group(
    Object.fromEntries(names.map((name) => [name, fieldRuleSchema.optional()])) as {
      [K in T[number]]: z.ZodOptional<typeof fieldRuleSchema>
    },
  )

const LEAD_COLUMNS = LEAD_FIELDS.map(({ column }) => column)
export const STAT_FIELDS = [
  'name',
  'status',
  'as_of',
  'leads',
  'open',
  'won',
  'lost',
  'disqualified',
  'win_rate',
  'open_value_amount',
  'open_value_currency',
  'won_value_amount',
  'won_value_currency',
] as const
export const STAGE_STAT_FIELDS = ['status', 'current', 'reached', 'conversion', 'median_hours'] as const
export const ACTIVITY_FIELDS = [
  'id',
  'at',
  'type',
  'agent_id',
  'summary',
  'from_status',
  'to_status',
] as const
export const AGENT_FIELDS = [
  'id',
  'name',
  'kind',
  'status',
  'status_changed_at',
  'task_type',
  'task_pipeline_id',
  'task_lead_id',
  'task_started_at',
  'task_progress',
  'last_seen_at',
  'tasks_24h',
  'errors_24h',
  'last_error_at',
  'last_error_message',
] as const

const mappingSchema = group({
  lead: rules(LEAD_COLUMNS).refine((fields) => fields.id !== undefined, {
    message: 'says where the id is',
    path: ['id'],
  }),
  stat: rules(STAT_FIELDS).default({}),
  /** The field that marks a lead as deleted; by default the usual names, see `lead-mapping.ts`. */
  deleted: fieldRuleSchema.optional(),
  stages: group({ items: fieldPathSchema, fields: rules(STAGE_STAT_FIELDS) }).optional(),
  agent: rules(AGENT_FIELDS).default({}),
  /** The path of the enrichment (additional data) in the answer for a single lead. */
  enrichment: fieldPathSchema.optional(),
  activity: group({
    items: fieldPathSchema,
    fields: rules(ACTIVITY_FIELDS).refine((fields) => fields.at !== undefined, {
      message: 'says when it happened',
      path: ['at'],
    }),
  }).optional(),
})

export const profileSchema = group({
  name: z.string().min(1),
  endpoints: endpointsSchema.prefault({}),
  auth: z.union([z.literal('none'), authSchema]).prefault({}),
  /**
   * For a list that is asked for by POST. The parameters of paging, filters and sort are then places in the body,
   * such as `paging.after` or `filters[0].value`, and `body` has what each request sends beside them.
   */
  request: group({
    method: z.literal('POST'),
    body: z.record(z.string(), z.unknown(), { error: 'an object, such as {limit: 100}' }).default({}),
  }).optional(),
  paging: pagingSchema,
  /** An empty path means that the answer itself is the record or the list. */
  envelope: group({
    leads: fieldPathSchema.default([]),
    lead: fieldPathSchema.default([]),
    stats: fieldPathSchema.default([]),
    agents: fieldPathSchema.default([]),
    /** The path of an error message, for upstreams that report errors with status 200. */
    error: fieldPathSchema.optional(),
  }).prefault({}),
  filters: filtersSchema.prefault({}),
  /** The query parameters that sort the list, so that records keep their order while pages are read. */
  sort: z.record(z.string(), z.string()).default({}),
  mapping: mappingSchema,
  /** Further fields of the records that become columns, see `declared-field.ts`. */
  fields: declaredFieldsSchema.prefault({}),
  stages: z
    .array(
      group({
        status: z.string().min(1),
        outcome: z.enum(['open', 'won', 'lost', 'disqualified']).default('open'),
        in_funnel: z.boolean().optional(),
        /** A lead in a later stage counts too. */
        qualified: z.boolean().optional(),
      }),
    )
    .default([]),
  limits: group({
    requests_per_second: z.number().positive().max(1000).optional(),
    /** The maximum number of pages that are fetched at the same time, if the paging allows it. */
    concurrency: z.int().min(1).max(16).default(6),
    max_pages: z.int().min(1).default(10_000),
    /** The number of records after which the upstream ends each search. The list is then read by time of change. */
    search_records: z.int().min(1).optional(),
  }).prefault({}),
  webhook: webhookProfileSchema.optional(),
}).refine(
  ({ limits, filters, mapping }) =>
    limits.search_records === undefined ||
    (filters.updated_since !== undefined && mapping.lead.updated_at !== undefined),
  {
    path: ['limits', 'search_records'],
    message:
      'a list that can be asked for changes: filters.updated_since and mapping.lead.updated_at, by which a new search goes on where the one before ended',
  },
)
export type Profile = z.output<typeof profileSchema>
export type ProfileInput = z.input<typeof profileSchema>

/**
 * Checks a profile and returns it with its defaults.
 * @param origin the name of the file, or a function that returns the place of a part
 * @throws LeadsheetError config_invalid with a line for each mistake
 */
export function parseProfile(data: unknown, origin: string | NamePlace): Profile {
  const parsed = profileSchema.safeParse(data)
  if (parsed.success) return parsed.data
  const nameOf: NamePlace =
    typeof origin === 'string' ? (path) => `${origin}  ${path.join('.') || 'the profile'}` : origin
  const lines = parsed.error.issues.flatMap((issue) => explainIssue(issue, data, nameOf))
  throw new LeadsheetError('config_invalid', `The profile has mistakes:\n${lines.join('\n')}`, {
    hint: `${shellCommand('probe URL -o FILE')} writes one; docs/reference/profile.md explains its parts.`,
  })
}

/** The schemas of pipelines (criteria and statistics) and of agents (task and counts) in the API. */
import { z } from 'zod'
import { instantSchema, LEAD_STATUSES, moneySchema } from './lead.ts'

export const criteriaSchema = z.strictObject({
  industries: z.array(z.string().min(1)).max(50).default([]),
  regions: z.array(z.string().min(1)).max(50).default([]),
  countries: z.array(z.string().min(1)).max(250).default([]),
  employees: z
    .strictObject({ min: z.int().nonnegative().optional(), max: z.int().nonnegative().optional() })
    .refine((range) => (range.min ?? 0) <= (range.max ?? Number.MAX_SAFE_INTEGER), 'min is above max')
    .optional(),
  keywords: z.array(z.string().min(1)).max(50).default([]),
  /** The search stops after this many leads. */
  limit: z.int().min(1).max(100_000).optional(),
})
export type Criteria = z.infer<typeof criteriaSchema>

export const pipelineCreateSchema = z.strictObject({
  name: z.string().trim().min(1).max(120),
  criteria: criteriaSchema,
})
export type PipelineCreate = z.infer<typeof pipelineCreateSchema>

export const PIPELINE_STATUSES = ['active', 'paused', 'completed'] as const

export const pipelineSchema = z.object({
  id: z.string(),
  name: z.string(),
  criteria: criteriaSchema,
  status: z.enum(PIPELINE_STATUSES),
  created_at: instantSchema,
  updated_at: instantSchema,
})
export type WirePipeline = z.infer<typeof pipelineSchema>

export const statsQuerySchema = z
  .strictObject({ from: instantSchema.optional(), to: instantSchema.optional() })
  .refine(
    (query) =>
      query.from === undefined || query.to === undefined || Date.parse(query.from) < Date.parse(query.to),
    {
      message: 'from must be before to',
      path: ['from'],
    },
  )

const rate = z.number().min(0).max(1).nullable()

const stageStatSchema = z.object({
  stage: z.enum(LEAD_STATUSES),
  /** The leads that have the status now. */
  current: z.int(),
  /** The leads that ever had the status or a later one. */
  reached: z.int(),
  /** `reached`, divided by that of the stage before; null if that is 0, and for the first stage. */
  conversion: rate,
  /** The median time in the stage, of the leads that left it. */
  median_hours: z.number().nullable(),
})

export const pipelineStatsSchema = z.object({
  pipeline_id: z.string(),
  name: z.string(),
  status: z.enum(PIPELINE_STATUSES),
  /** The statistics count the leads that were created from `from` until before `to`; null has no limit. */
  from: instantSchema.nullable(),
  to: instantSchema.nullable(),
  as_of: instantSchema,
  totals: z.object({
    leads: z.int(),
    open: z.int(),
    won: z.int(),
    lost: z.int(),
    disqualified: z.int(),
  }),
  stages: z.array(stageStatSchema),
  open_value: moneySchema,
  won_value: moneySchema,
  /** The won leads, divided by the won and the lost ones. */
  win_rate: rate,
})
export type WirePipelineStats = z.infer<typeof pipelineStatsSchema>

const AGENT_KINDS = ['discovery', 'enrichment', 'scoring', 'outreach'] as const
export const AGENT_STATUSES = ['running', 'idle', 'failing', 'paused'] as const

const agentSchema = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(AGENT_KINDS),
  status: z.enum(AGENT_STATUSES),
  status_changed_at: instantSchema,
  current_task: z
    .object({
      type: z.string(),
      pipeline_id: z.string().nullable(),
      lead_id: z.string().nullable(),
      started_at: instantSchema,
      progress: z.number().min(0).max(1),
    })
    .nullable(),
  last_seen_at: instantSchema,
  last_24h: z.object({ tasks: z.int(), errors: z.int() }),
  last_error: z.object({ at: instantSchema, message: z.string() }).nullable(),
})
export type WireAgent = z.infer<typeof agentSchema>

export const agentListSchema = z.object({ data: z.array(agentSchema), as_of: instantSchema })

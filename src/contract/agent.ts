/** Agents on the wire: the current task of each, and its last 24 hours. */
import { z } from 'zod'
import { instantSchema } from './lead.ts'

export const AGENT_KINDS = ['discovery', 'enrichment', 'scoring', 'outreach'] as const
export const AGENT_STATUSES = ['running', 'idle', 'failing', 'paused'] as const

export const agentSchema = z
  .object({
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
  .meta({ id: 'Agent' })
export type WireAgent = z.infer<typeof agentSchema>

export const agentListSchema = z
  .object({ data: z.array(agentSchema), as_of: instantSchema })
  .meta({ id: 'AgentList' })

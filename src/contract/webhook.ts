/** Webhook registrations on the wire, and the events that are sent to them. */
import { z } from 'zod'
import { AGENT_STATUSES } from './agent.ts'
import { instantSchema } from './lead.ts'
import { PIPELINE_STATUSES } from './pipeline.ts'
import { LEAD_STATUSES } from './stage.ts'

export const EVENT_TYPES = [
  'lead.created',
  'lead.updated',
  'lead.status_changed',
  'lead.removed',
  'pipeline.created',
  'pipeline.updated',
  'agent.status_changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const webhookCreateSchema = z
  .strictObject({
    url: z.url({ protocol: /^https?$/ }).max(2000),
    events: z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length),
    description: z.string().max(200).optional(),
  })
  .meta({ id: 'WebhookCreate' })
export type WebhookCreate = z.infer<typeof webhookCreateSchema>

export const webhookSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(EVENT_TYPES)),
    description: z.string().nullable(),
    status: z.enum(['active', 'disabled']),
    secret: z.string().meta({ description: 'signs deliveries; shown only in this answer' }),
    created_at: instantSchema,
  })
  .meta({ id: 'Webhook' })
export type WireWebhook = z.infer<typeof webhookSchema>

const leadKeys = { lead_id: z.string(), pipeline_id: z.string() }
const leadStatus = z.enum(LEAD_STATUSES)
const pipelineData = z.object({
  pipeline_id: z.string(),
  name: z.string(),
  status: z.enum(PIPELINE_STATUSES),
})

const envelope = <T extends EventType, D extends z.ZodType>(type: T, data: D) =>
  z.object({ id: z.string(), type: z.literal(type), at: instantSchema, data })

/** What happened, thin on purpose: it names the resource, whose newest state is a GET away. */
export const eventSchema = z
  .discriminatedUnion('type', [
    envelope('lead.created', z.object({ ...leadKeys, status: leadStatus, company_name: z.string() })),
    envelope(
      'lead.updated',
      z.object({
        ...leadKeys,
        changed: z.array(z.string()).meta({ description: 'fields of the lead other than its status' }),
      }),
    ),
    envelope(
      'lead.status_changed',
      z.object({ ...leadKeys, from_status: leadStatus, to_status: leadStatus }),
    ),
    envelope('lead.removed', z.object({ ...leadKeys, reason: z.string() })),
    envelope('pipeline.created', pipelineData),
    envelope('pipeline.updated', pipelineData),
    envelope(
      'agent.status_changed',
      z
        .object({
          agent_id: z.string(),
          status: z.enum(AGENT_STATUSES),
          message: z.string().nullable(),
        })
        .meta({ description: 'sent when an agent fails, is paused or works again, not for each task' }),
    ),
  ])
  .meta({ id: 'Event', description: 'What is POSTed to a registered webhook.' })
export type WireEvent = z.infer<typeof eventSchema>

/** An event's type with the data that belongs to it. */
export type EventData = WireEvent extends infer E
  ? E extends WireEvent
    ? Pick<E, 'type' | 'data'>
    : never
  : never

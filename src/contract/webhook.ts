/** Webhook registrations on the wire and the kinds of event that are sent. */
import { z } from 'zod'
import { instantSchema } from './lead.ts'

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
    events: z.array(z.enum(EVENT_TYPES)).min(1),
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

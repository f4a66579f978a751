/** A receiver of events on a server of the test, with its own store, and messages that are signed for it. */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { standardHeaders } from '../../../src/contract/webhook.ts'
import { createWebhookIntake, type WebhookIntake } from '../../../src/jobs/events/webhook-intake.ts'
import type { Registration } from '../../../src/jobs/events/webhook-registration.ts'
import { type WebhookProfile, webhookProfileSchema } from '../../../src/upstream/profile/webhook-profile.ts'
import { WEBHOOK_PATH, type WebhookOutcome, webhookRoutes } from '../../../src/web/webhooks.ts'
import { openEmptyStore } from '../store.ts'
import { openReadLog, openTestWeb } from '../web/server.ts'

export const RECEIVED_AT = new Date('2026-11-21T09:00:00Z')
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const OTHER_SECRET = 'whsec_c2VjcmV0LW9mLWFub3RoZXItd2ViaG9vaw=='
export const CHANGED = eventBody('evt_1')
/** The webhook as an installation keeps it. */
export const REGISTERED: Registration = {
  id: 'wh_1',
  url: 'https://reports.example.com/webhooks/leads',
  events: ['lead.created'],
  secret: SECRET,
  registeredAt: '2026-11-20T09:00:00.000Z',
}

interface Settings {
  readonly webhook?: WebhookProfile
  /** The accepted secrets. They are read for each message. */
  readonly secrets?: () => readonly string[]
  readonly publicUrl?: string | null
  /** Replaces the intake of the store. */
  readonly intake?: WebhookIntake
}

export async function openReceiver(settings: Settings = {}) {
  const { webhook = standardProfile(), secrets = () => [SECRET], publicUrl = null } = settings
  const store = await openEmptyStore()
  onTestFinished(store.close)
  const outcomes: WebhookOutcome[] = []
  const { log, lines } = await openReadLog([SECRET])
  const now = () => RECEIVED_AT
  const intake = settings.intake ?? createWebhookIntake({ store, now, wake: () => undefined })
  const onOutcome = (outcome: WebhookOutcome) => outcomes.push(outcome)
  const routes = webhookRoutes({ webhook, publicUrl, secrets, intake, now, log, onOutcome })
  const options = { publicUrl, trustedProxies: ['loopback'], log }
  const server = await openTestWeb(options, [], null, [routes])
  return {
    lines,
    outcomes,
    url: `${server.url}${WEBHOOK_PATH}`,
    events: () => store.db.selectFrom('event').selectAll().orderBy('id').execute(),
    queued: () => store.db.selectFrom('event_queue').selectAll().orderBy('resource_id').execute(),
  }
}

/** Returns the profile of Standard Webhooks, with another prefix for its headers if one is given. */
export function standardProfile(header_prefix?: string): WebhookProfile {
  return profileOf({
    verify: { scheme: 'standard', ...(header_prefix === undefined ? {} : { header_prefix }) },
    id: { header: `${header_prefix ?? 'webhook-'}id` },
    type: 'type',
    time: 'timestamp',
    lead: 'data.lead_id',
    deleted: ['lead.removed'],
  })
}

/** Parses a profile as if it had been read from a file. */
export function profileOf(written: object): WebhookProfile {
  return webhookProfileSchema.parse(written)
}

/** Returns the body of an event about a changed lead. */
export function eventBody(id: string, leadId = 'ld_1'): string {
  return JSON.stringify({
    id,
    type: 'lead.updated',
    version: '1',
    timestamp: '2026-11-21T08:59:59.000Z',
    data: { lead_id: leadId, pipeline_id: 'pl_1', changed: ['score'] },
  })
}

interface Signing {
  readonly id?: string
  /** The age of the signature when the message is received. */
  readonly secondsAgo?: number
  readonly secrets?: readonly string[]
}

/** Returns the headers for a body as the reference service sends them. */
export function signed(
  body: Buffer | string,
  { id = 'msg_1', secondsAgo = 0, secrets = [SECRET] }: Signing = {},
): Record<string, string> {
  const timestamp = RECEIVED_AT.getTime() / 1000 - secondsAgo
  return { 'content-type': 'application/json', ...standardHeaders(secrets, { id, timestamp, body }) }
}

/** Keeps connections open, because opening one for each of many messages would take most of a test's time. */
export const KEPT_OPEN = new Agent({ keepAlive: true })

export type Sent = Awaited<ReturnType<typeof send>>

/**
 * Sends a message with exactly these headers. A header with several values is sent as several lines. The
 * pieces of a body are sent one after the other.
 */
export async function send(
  url: string,
  body: Buffer | string | readonly string[],
  headers: Readonly<Record<string, string | string[]>>,
  { method = 'POST', agent = false, localAddress }: Sending = {},
) {
  const sending = request(url, { method, headers: { ...headers }, agent, localAddress })
  // An error that comes after the answer has begun is one of the answer.
  sending.on('error', () => undefined)
  const pieces = Array.isArray(body) ? body : null
  for (const piece of pieces ?? []) sending.write(piece)
  sending.end(pieces === null ? body : undefined)
  const [answer]: IncomingMessage[] = await once(sending, 'response')
  if (answer === undefined) throw new Error(`${url} gave no answer`)
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) }
}

interface Sending {
  readonly method?: string
  readonly agent?: Agent | false
  /** The address of this machine from which it is sent. */
  readonly localAddress?: string | undefined
}

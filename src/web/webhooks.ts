/**
 * Receives webhook messages of the upstream at POST /webhooks/leads, and of the mail provider at POST
 * /webhooks/mail. A message that cannot be verified is refused and logged, but not stored. A verified message is
 * stored, then answered. What an event of the upstream says is processed later.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorText } from '../errors.ts'
import type { WebhookIntake } from '../jobs/events/webhook-intake.ts'
import type { Log } from '../log.ts'
import type { WebhookProfile } from '../upstream/profile/webhook-profile.ts'
import { cleanText } from '../upstream/values/scalar.ts'
import { readEvents } from '../upstream/webhooks/read-events.ts'
import { type WebhookMessage, whyRefused } from '../upstream/webhooks/verify-signature.ts'
import { type AddRoutes, limitPerMinute, statusOf } from './server/server.ts'

interface WebhookDeps extends ReceiverDeps {
  readonly webhook: WebhookProfile
  readonly intake: WebhookIntake
}

export interface ReceiverDeps {
  /**
   * The beginning of the URL that the upstream signs. If null, the beginning is taken from the request. This
   * is right only if no proxy is in front of this program.
   */
  readonly publicUrl: string | null
  /** Returns the secrets with which a message may be signed now. */
  readonly secrets: () => readonly string[]
  readonly now: () => Date
  readonly log: Log
  readonly onOutcome?: (outcome: WebhookOutcome) => void
}

/** The outcome of one message. `busy` means that the upstream must send the message again. */
export type WebhookOutcome = 'taken' | 'refused' | 'busy'

export const WEBHOOK_PATH = '/webhooks/leads'
const BODY_BYTES = 256 * 1024
// The maximum number of refused messages per minute and network. Further refused messages get status 429.
// Verified messages are never limited.
const REFUSED_PER_MINUTE = 120
const BUSY_SECONDS = '1'
const MINUTE_MS = 60_000

// The texts of refusals, by HTTP status. They reveal nothing about secrets.
const ANSWERS: Readonly<Record<number, string>> = {
  401: 'This message cannot be verified.',
  413: 'This message is too large.',
  415: 'Messages are JSON as it is, with its content type.',
  429: 'Too many messages were refused.',
}

export const MAIL_WEBHOOK_PATH = '/webhooks/mail'
/** https://resend.com/docs/webhooks/verify-webhooks-requests, which signs as Standard Webhooks do. */
const SVIX = { verify: { scheme: 'standard', header_prefix: 'svix-', tolerance_seconds: 300 } } as const

export function webhookRoutes({ webhook, intake, ...deps }: WebhookDeps): AddRoutes {
  const read = (message: WebhookMessage) => readEvents(webhook, message)
  return receiverRoutes(WEBHOOK_PATH, webhook, { ...deps, read, take: intake.take })
}

/** @param take stores an event by its id, which stays the same if the event is sent again */
export function mailWebhookRoutes(
  deps: ReceiverDeps & { readonly take: (id: string, body: Buffer) => Promise<void> },
): AddRoutes {
  return receiverRoutes(MAIL_WEBHOOK_PATH, SVIX, {
    ...deps,
    read: (message) => [message],
    take: async ([message]) => {
      if (message !== undefined) await deps.take(message.headers['svix-id']?.[0] ?? '', message.body)
      return true
    },
  })
}

interface Events<Event> {
  readonly read: (message: WebhookMessage) => readonly Event[]
  /** Resolves to true once the events are on disk, and to false if too many are waiting. */
  readonly take: (events: readonly Event[]) => Promise<boolean>
}

/** Adds the route. It limits refused messages itself, so the server sets no rate limit for it. */
function receiverRoutes<Event>(
  path: string,
  webhook: Pick<WebhookProfile, 'verify'>,
  { publicUrl, secrets, read, take, now, log, onOutcome }: ReceiverDeps & Events<Event>,
): AddRoutes {
  const logRefusal = createRefusalLog(log, path)
  return (app) => {
    const isTooMany = limitPerMinute(app, REFUSED_PER_MINUTE)
    const refuse = async (request: FastifyRequest, reply: FastifyReply, status: number, cause: string) => {
      logRefusal(cause, request.ip)
      onOutcome?.('refused')
      return (await isTooMany(request)) ? say(reply.header('Retry-After', '60'), 429) : say(reply, status)
    }
    takeJson(app)
    app.addHook('onRequest', async (request, reply) => {
      const { 'content-type': type = 'none', 'content-encoding': encoding } = request.headers
      if (!isJson(type))
        return refuse(request, reply, 415, `its content type is ${cleanText(type).slice(0, 100)}`)
      if (encoding !== undefined) return refuse(request, reply, 415, 'its content is encoded')
    })
    app.setErrorHandler((thrown, request, reply) => {
      const status = statusOf(thrown)
      if (status < 500) return refuse(request, reply, status, errorText(thrown))
      log.error({ err: thrown }, `a message to ${path} could not be taken: ${errorText(thrown)}`)
      return say(reply, 500)
    })
    app.post<{ Body: Buffer | undefined }>(path, async (request, reply) => {
      const message = messageIn(request, publicUrl)
      const cause = whyRefused(webhook, secrets(), message, now())
      if (cause !== null) return refuse(request, reply, 401, cause)
      const events = read(message)
      // Events without a signature are limited, because anybody can send them and each makes this program
      // send a request to the upstream.
      if (webhook.verify.scheme === 'none') {
        const counted = await Promise.all(events.map(() => isTooMany(request)))
        if (counted.includes(true))
          return refuse(request, reply, 429, 'too many events came that nobody has signed')
      }
      const isTaken = await take(events)
      onOutcome?.(isTaken ? 'taken' : 'busy')
      return isTaken ? reply.code(204).send() : say(reply.header('Retry-After', BUSY_SECONDS), 503)
    })
  }
}

function say(reply: FastifyReply, status: number): FastifyReply {
  const text = ANSWERS[status] ?? 'This message was not taken.'
  return reply.code(status).type('text/plain; charset=utf-8').send(`${text}\n`)
}

/** Keeps the body as bytes, because the signature is computed from the bytes. */
function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: BODY_BYTES },
    async (_: unknown, body: Buffer) => body,
  )
}

function isJson(type: string): boolean {
  const name = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return name === 'application/json' || (name.startsWith('application/') && name.endsWith('+json'))
}

function messageIn(
  request: FastifyRequest<{ Body: Buffer | undefined }>,
  publicUrl: string | null,
): WebhookMessage {
  const { method, url, protocol, host, raw, body } = request
  return {
    method,
    url: `${publicUrl ?? `${protocol}://${host}`}${url}`,
    headers: raw.headersDistinct,
    body: body ?? Buffer.alloc(0),
  }
}

/**
 * Returns the function that logs a refusal with its cause, at most once a minute, so that strangers cannot fill the
 * log. The next line tells how many were not logged.
 */
function createRefusalLog(log: Log, path: string): (cause: string, address: string) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let before = 0
  return (cause, address) => {
    if (performance.now() - loggedAtMs < MINUTE_MS) {
      before++
      return
    }
    log.warn({ address, cause, refused_before: before }, `a message to ${path} was refused: ${cause}`)
    loggedAtMs = performance.now()
    before = 0
  }
}

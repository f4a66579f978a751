/**
 * Sends messages to webhooks, with retries. Each message is sent at least once, in no fixed order. The
 * outcome of an attempt is stored when the answer arrives. If the service crashes before that, the message is
 * sent again with the same id and bytes.
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import type { WireWebhookAttempt } from '../../contract/webhook.ts'
import { standardHeaders } from '../../contract/webhook.ts'
import { BACKOFF, GIVE_UP, ladderWaitMs, SERVICE_PAUSE_MAX_MS } from '../../retry.ts'
import type { ServiceLog } from '../http/server.ts'
import type { ServiceDatabase, WebhookMessageRow, WebhookRow } from '../store/database.ts'
import type { NewAttempt } from '../store/webhooks.ts'
import {
  deleteOldMessages,
  disableWebhook,
  findWebhook,
  insertMessages,
  listDueMessages,
  listQueues,
  queueEvents,
  saveAttempt,
  saveWebhookHealth,
  toWireAttempt,
} from '../store/webhooks.ts'
import type { PostOutcome, WebhookPoster } from './post.ts'
import { eventMessage, pingMessage } from './post.ts'

/** The maximum number of simultaneous requests to one webhook. */
const AT_ONCE = 8
/** The maximum for a failing webhook, until a message is delivered. */
const AT_ONCE_FAILING = 1
/** The wait in milliseconds after an error of the sender, for example because the disk is full. */
const PAUSE_MS = 1_000
const KEPT_MS = 7 * 24 * 60 * 60_000
const FORGET_EVERY_MS = 60 * 60_000

interface WebhookSenderOptions {
  readonly db: ServiceDatabase
  readonly poster: WebhookPoster
  /** Returns the real time in milliseconds since 1970. */
  readonly now: () => number
  /** Returns the simulated time, in which events happen. */
  readonly simulatedNow: () => number
  readonly log: ServiceLog
}

export function createWebhookSender(options: WebhookSenderOptions) {
  const { db, poster, now, simulatedNow, log } = options
  /** The ids of the messages that are being sent, by webhook. A slow receiver does not delay the others. */
  const inFlight = new Map<string, Set<string>>()
  const deliveries = new Set<Promise<void>>()
  let running: Promise<void> | undefined
  let isWanted = false
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let forgetAt = 0

  function wake(): void {
    if (stopping.signal.aborted) return
    isWanted = true
    running ??= run().finally(() => {
      running = undefined
      if (isWanted) wake()
    })
  }

  async function run(): Promise<void> {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false
      clearTimeout(timer)
      try {
        await sendWhatIsDue()
      } catch (error) {
        // The cause may be temporary, such as a full disk or a locked file. So the sender tries again later.
        logFailure(error)
        wakeIn(PAUSE_MS)
      }
      await breathe()
    }
  }

  async function sendWhatIsDue(): Promise<void> {
    const isBehind = await queueEvents(db, eventMessage, now())
    const nextAt = await startDue()
    const isFull = await forget()
    if (isBehind || isFull) isWanted = true
    else if (nextAt !== null) wakeIn(Math.max(1, nextAt - now()))
  }

  function logFailure(error: unknown): void {
    log.error({ err: error }, 'webhooks could not be sent on')
  }

  function wakeIn(ms: number): void {
    if (!stopping.signal.aborted) timer = setTimeout(wake, ms)
  }

  async function save(made: Attempt): Promise<void> {
    const disabled = await finishAttempt(db, made, now())
    if (disabled === null) return
    const { webhook, reason } = disabled
    const { host } = new URL(webhook.url)
    log.error({ webhook: webhook.id, host, reason }, `a webhook was disabled: ${DISABLED_WORDS[reason]}`)
  }

  /** @returns the time when the next message is due; null if no message waits */
  async function startDue(): Promise<number | null> {
    const nextTimes: number[] = []
    for (const queue of await listQueues(db, now())) {
      if (queue.paused_until !== null && queue.paused_until > now()) {
        nextTimes.push(queue.paused_until)
        continue
      }
      if (queue.next_at !== null) nextTimes.push(queue.next_at)
      if (queue.has_due === 1) await startSome(queue)
    }
    return nextTimes.length === 0 ? null : Math.min(...nextTimes)
  }

  async function startSome(webhook: WebhookRow): Promise<void> {
    const own = inFlight.get(webhook.id) ?? new Set()
    const most = webhook.failing_since === null ? AT_ONCE : AT_ONCE_FAILING
    const due = await listDueMessages(db, webhook.id, now(), most + own.size)
    const free = Math.max(0, most - own.size)
    for (const message of due.filter(({ id }) => !own.has(id)).slice(0, free)) {
      own.add(message.id)
      inFlight.set(webhook.id, own)
      const delivery = deliver(webhook, message).finally(() => {
        own.delete(message.id)
        if (own.size === 0) inFlight.delete(webhook.id)
        deliveries.delete(delivery)
        wake()
      })
      deliveries.add(delivery)
    }
  }

  /** Sends a message and saves the outcome. If it cannot be saved, the message is sent again later. */
  async function deliver(webhook: WebhookRow, message: WebhookMessageRow): Promise<void> {
    const made = await attempt(webhook, message)
    // `stop` aborted this attempt. Its outcome is unknown, so the message is sent again after the next start.
    if (stopping.signal.aborted && made.outcome.status === null) return
    try {
      await save(made)
    } catch (error) {
      logFailure(error)
      await pause(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  async function attempt(webhook: WebhookRow, message: WebhookMessageRow): Promise<Attempt> {
    const at = now()
    const signed = { id: message.id, timestamp: Math.floor(at / 1000), body: message.body }
    const headers = standardHeaders([webhook.secret], signed)
    return { message, at, outcome: await poster.post(webhook.url, headers, message.body) }
  }

  /**
   * Deletes messages older than a week, at most once an hour after the last batch. Returns whether more may
   * remain.
   */
  async function forget(): Promise<boolean> {
    if (now() < forgetAt) return false
    const hasMore = await deleteOldMessages(db, now() - KEPT_MS)
    if (!hasMore) forgetAt = now() + FORGET_EVERY_MS
    return hasMore
  }

  return {
    /** Makes the sender look for due messages now. */
    wake,
    /** Sends a test message immediately and waits for its outcome, without a retry. */
    async ping(webhook: WebhookRow): Promise<WireWebhookAttempt> {
      const message: WebhookMessageRow = {
        ...pingMessage(webhook.id, simulatedNow()),
        webhook_id: webhook.id,
        event_id: null,
        state: 'waiting',
        attempts: 0,
        created_at: now(),
        next_attempt_at: null,
      }
      const made = await attempt(webhook, message)
      await save(made)
      return toWireAttempt(attemptRow(made), { ...message, attempts: 1 })
    },
    /** Aborts the requests under way. Their messages are sent again after the next start of the service. */
    async stop(): Promise<void> {
      stopping.abort()
      clearTimeout(timer)
      await poster.close()
      await running
      await Promise.all(deliveries)
    },
  }
}

const DISABLED_WORDS: Readonly<Record<Disabled['reason'], string>> = {
  gone: 'its address answered 410, which says that it is gone',
  failing: `every attempt of ${GIVE_UP.serviceWebhook.days} days failed`,
}

const DAY_MS = 24 * 60 * 60_000
/** Gone: the webhook is disabled immediately. */
const GONE = 410

interface Attempt {
  readonly message: WebhookMessageRow
  /** The time at which the attempt began. */
  readonly at: number
  readonly outcome: PostOutcome
}

type DisabledReason = NonNullable<WebhookRow['disabled_reason']>

/** A webhook that was just disabled, and why. */
interface Disabled {
  readonly webhook: WebhookRow
  readonly reason: DisabledReason
}

/**
 * Saves the outcome of an attempt, and disables the webhook if necessary.
 * @param now a time after the end of the attempt, in milliseconds since 1970
 * @returns the webhook if it was disabled by this call; otherwise null
 */
function finishAttempt(db: ServiceDatabase, made: Attempt, now: number): Promise<Disabled | null> {
  const { message, outcome } = made
  return db.transaction().execute(async (trx) => {
    const webhook = await findWebhook(trx, message.webhook_id)
    // If the webhook was deleted in the meantime, its messages were deleted too, and nothing is saved.
    if (webhook === undefined) return null
    const isPing = message.event_id === null
    if (isPing) await insertMessages(trx, [message])
    const isDelivered = outcome.error === null
    // A failed test message does not mark the webhook as failing, because the caller of `ping` sees the
    // failure.
    const failing_since = isDelivered ? null : (webhook.failing_since ?? (isPing ? null : now))
    const askedUntil =
      outcome.retryAfterMs === null ? null : now + Math.min(outcome.retryAfterMs, SERVICE_PAUSE_MAX_MS)
    const paused_until = askedUntil ?? webhook.paused_until
    const isOver = isDelivered || isPing || webhook.status === 'disabled'
    const waitMs = isOver ? null : ladderWaitMs(BACKOFF.serviceWebhook, message.attempts + 1, Math.random())
    const next_attempt_at = waitMs === null ? null : Math.max(now + waitMs, askedUntil ?? 0)
    const state = isDelivered ? 'delivered' : next_attempt_at === null ? 'failed' : 'waiting'
    await saveAttempt(trx, attemptRow(made), { state, next_attempt_at })
    if (failing_since !== webhook.failing_since || paused_until !== webhook.paused_until)
      await saveWebhookHealth(trx, webhook.id, { failing_since, paused_until })
    const reason = webhook.status === 'disabled' ? null : reasonToDisable(outcome, failing_since, now)
    if (reason === null) return null
    await disableWebhook(trx, webhook.id, reason, now)
    return { webhook, reason }
  })
}

function attemptRow({ message, at, outcome }: Attempt): NewAttempt {
  return {
    webhook_id: message.webhook_id,
    message_id: message.id,
    attempt: message.attempts + 1,
    at,
    status: outcome.status,
    error: outcome.error,
    duration_ms: outcome.durationMs,
  }
}

function reasonToDisable(
  { status, error }: PostOutcome,
  failingSince: number | null,
  now: number,
): DisabledReason | null {
  if (error === null) return null
  if (status === GONE) return 'gone'
  return failingSince !== null && now - failingSince >= GIVE_UP.serviceWebhook.days * DAY_MS
    ? 'failing'
    : null
}

/**
 * The daemon's task that applies events as soon as they arrive. It applies several events at a time, so that
 * a slow event does not hold up the others. A failed event waits in the store, so that neither a kill nor an
 * outage loses it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { BACKOFF, ladderWaitMs } from '../../retry.ts'
import type { QueuedEvent } from '../../store/events/event.ts'
import { finishEvents, listQueued, mayApplyEvents, postponeEvent } from '../../store/events/event.ts'
import { findAddress, readWatermark, saveWatermark } from '../../store/sync/watermark.ts'
import { MINUTE_MS } from '../../time.ts'
import { createRateLimit } from '../outbox/rate-limit.ts'
import { logFailure } from '../schedule/job-failure.ts'
import type { SerialTask } from '../schedule/serial-task.ts'
import { type ApplyDeps, applyEvent } from './apply-event.ts'

/** The longest wait before the task looks again at events that wait for the rate limit. */
const LOOK_AGAIN_MS = 1_000
/**
 * The number of failures in a row after which the cause is taken to be the upstream, and not a single lead.
 */
const FAILURES_MAX = 5

/** The errors that may concern only one lead, one pipeline or the list of agents. */
const OF_ONE: ReadonlySet<ErrorCode> = new Set([
  'api_forbidden',
  'api_not_found',
  'api_rejected',
  'api_unexpected',
  'api_unreachable',
])

export interface EventWorkerDeps extends ApplyDeps {
  readonly log: Log
  readonly concurrency: number
  /** The maximum number of leads that are requested within ten seconds. */
  readonly perTenSeconds: number
}

interface EventWorker extends SerialTask {
  /** Applies all events that can be applied, including those that wait for the rate limit. */
  applyAll(signal: AbortSignal): Promise<void>
}

/** The task must be woken each minute and after each sync. */
export function createEventWorker(deps: EventWorkerDeps): EventWorker {
  const { store, log, now } = deps
  const rateLimit = createRateLimit(deps.perTenSeconds, 10_000)
  let looking: NodeJS.Timeout | undefined
  const inFlight = new Map<QueuedEvent, Promise<void>>()
  let signal: AbortSignal | null = null
  let starting: Promise<void> | null = null
  let isAskedAgain = false
  let restsUntilMs = 0
  let failuresInRow = 0

  const fail = (thrown: unknown): void => logFailure(log, thrown)

  function wake(): void {
    if (signal === null || signal.aborted) return
    isAskedAgain = starting !== null
    if (isAskedAgain) return
    starting = startSome(signal)
      .catch(rest)
      .catch(fail)
      .finally(() => {
        starting = null
        if (isAskedAgain) wake()
      })
  }

  async function startSome(until: AbortSignal): Promise<void> {
    const free = deps.concurrency - inFlight.size
    const at = now()
    if (free <= 0 || at.getTime() < restsUntilMs) return
    const waitMs = rateLimit.msToWait(at)
    lookAgain(waitMs > 0 ? Math.min(waitMs, LOOK_AGAIN_MS) : null)
    if (waitMs > 0 || !(await mayApplyEvents(store.db, at))) return
    // Events about leads of another source wait, and the next sync says so.
    const address = await findAddress(store.db)
    if (address !== null && address !== deps.source.address) return
    const { notBefore } = await readWatermark(store.db)
    if (notBefore !== null && notBefore > at.toISOString()) return
    for (const row of await listQueued(store.db, at.toISOString(), free, [...inFlight.keys()])) {
      if (until.aborted) return
      if (row.resource === 'lead') rateLimit.take(at)
      inFlight.set(row, follow(row, until))
    }
  }

  function look(): void {
    looking = undefined
    wake()
  }

  function lookAgain(inMs: number | null): void {
    clearTimeout(looking)
    looking = inMs === null ? undefined : setTimeout(look, inMs).unref()
  }

  async function follow(row: QueuedEvent, until: AbortSignal): Promise<void> {
    try {
      await applyEvent(deps, row, until)
      failuresInRow = 0
    } catch (thrown) {
      if (!until.aborted) await onFailure(row, thrown).catch(rest).catch(fail)
    } finally {
      inFlight.delete(row)
      wake()
    }
  }

  async function onFailure(row: QueuedEvent, thrown: unknown): Promise<void> {
    const about = { resource: row.resource, id: row.resource_id }
    const isKnown = thrown instanceof LeadsheetError
    if (isKnown && !OF_ONE.has(thrown.code)) return rest(thrown)
    if (isKnown) log.warn({ ...about, code: thrown.code }, thrown.message)
    // A bug in leadsheet that only one lead triggers must not hold up the other leads.
    else logFailure(log, thrown, about)
    await postpone(row, errorText(thrown))
    if (++failuresInRow >= FAILURES_MAX) await rest(thrown)
  }

  async function postpone(row: QueuedEvent, problem: string): Promise<void> {
    const at = now()
    const waitMs = ladderWaitMs(BACKOFF.event, row.failures + 1, 0)
    await store.write(async (trx) => {
      if (waitMs !== null) {
        return postponeEvent(trx, row, new Date(at.getTime() + waitMs).toISOString())
      }
      await finishEvents(trx, row, { at: at.toISOString(), outcome: 'failed', problem })
    })
  }

  /** Pauses the task for a minute after a failure that every other lead would have too. */
  async function rest(thrown: unknown): Promise<void> {
    restsUntilMs = now().getTime() + MINUTE_MS
    failuresInRow = 0
    const notBefore = thrown instanceof LeadsheetError ? thrown.notBefore : undefined
    if (notBefore === undefined) return fail(thrown)
    log.info({ until: notBefore }, 'events wait until the upstream wants to be asked again')
    await store.write((trx) => saveWatermark(trx, { not_before: notBefore }))
  }

  async function idle(): Promise<void> {
    while (starting !== null || inFlight.size > 0) await Promise.all([starting, ...inFlight.values()])
  }

  return {
    wake,
    open: (until) => {
      signal = until
    },
    isBusy: () => inFlight.size > 0,
    idle,
    async applyAll(until) {
      const turn = new AbortController()
      signal = AbortSignal.any([until, turn.signal])
      wake()
      await idle()
      while (looking !== undefined && !signal.aborted) {
        await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
        await idle()
      }
      turn.abort()
    },
  }
}

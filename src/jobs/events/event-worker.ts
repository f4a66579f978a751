/**
 * The daemon's lane in which events are followed: as soon as one is taken in, several leads at once, and a slow one
 * holds up no other. What fails waits in the store, so that neither a kill nor an outage loses it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { BACKOFF, ladderWaitMs } from '../../retry.ts'
import { finishEvents } from '../../store/events/event.ts'
import { listQueued, mayFollow, putOff, type QueuedEvent, takeOut } from '../../store/events/event-queue.ts'
import { readWatermark, saveNotBefore } from '../../store/sync/watermark.ts'
import { createPace } from '../outbox/rate.ts'
import { logFailure } from '../schedule/job-failure.ts'
import type { SerialTask } from '../schedule/serial-task.ts'
import { type FollowDeps, followEvent } from './apply-event.ts'
import { createLeftToSync, type LeftToSyncDeps } from './event-overflow.ts'

const MINUTE_MS = 60_000
/** At leads that are left to a sync. */
const LOOK_AGAIN_MS = 1_000
/** After so many failures in a row it is the upstream, and no lead. */
const FAILURES_MAX = 5

/** Failures that may be the own ones of what was asked for. */
const OF_ONE: ReadonlySet<ErrorCode> = new Set([
  'api_forbidden',
  'api_not_found',
  'api_rejected',
  'api_unexpected',
  'api_unreachable',
])

export interface FollowerDeps extends FollowDeps, LeftToSyncDeps {
  readonly source: FollowDeps['source']
  readonly log: Log
  /** How many are asked for at once. */
  readonly concurrency: number
  /** Once so many leads were asked for within ten seconds others wait, and what else comes of them is one request. */
  readonly perTenSeconds: number
}

export interface Follower extends SerialTask {
  /** As `wake`, when an event was taken in: while leads are left to a sync, or wait for their pace, that is soon enough. */
  wakeSoon(): void
  /** Follows all that can be followed, also what has to wait for its pace; where workers take turns at that. */
  followAll(signal: AbortSignal): Promise<void>
}

/** To be woken each minute, and when a sync is over. */
export function createFollower(deps: FollowerDeps): Follower {
  const { store, log, now } = deps
  const leftToSync = createLeftToSync(deps)
  const pace = createPace(deps.perTenSeconds, 10_000)
  let looking: NodeJS.Timeout | undefined
  const inHand = new Map<QueuedEvent, Promise<void>>()
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
    const free = deps.concurrency - inHand.size
    const at = now()
    if (free <= 0 || at.getTime() < restsUntilMs || !(await mayFollow(store.db))) return
    const { notBefore } = await readWatermark(store.db)
    if (notBefore !== null && notBefore > at.toISOString()) return
    const keys = [...inHand.keys()]
    const waitMs = pace.msToWait(at)
    const askedLeads = (await leftToSync.areLeads()) || waitMs > 0
    lookAgain(askedLeads ? Math.min(waitMs || LOOK_AGAIN_MS, LOOK_AGAIN_MS) : null)
    for (const row of await listQueued(store.db, at.toISOString(), free, { keys, askedLeads })) {
      if (until.aborted) return
      if (row.resource === 'lead') leftToSync.countOne()
      if (row.resource === 'lead' && row.record === null) pace.take(at)
      inHand.set(row, follow(row, until))
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
      await followEvent(deps, row, until)
      failuresInRow = 0
    } catch (thrown) {
      if (!until.aborted) await onFailure(row, thrown).catch(rest).catch(fail)
    } finally {
      inHand.delete(row)
      wake()
    }
  }

  async function onFailure(row: QueuedEvent, thrown: unknown): Promise<void> {
    const about = { resource: row.resource, id: row.resource_id }
    const isKnown = thrown instanceof LeadsheetError
    if (isKnown && !OF_ONE.has(thrown.code)) return rest(thrown)
    if (isKnown) log.warn({ ...about, code: thrown.code }, thrown.message)
    // A mistake of ours that one lead brings to light must not keep back the others.
    else logFailure(log, thrown, about)
    await postpone(row, errorText(thrown))
    if (++failuresInRow >= FAILURES_MAX) await rest(thrown)
  }

  async function postpone(row: QueuedEvent, problem: string): Promise<void> {
    const at = now()
    const waitMs = ladderWaitMs(BACKOFF.event, row.failures + 1, 0)
    await store.write(async (trx) => {
      if (waitMs !== null) {
        return putOff(trx, row, new Date(at.getTime() + waitMs).toISOString())
      }
      const { resource, resource_id: resourceId, last_at: until } = row
      const end = { at: at.toISOString(), outcome: 'failed', problem } as const
      await finishEvents(trx, { resource, resourceId, until }, end)
      await takeOut(trx, row)
    })
  }

  /** What would meet all alike is not tried with each of them. */
  async function rest(thrown: unknown): Promise<void> {
    restsUntilMs = now().getTime() + MINUTE_MS
    failuresInRow = 0
    const notBefore = thrown instanceof LeadsheetError ? thrown.notBefore : undefined
    if (notBefore === undefined) return fail(thrown)
    log.info({ until: notBefore }, 'events wait until the upstream wants to be asked again')
    await store.write((trx) => saveNotBefore(trx, notBefore))
  }

  async function idle(): Promise<void> {
    while (starting !== null || inHand.size > 0) await Promise.all([starting, ...inHand.values()])
  }

  return {
    wake,
    wakeSoon: () => {
      if (looking === undefined) wake()
    },
    open: (until) => {
      signal = until
    },
    isBusy: () => inHand.size > 0,
    idle,
    async followAll(until) {
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

/** A syncing with the daemon's queue of events and the intake that fills it. */
import { onTestFinished } from 'vitest'
import type { UpstreamEvent } from '../../../src/domain/model.ts'
import { createEventWorker, type EventWorkerDeps } from '../../../src/jobs/events/event-worker.ts'
import { createWebhookIntake } from '../../../src/jobs/events/webhook-intake.ts'
import type { Db } from '../../../src/store/db/store.ts'
import type { SourceOptions } from '../../../src/upstream/source.ts'
import { event } from '../data/events.ts'
import { openSyncing, SILENT } from '../syncing.ts'
import { body, type Fault, startUpstream } from '../upstream.ts'

export type Following = Awaited<ReturnType<typeof openFollowing>>

type Options = Partial<Pick<EventWorkerDeps, 'concurrency' | 'perTenSeconds'>> & {
  readonly key?: string
  readonly source?: Partial<SourceOptions>
}

export async function openFollowing(url: string, options: Options = {}) {
  const { key, source: sourceOptions = {}, ...wanted } = options
  const syncing = await openSyncing(url, key, { source: sourceOptions })
  const { store, source, clock } = syncing
  const now = () => clock.now
  const worker = createEventWorker({
    store,
    source,
    log: SILENT,
    now,
    wantsDetails: true,
    concurrency: 4,
    perTenSeconds: 10_000,
    ...wanted,
  })
  const end = new AbortController()
  worker.open(end.signal)
  const stop = async (): Promise<void> => {
    end.abort(new Error('the daemon is to stop'))
    await worker.idle()
  }
  return {
    ...syncing,
    worker,
    intake: createWebhookIntake({ store, now, wake: worker.wake }),
    /** Stops the work in progress. */
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      await syncing[Symbol.asyncDispose]()
    },
  }
}

/** Opens an upstream with some leads, and a copy that has read them, until the test ends. */
export async function openCopy(count = 12, options: Options = {}) {
  const upstream = await startUpstream(count)
  const copy = await openFollowing(upstream.url, options)
  onTestFinished(async () => {
    await copy[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })
  await copy.sync({ full: true, parts: ['leads'], pageSize: 100 })
  copy.clock.now = new Date('2026-11-21T06:10:00Z')
  upstream.requests.length = 0
  return { upstream, copy, ids: [...upstream.leads.keys()] }
}

export async function follow(copy: Following, ...events: UpstreamEvent[]): Promise<void> {
  await copy.intake.take(events)
  await copy.worker.idle()
}

let count = 0

/** Returns a new event about a lead, with a new id unless `other` has one. */
export function eventOf(leadId: string, other: Partial<UpstreamEvent> = {}): UpstreamEvent {
  return { ...event(`event-${++count}`), resourceId: leadId, ...other }
}

export async function outcomeOf(db: Db, eventId: string): Promise<string | null | undefined> {
  const row = await db.selectFrom('event').where('id', '=', eventId).select('outcome').executeTakeFirst()
  return row?.outcome
}

/** A fault that holds a request until the test calls `letGo`. Then the answer is as it was when that was asked. */
export function heldBack(answer: () => string) {
  const asked = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const fault: Fault = (request, response) => {
    const then = answer()
    asked.resolve()
    void free.promise.then(() => body(then)(request, response))
    return true
  }
  return { fault, isAsked: asked.promise, letGo: free.resolve }
}

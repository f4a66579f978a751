/** What goes to operators beside mail: messages to the webhook, and the pulse of the syncs to a dead-man switch. */
import type { WebhookFormat } from '../domain/choices.ts'
import type { Log } from '../log.ts'
import type { NoticeMessage } from '../notify/message.ts'
import { pingUrl } from '../notify/ping.ts'
import type { Outcome, Poster } from '../notify/post.ts'
import { composeWebhook } from '../notify/webhook.ts'
import { BACKOFF, GIVE_UP, ladderWaitMs } from '../retry.ts'
import { listWaitingPosts, savePost, type WaitingPost } from '../store/alerts/alert-message.ts'
import { findPing, type Ping, type PingSignal, savePing } from '../store/alerts/heartbeat-ping.ts'
import type { Store } from '../store/db/store.ts'
import { listRuns, type RunSummary } from '../store/sync/sync-run.ts'

const MINUTE_MS = 60_000
const GIVE_UP_MS = GIVE_UP.alertWebhook.hours * 60 * MINUTE_MS
const POSTS_AT_ONCE = 10
const PING_TIMEOUT_MS = 5_000
/** Of a sync that ended before a dead-man switch was first set up, it is not told. */
const NEWS_MS = 15 * MINUTE_MS
const BODY_MAX = 1_000

export interface PostDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  readonly poster: Poster
  readonly webhook: { readonly url: string; readonly format: WebhookFormat } | null
  readonly ping: { readonly url: string } | null
}

/** Posts what is due, the oldest first; where one is not taken, the others wait with it. */
export async function postWaiting({ webhook, ...deps }: PostDeps, signal: AbortSignal): Promise<void> {
  if (webhook === null) return
  for (const post of await listWaitingPosts(deps.store.db, deps.now().toISOString(), POSTS_AT_ONCE)) {
    if (signal.aborted) return
    const message: NoticeMessage = JSON.parse(post.content)
    const outcome = await postMessage(deps.poster, webhook, message, signal)
    if (signal.aborted) return
    await deps.store.write((trx) => savePost(trx, post.id, afterPost(post, outcome, deps.now())))
    if (outcome.isTaken) continue
    deps.log.warn({ response: outcome.said }, 'the webhook did not take a notice; it is tried again')
    return
  }
}

/** One attempt. */
export async function postMessage(
  poster: Poster,
  { url, format }: NonNullable<PostDeps['webhook']>,
  message: NoticeMessage,
  signal: AbortSignal,
): Promise<Outcome> {
  return poster.post(new URL(url), 'application/json', composeWebhook(message, format), signal)
}

function afterPost({ attempts, madeAt }: WaitingPost, { isTaken, said }: Outcome, now: Date) {
  if (isTaken) return { state: 'sent', nextAt: null, response: said } as const
  if (now.getTime() - Date.parse(madeAt) >= GIVE_UP_MS) {
    return { state: 'failed', nextAt: null, response: said } as const
  }
  return { state: 'pending', nextAt: nextAttempt(attempts, now), response: said } as const
}

/** Tells the dead-man switch how the last sync stands, where it does not know. */
export async function pingLastRun(deps: PostDeps, signal: AbortSignal): Promise<void> {
  if (deps.ping === null) return
  const [run] = await listRuns(deps.store.db, 1)
  const known = await findPing(deps.store.db)
  const due = duePing(run, known, deps.now())
  if (run === undefined || due === null) return
  const url = pingUrl(deps.ping.url, due.signal, due.runId)
  const outcome = await deps.poster.post(url, 'text/plain', bodyOf(run), signal, PING_TIMEOUT_MS)
  if (signal.aborted) return
  const nextAttemptAt = outcome.isTaken ? null : nextAttempt(due.attempts, deps.now())
  const ping: Ping = { ...due, attempts: due.attempts + 1, nextAttemptAt, response: outcome.said }
  await deps.store.write((trx) => savePing(trx, ping))
  if (!outcome.isTaken) deps.log.warn({ response: outcome.said }, 'the dead-man switch did not take a ping')
}

/** What it is to be told now; null where it knows, or it is too soon to try again. Pure. */
function duePing(run: RunSummary | undefined, known: Ping | undefined, now: Date): Ping | null {
  if (run === undefined) return null
  const signal = signalOf(run)
  const isOld = run.finishedAt !== null && now.getTime() - Date.parse(run.finishedAt) > NEWS_MS
  if (known === undefined && isOld) return null
  const fresh = { runId: run.id, signal, attempts: 0, nextAttemptAt: null, response: null }
  if (known === undefined || known.runId !== run.id || known.signal !== signal) return fresh
  const isDue = known.nextAttemptAt !== null && known.nextAttemptAt <= now.toISOString()
  return isDue ? known : null
}

/** What was put off or told to stop is neither good nor bad: where it lasts, the switch raises the alarm by itself. */
function signalOf({ outcome, leadsAsOf, problems }: RunSummary): PingSignal {
  if (outcome === null) return 'start'
  if (leadsAsOf !== null) return 'success'
  const isStopped = problems.some(({ code }) => code === 'run_interrupted')
  if (outcome === 'deferred' || isStopped) return 'log'
  return outcome === 'ok' || outcome === 'ok_no_change' ? 'success' : 'fail'
}

function bodyOf({ id, outcome, seen, inserted, updated, removed, problems }: RunSummary): string {
  if (outcome === null) return `sync ${id} has begun`
  const counts = `${seen} leads read, ${inserted} new, ${updated} changed, ${removed} gone`
  const lines = problems.map(({ part, message }) => `${part}: ${message}`)
  return [`sync ${id}: ${outcome}`, counts, ...lines].join('\n').slice(0, BODY_MAX)
}

function nextAttempt(attempts: number, now: Date): string {
  const waitMs = ladderWaitMs(BACKOFF.alertWebhook, attempts + 1, 0) ?? 0
  return new Date(now.getTime() + waitMs).toISOString()
}

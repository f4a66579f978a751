/**
 * Posts waiting alert messages to the webhook, in the format of the receiver (plain JSON, Slack or Teams).
 */

import type { WebhookFormat } from '../../domain/choices.ts'
import { CALLED } from '../../errors.ts'
import { BACKOFF, GIVE_UP, ladderWaitMs } from '../../retry.ts'
import { listWaitingPosts, updatePost, type WaitingPost } from '../../store/alerts/alert-message.ts'
import { formatUtc, MINUTE_MS } from '../../time.ts'
import type { JobDeps } from '../job-deps.ts'
import { type AlertLine, type AlertMessage, sectionsOf } from './alert-message.ts'
import type { Poster, PostOutcome } from './http-post.ts'

const GIVE_UP_MS = GIVE_UP.alertWebhook.hours * 60 * MINUTE_MS
const POSTS_AT_ONCE = 10
/** Together with `TEXT_MAX`, it keeps a body below the limits of Teams (28 kB) and Slack (40,000 characters). */
const LINES_MAX = 10
const TEXT_MAX = 600

export interface AlertWebhook extends JobDeps {
  readonly poster: Poster
  readonly webhook: { readonly url: string; readonly format: WebhookFormat } | null
}

/** Posts the due messages, oldest first. If a message is refused, the messages after it wait. */
export async function postDueAlerts({ webhook, ...deps }: AlertWebhook, signal: AbortSignal): Promise<void> {
  if (webhook === null) return
  for (const post of await listWaitingPosts(deps.store.db, deps.now().toISOString(), POSTS_AT_ONCE)) {
    if (signal.aborted) return
    const message: AlertMessage = JSON.parse(post.content)
    const outcome = await postAlert(deps.poster, webhook, message, signal)
    if (signal.aborted) return
    await deps.store.write((trx) => updatePost(trx, post.id, afterPost(post, outcome, deps.now())))
    if (outcome.isTaken) continue
    deps.log.warn({ response: outcome.response }, 'alert webhook failed: it is tried again')
    return
  }
}

export async function postAlert(
  poster: Poster,
  { url, format }: NonNullable<AlertWebhook['webhook']>,
  message: AlertMessage,
  signal: AbortSignal,
): Promise<PostOutcome> {
  return poster.post(new URL(url), 'application/json', composeWebhook(message, format), signal)
}

function afterPost({ attempts, madeAt }: WaitingPost, { isTaken, response }: PostOutcome, now: Date) {
  if (isTaken) return { state: 'sent', nextAt: null, response } as const
  if (now.getTime() - Date.parse(madeAt) >= GIVE_UP_MS) {
    return { state: 'failed', nextAt: null, response } as const
  }
  const waitMs = ladderWaitMs(BACKOFF.alertWebhook, attempts + 1, 0) ?? 0
  return { state: 'pending', nextAt: new Date(now.getTime() + waitMs).toISOString(), response } as const
}

export function composeWebhook(message: AlertMessage, format: WebhookFormat): string {
  return JSON.stringify(COMPOSERS[format](message))
}

/** Slack and Teams get the same text, in which nothing from elsewhere can become a link or a mention. */
const COMPOSERS: Readonly<Record<WebhookFormat, (message: AlertMessage) => object>> = {
  json: (message) => ({ event: 'leadsheet.alerts', ...message }),
  // https://docs.slack.dev/messaging/formatting-message-text
  slack: (message) => ({
    text: textOf(message).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  }),
  // An Adaptive Card, which is the format of webhooks and workflows in Teams; its texts are Markdown.
  teams: (message) => {
    const text = textOf(message).replace(/[\\`*_{}[\]()#+!|<>~]/g, '\\$&')
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [{ type: 'TextBlock', text: text.replaceAll('\n', '\n\n'), wrap: true }],
    }
    const contentType = 'application/vnd.microsoft.card.adaptive'
    return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] }
  },
}

function textOf(message: AlertMessage): string {
  const sections = sectionsOf(message, LINES_MAX).flatMap(({ title, lines, more }) => [
    `${title}:`,
    ...lines.map(lineText),
    ...(more === 0 ? [] : [`and ${more.toLocaleString('en')} more: ${CALLED} alerts list`]),
  ])
  return [`leadsheet: ${message.subject}`, message.place, ...sections].join('\n')
}

function lineText({ id, title, subject, message, hint, since, until }: AlertLine): string {
  const heading = `${title}${subject === '' ? '' : ` · ${subject}`} (no. ${id})`
  const cut = message.length <= TEXT_MAX ? message : `${message.slice(0, TEXT_MAX)}…`
  return until === null
    ? `${heading}: ${cut} ${hint}`
    : `${heading}: from ${formatUtc(since)} to ${formatUtc(until)}. It was: ${cut}`
}

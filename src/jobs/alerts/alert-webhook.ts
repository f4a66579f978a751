/**
 * Posts waiting alert messages to the webhook, in the format of the receiver (plain JSON, Slack or Teams).
 */
import type { WebhookFormat } from '../../domain/choices.ts'
import type { Instant } from '../../domain/model.ts'
import { CALLED } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { BACKOFF, GIVE_UP, ladderWaitMs } from '../../retry.ts'
import { listWaitingPosts, updatePost, type WaitingPost } from '../../store/alerts/alert-message.ts'
import type { Store } from '../../store/db/store.ts'
import { formatUtc, MINUTE_MS } from '../../time.ts'
import { type AlertLine, type AlertMessage, type AlertSection, sectionsOf } from './alert-message.ts'
import type { Poster, PostOutcome } from './http-post.ts'

const GIVE_UP_MS = GIVE_UP.alertWebhook.hours * 60 * MINUTE_MS
const POSTS_AT_ONCE = 10
/** Together with `TEXT_MAX`, it keeps a body below the limit of Teams (28 kB). */
const LINES_MAX = 10
/** It keeps a text below the limit of Slack (3,000 characters a section). */
const TEXT_MAX = 600

export interface AlertWebhook {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
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
  return { state: 'pending', nextAt: nextAttempt(attempts, now), response } as const
}

/** @param attempts the number of attempts that failed before the present one */
export function nextAttempt(attempts: number, now: Date): Instant {
  const waitMs = ladderWaitMs(BACKOFF.alertWebhook, attempts + 1, 0) ?? 0
  return new Date(now.getTime() + waitMs).toISOString()
}

export function composeWebhook(message: AlertMessage, format: WebhookFormat): string {
  return JSON.stringify(COMPOSERS[format](message))
}

const COMPOSERS: Readonly<Record<WebhookFormat, (message: AlertMessage) => object>> = {
  json: (message) => ({ event: 'leadsheet.alerts', ...message }),
  slack: composeSlack,
  teams: composeTeams,
}

/** Composes a Slack message: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function composeSlack(message: AlertMessage): object {
  const head = `*leadsheet: ${escaped(message.subject)}*\n${escaped(message.place)}`
  const sections = sectionsOf(message, LINES_MAX).flatMap((section) => [
    `*${section.title}*`,
    ...section.lines.map((line) => `*${escaped(headingOf(line))}*\n${escaped(bodyOf(line))}`),
    ...moreOf(section),
  ])
  return {
    text: `leadsheet: ${escaped(message.subject)}`,
    blocks: [head, ...sections].map((text) => ({ type: 'section', text: { type: 'mrkdwn', text } })),
  }
}

/** https://api.slack.com/reference/surfaces/formatting */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Composes an Adaptive Card, which is the format of webhooks and workflows in Teams. */
function composeTeams(message: AlertMessage): object {
  const block = (text: string, more: object = {}) => ({
    type: 'TextBlock',
    text: plain(text),
    wrap: true,
    ...more,
  })
  const sections = sectionsOf(message, LINES_MAX).flatMap((section) => [
    block(section.title, { weight: 'Bolder', separator: true }),
    ...section.lines.flatMap((line) => [
      block(headingOf(line), { weight: 'Bolder' }),
      block(bodyOf(line), { spacing: 'None' }),
    ]),
    ...moreOf(section).map((text) => block(text, { isSubtle: true })),
  ])
  const body = [
    block(`leadsheet: ${message.subject}`, { weight: 'Bolder', size: 'Medium' }),
    block(message.place, { isSubtle: true, spacing: 'None' }),
    ...sections,
  ]
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
  }
  return {
    type: 'message',
    attachments: [
      { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card },
    ],
  }
}

/** Escapes Markdown, because text from elsewhere must not become a link or a list in a card. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~]/g, '\\$&')
}

function headingOf({ id, title, subject }: AlertLine): string {
  return `${title}${subject === '' ? '' : ` · ${subject}`} (#${id})`
}

function bodyOf({ message, hint, since, until }: AlertLine): string {
  const cut = message.length <= TEXT_MAX ? message : `${message.slice(0, TEXT_MAX)}…`
  return until === null
    ? `${cut}\n${hint}`
    : `From ${formatUtc(since)} to ${formatUtc(until)}. It was: ${cut}`
}

function moreOf({ more }: AlertSection): string[] {
  return more === 0 ? [] : [`and ${more.toLocaleString('en')} more: ${CALLED} alerts list`]
}

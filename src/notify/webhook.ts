/** A message as a webhook takes it: all that is known as JSON, or the shape that Slack or Teams shows. */

import type { WebhookFormat } from '../domain/choices.ts'
import { CALLED } from '../errors.ts'
import { type NoticeLine, type NoticeMessage, type NoticeSection, sectionsOf, tellTime } from './message.ts'

/** In all, with long messages, below what Slack (3,000 characters a section) and Teams (28 kB) take. */
const LINES_MAX = 10
const TEXT_MAX = 600

/** @returns JSON */
export function composeWebhook(message: NoticeMessage, format: WebhookFormat): string {
  return JSON.stringify(COMPOSERS[format](message))
}

const COMPOSERS: Readonly<Record<WebhookFormat, (message: NoticeMessage) => object>> = {
  json: (message) => ({ event: 'leadsheet.notices', ...message }),
  slack: composeSlack,
  teams: composeTeams,
}

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function composeSlack(message: NoticeMessage): object {
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

/** https://api.slack.com/reference/surfaces/formatting: these three, and no others. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** An Adaptive Card, as incoming webhooks and workflows of Teams take it. */
function composeTeams(message: NoticeMessage): object {
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
    ...{ type: 'AdaptiveCard', version: '1.4', body },
  }
  return {
    type: 'message',
    attachments: [
      { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card },
    ],
  }
}

/** Cards read Markdown: what comes from elsewhere must not become a link or a list. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~]/g, '\\$&')
}

function headingOf({ id, title, subject }: NoticeLine): string {
  return `${title}${subject === '' ? '' : ` · ${subject}`} (#${id})`
}

function bodyOf({ message, hint, since, until }: NoticeLine): string {
  const cut = message.length <= TEXT_MAX ? message : `${message.slice(0, TEXT_MAX)}…`
  return until === null ? `${cut}\n${hint}` : `From ${tellTime(since)} to ${tellTime(until)}. It was: ${cut}`
}

function moreOf({ more }: NoticeSection): string[] {
  return more === 0 ? [] : [`and ${more.toLocaleString('en')} more: ${CALLED} alerts list`]
}

/** The messages of a report issue: their state, the mail server's answer, and the recipient's preference. */
import { CALLED } from '../../../errors.ts'
import type { KeptIssue } from '../../../jobs/reports/issue-page.ts'
import { preferenceText } from '../../../jobs/reports/preferences.ts'
import { oneLine } from '../../../report/words/clean-text.ts'
import type { Delivery, DeliveryRowState } from '../../../store/outbox/delivery.ts'
import { count, type Tag } from '../../server/format.ts'
import { button, resendButton } from '../actions/buttons.ts'
import { issueHref } from './list.ts'

const SHOWN_MAX = 100
const RESPONSE_LENGTH = 300

const TAGS: Readonly<Record<DeliveryRowState, Tag>> = {
  pending: { kind: 'busy', text: 'waiting' },
  sending: { kind: 'busy', text: 'sending' },
  data: { kind: 'busy', text: 'sending' },
  sent: { kind: 'ok', text: 'sent' },
  failed: { kind: 'fail', text: 'refused' },
  unconfirmed: { kind: 'warn', text: 'unconfirmed' },
  withdrawn: { kind: 'off', text: 'not wanted' },
  bounced: { kind: 'fail', text: 'bounced' },
  complained: { kind: 'fail', text: 'reported as spam' },
}
// The order of the list by kind of state, so that messages that need attention come first.
const URGENCY: readonly Tag['kind'][] = ['fail', 'warn', 'busy', 'off', 'ok']

/** `shown` is the Message-ID on the page. With `isAll`, the list has no limit. */
export function composeMessages(
  { issue, messages, choices, isLast }: KeptIssue,
  shown: string | null,
  isAll: boolean,
) {
  const urgencyOf = ({ state }: Delivery) => URGENCY.indexOf(TAGS[state].kind)
  const ordered = messages.toSorted((one, other) => urgencyOf(one) - urgencyOf(other))
  const rows = isAll ? ordered : ordered.slice(0, SHOWN_MAX)
  const others = ordered.length - rows.length
  // The map keeps the last revision for each recipient, because it overwrites earlier entries. A message that
  // is sent anew has a higher revision.
  const lastRevisions = new Map(messages.map(({ recipient, revision }) => [recipient, revision]))
  const hasFailed = messages.some(({ state }) => state === 'failed' || state === 'bounced')
  const unconfirmed = messages.find(
    ({ state, nextAttemptAt }) => state === 'unconfirmed' && nextAttemptAt === null,
  )
  return {
    rows: rows.map((message) => rowOf(message)),
    resend: isLast && hasFailed ? resendButton(issue.report, 'failed') : null,
    resolveCommand: unconfirmed
      ? `${CALLED} outbox resolve --report ${issue.report} --recipient ${unconfirmed.recipient} --as delivered --yes`
      : null,
    more:
      others === 0
        ? null
        : { text: `Show the other ${count(others)}`, href: `${issueHref(issue.id)}?messages=all#messages` },
  }

  function rowOf(message: Delivery) {
    const { messageId, recipient, response, attempts, stateAt, nextAttemptAt } = message
    const choice = choices.get(recipient.toLowerCase())
    const isOut = choice !== undefined && choice.state !== 'active'
    const about = `${issue.report} for ${recipient}`
    const isLastOfThem = lastRevisions.get(recipient) === message.revision
    return {
      recipient,
      choice: choice === undefined || choice.state === 'active' ? null : preferenceText(choice),
      tag: tagOf(message),
      since: stateAt,
      next: nextAttemptAt,
      attempts,
      response: response === null ? null : oneLine(response, RESPONSE_LENGTH),
      isShown: messageId === shown,
      links: { show: showHref(issue.id, messageId), eml: `${messageHref(issue.id, messageId)}.eml` },
      buttons: isLastOfThem
        ? [
            ...(isLast && !isOut ? [resendButton(issue.report, recipient)] : []),
            isOut
              ? button('resume', 'Resume', about, { report: issue.report, address: recipient })
              : button('pause', 'Pause', about, { report: issue.report, address: recipient, ask: 'yes' }),
          ]
        : [],
    }
  }
}

/** `again` means that the message was sent anew; `perhaps twice` that an earlier try may have arrived. */
export function tagOf({ state, revision, unconfirmedCount, replyCode }: Delivery): Tag {
  const { kind, text } = TAGS[state]
  const isPerhapsTwice = state === 'sent' && unconfirmedCount > 0 && replyCode !== null
  return { kind, text: `${text}${revision === 0 ? '' : ' again'}${isPerhapsTwice ? ', perhaps twice' : ''}` }
}

/** Leaves out the brackets of the Message-ID, because they would become `%3C` and `%3E`. */
export function messageHref(issueId: string, messageId: string): string {
  return `${issueHref(issueId)}/message/${encodeURIComponent(messageName(messageId))}`
}

function showHref(issueId: string, messageId: string): string {
  return `${issueHref(issueId)}?${new URLSearchParams({ message: messageName(messageId) })}#mail`
}

export function messageName(messageId: string): string {
  return messageId.replace(/^<|>$/g, '')
}

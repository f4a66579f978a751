/** Who got an edition: each letter with where it stands, what the server said, and what its recipient wishes. */
import { CALLED } from '../../../errors.ts'
import type { KeptEdition } from '../../../jobs/reports/issue-page.ts'
import { subscriptionText } from '../../../jobs/reports/preferences.ts'
import { oneLine } from '../../../report/words/clean-text.ts'
import type { DeliveryRowState } from '../../../store/outbox/delivery.ts'
import type { EditionLetter } from '../../../store/outbox/kept-messages.ts'
import {
  type Button,
  pauseButton,
  resendButton,
  resendFailedButton,
  resumeButton,
} from '../actions/buttons.ts'
import type { Clock, Moment, Tag } from '../format.ts'
import { count } from '../format.ts'
import { editionHref } from './list.ts'

export interface LettersView {
  readonly rows: readonly LetterRow[]
  /** To all whose letter was refused; null where there are none, or it is not the last edition. */
  readonly resend: Button | null
  /** What is to be done about those in doubt that are not sent again by themselves; null where there are none. */
  readonly settle: string | null
  /** Where the others are; null where all are shown. */
  readonly more: { readonly text: string; readonly href: string } | null
}

export interface LetterRow {
  readonly recipient: string
  /** `paused by the operator on 2026-11-20`; null of who gets it as it is. */
  readonly wish: string | null
  readonly tag: Tag
  readonly since: Moment
  /** When it is tried next; null where it is not. */
  readonly next: Moment | null
  /** Such as `German`; null where the letter is no longer there. */
  readonly language: string | null
  readonly attempts: number
  readonly response: string | null
  readonly isShown: boolean
  /** Null where the letter is no longer there. */
  readonly links: { readonly show: string; readonly eml: string } | null
  readonly buttons: readonly Button[]
}

const SHOWN_MAX = 100
const RESPONSE_LENGTH = 300

const TAGS: Readonly<Record<DeliveryRowState, Tag>> = {
  pending: { kind: 'busy', text: 'waiting' },
  sending: { kind: 'busy', text: 'sending' },
  data: { kind: 'busy', text: 'sending' },
  sent: { kind: 'ok', text: 'sent' },
  failed: { kind: 'fail', text: 'refused' },
  in_doubt: { kind: 'warn', text: 'in doubt' },
  withdrawn: { kind: 'off', text: 'not wanted' },
}
/** What somebody has to look at goes before what went well. */
const URGENCY: readonly Tag['kind'][] = ['fail', 'warn', 'busy', 'off', 'ok']

const languages = new Intl.DisplayNames('en', { type: 'language' })

/**
 * @param shown Message-ID of the letter that the page shows
 * @param isAll without a limit
 */
export function composeLetters(
  { edition, letters, wishes, isLast }: KeptEdition,
  shown: string | null,
  isAll: boolean,
  clock: Clock,
): LettersView {
  const urgencyOf = ({ state }: EditionLetter) => URGENCY.indexOf(TAGS[state].kind)
  const ordered = letters.toSorted((one, other) => urgencyOf(one) - urgencyOf(other))
  const rows = isAll ? ordered : ordered.slice(0, SHOWN_MAX)
  const others = ordered.length - rows.length
  // In order of their revisions: the last one stays.
  const lastRevisions = new Map(letters.map(({ recipient, revision }) => [recipient, revision]))
  const hasFailed = letters.some(({ state }) => state === 'failed')
  const doubtful = letters.find(({ state, nextAttemptAt }) => state === 'in_doubt' && nextAttemptAt === null)
  return {
    rows: rows.map((letter) => rowOf(letter)),
    resend: isLast && hasFailed ? resendFailedButton(edition.report) : null,
    settle: doubtful ? `${CALLED} deliveries settle ${edition.report} ${doubtful.recipient} --arrived` : null,
    more:
      others === 0
        ? null
        : { text: `Show the other ${count(others)}`, href: `${editionHref(edition.id)}?letters=all#letters` },
  }

  function rowOf(letter: EditionLetter): LetterRow {
    const { messageId, recipient, response, lang, attempts, stateAt, nextAttemptAt } = letter
    const wish = wishes.get(recipient.toLowerCase())
    const isOut = wish !== undefined && wish.state !== 'active'
    const isLastOfThem = lastRevisions.get(recipient) === letter.revision
    return {
      recipient,
      wish:
        wish === undefined || (wish.state === 'active' && wish.cadence !== 'weekly')
          ? null
          : subscriptionText(wish),
      tag: tagOf(letter),
      since: clock.at(stateAt),
      next: clock.at(nextAttemptAt),
      language: lang === null ? null : (languages.of(lang) ?? lang),
      attempts,
      response: response === null ? null : oneLine(response, RESPONSE_LENGTH),
      isShown: messageId === shown,
      links:
        lang === null
          ? null
          : { show: showHref(edition.id, messageId), eml: `${letterHref(edition.id, messageId)}.eml` },
      buttons: isLastOfThem
        ? [
            ...(isLast && !isOut ? [resendButton(edition.report, recipient)] : []),
            ...(isOut ? [resumeButton(edition.report, recipient)] : [pauseButton(edition.report, recipient)]),
          ]
        : [],
    }
  }
}

/** `sent again` of a later revision, `sent, perhaps twice` where the server took what may have arrived before. */
export function tagOf({ state, revision, doubts, replyCode }: EditionLetter): Tag {
  const { kind, text } = TAGS[state]
  const isPerhapsTwice = state === 'sent' && doubts > 0 && replyCode !== null
  return { kind, text: `${text}${revision === 0 ? '' : ' again'}${isPerhapsTwice ? ', perhaps twice' : ''}` }
}

/** What belongs to a letter; the brackets of its Message-ID would be written as `%3C` and `%3E`. */
export function letterHref(editionId: string, messageId: string): string {
  return `${editionHref(editionId)}/letter/${encodeURIComponent(letterName(messageId))}`
}

function showHref(editionId: string, messageId: string): string {
  return `${editionHref(editionId)}?${new URLSearchParams({ letter: letterName(messageId) })}#mail`
}

/** The Message-ID without its brackets. */
export function letterName(messageId: string): string {
  return messageId.replace(/^<|>$/g, '')
}

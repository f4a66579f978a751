/** What a message to operators says: the troubles as lines, the subject, and the message of it. */
import { shellCommand } from '../errors.ts'
import type { Instant } from '../model.ts'
import { type NoticeLine, type NoticeMessage, sectionsOf, tellTime } from '../notify/message.ts'
import type { NoticeMessageView } from '../report/render/notice-message.ts'
import { counted } from '../report/words/numbers.ts'
import type { Notice } from '../store/alerts/alert.ts'
import type { Telling } from './notice.ts'
import { factsOf } from './notice-reasons.ts'

const TITLES_IN_SUBJECT = 3
const LINES_MAX = 20

/** @param open how many troubles are open in all */
export function composeMessage(telling: Telling, open: number, place: string, at: Instant): NoticeMessage {
  const [raised, reminded, recovered] = [telling.raised, telling.reminded, telling.recovered].map((notices) =>
    notices.map(lineOf),
  ) as [NoticeLine[], NoticeLine[], NoticeLine[]]
  return {
    ...{ subject: subjectOf(raised, reminded, recovered), made_at: at, place },
    ...{ raised, reminded, recovered, open },
  }
}

/** @param message as it was composed, also long ago */
export function messageView(message: NoticeMessage): NoticeMessageView {
  const { open } = message
  return {
    title: message.subject,
    place: message.place,
    sections: sectionsOf(message, LINES_MAX).map(({ title, lines, more }) => ({
      title,
      isGood: lines.every(({ until }) => until !== null),
      lines: lines.map((line) => ({
        heading: `${capital(line.title)}${line.subject === '' ? '' : ` · ${line.subject}`}`,
        message: line.until === null ? line.message : `It was: ${line.message}`,
        hint: line.until === null ? line.hint : null,
        times:
          line.until === null
            ? `No. ${line.id}, since ${tellTime(line.since)}`
            : `No. ${line.id}, from ${tellTime(line.since)} to ${tellTime(line.until)}`,
      })),
      more: more === 0 ? null : `and ${more.toLocaleString('en')} more: ${shellCommand('alerts list')}`,
    })),
    footer: [
      open === 0
        ? 'Nothing is open any more.'
        : `${open.toLocaleString('en')} open: ${shellCommand('alerts list')}. ${shellCommand('alerts ack NUMBER')} ends the reminders of one.`,
      'You get this as an operator of leadsheet (alerts.recipients in its settings).',
    ],
  }
}

function lineOf(notice: Notice): NoticeLine {
  const { id, reason, subject, message, hint, openedAt, firstSeenAt, closedAt } = notice
  return {
    ...{ id, reason, title: factsOf(reason).title, subject, message, hint },
    ...{ since: openedAt ?? firstSeenAt, until: closedAt },
  }
}

/** `2 troubles: sync failing, mail waiting`; of several kinds the worse: new before old before over. */
function subjectOf(
  raised: readonly NoticeLine[],
  reminded: readonly NoticeLine[],
  recovered: readonly NoticeLine[],
): string {
  if (raised.length > 0) return `${counted(raised.length, 'trouble')}: ${titlesOf(raised)}`
  if (reminded.length > 0) return `still ${counted(reminded.length, 'trouble')}: ${titlesOf(reminded)}`
  return `over: ${titlesOf(recovered)}`
}

/** Each reason once, with its subject where only one is meant. */
function titlesOf(lines: readonly NoticeLine[]): string {
  const titles = [...Map.groupBy(lines, ({ title }) => title)].map(([title, same]) => {
    const [first] = same
    return same.length === 1 && first?.subject ? `${title} (${first.subject})` : title
  })
  const more = titles.length - TITLES_IN_SUBJECT
  return titles.slice(0, TITLES_IN_SUBJECT).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Composes the message about alerts as data, from which mail, webhook and log each make their own text. */

import { alertFacts } from '../../checks/run-checks.ts'
import type { Instant } from '../../domain/model.ts'
import { shellCommand } from '../../errors.ts'
import type { AlertMailView } from '../../report/render/alert-mail.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Alert } from '../../store/alerts/alert.ts'
import { formatUtc } from '../../time.ts'
import type { Announcement } from './alert-state.ts'

const TITLES_IN_SUBJECT = 3
const LINES_MAX = 20
/** The id of an alert that is only told, such as a test, or one about the database itself. */
export const NOT_STORED = 0

export interface AlertMessage {
  readonly subject: string
  readonly made_at: Instant
  readonly place: string
  readonly opened: readonly AlertLine[]
  readonly reminded: readonly AlertLine[]
  readonly resolved: readonly AlertLine[]
  readonly open: number
}

export interface AlertLine {
  readonly id: number
  readonly check: string
  readonly title: string
  /** The report, recipient or field that the alert is about; empty if the check raises only one alert. */
  readonly subject: string
  readonly message: string
  readonly hint: string
  readonly since: Instant
  readonly until: Instant | null
}

export function composeAlertMessage(
  announcement: Announcement,
  open: number,
  place: string,
  at: Instant,
): AlertMessage {
  const opened = announcement.opened.map(lineOf)
  const reminded = announcement.reminded.map(lineOf)
  const resolved = announcement.resolved.map(lineOf)
  const subject = subjectOf(opened, reminded, resolved)
  return { subject, made_at: at, place, opened, reminded, resolved, open }
}

function lineOf(alert: Alert): AlertLine {
  const { id, checkId: check, subject, message, hint, openedAt, firstSeenAt, resolvedAt } = alert
  return {
    id,
    check,
    title: alertFacts(check).title,
    subject,
    message,
    hint,
    since: openedAt ?? firstSeenAt,
    until: resolvedAt,
  }
}

/**
 * Returns the subject, such as `2 alerts: sync failing, mail waiting`. The subject names the new alerts. If
 * there are none, it names the alerts that are still open. If there are none of these either, it names the
 * resolved alerts.
 */
function subjectOf(
  opened: readonly AlertLine[],
  reminded: readonly AlertLine[],
  resolved: readonly AlertLine[],
): string {
  if (opened.length > 0) return `${counted(opened.length, 'alert')}: ${titlesOf(opened)}`
  if (reminded.length > 0) return `still ${counted(reminded.length, 'alert')}: ${titlesOf(reminded)}`
  return `resolved: ${titlesOf(resolved)}`
}

/** Lists each title once. A title that only one alert has is followed by the subject of that alert. */
function titlesOf(lines: readonly AlertLine[]): string {
  const titles = [...Map.groupBy(lines, ({ title }) => title)].map(([title, same]) => {
    const [first] = same
    return same.length === 1 && first?.subject ? `${title} (${first.subject})` : title
  })
  const more = titles.length - TITLES_IN_SUBJECT
  return titles.slice(0, TITLES_IN_SUBJECT).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

export function sectionsOf(message: AlertMessage, linesMax: number) {
  const { opened, reminded, resolved } = message
  const all = [
    { title: opened.length === 1 ? 'New alert' : 'New alerts', lines: opened },
    { title: 'Still open', lines: reminded },
    { title: 'Resolved', lines: resolved },
  ]
  return all
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => ({
      title,
      lines: lines.slice(0, linesMax),
      more: Math.max(0, lines.length - linesMax),
    }))
}

export function alertMailView(message: AlertMessage): AlertMailView {
  const { open } = message
  const openText =
    open === 0
      ? 'No alert is open any more.'
      : `${open.toLocaleString('en')} open: ${shellCommand('alerts list')}. ${shellCommand('alerts ack NUMBER')} ends the reminders of one.`
  const isStored = message.opened[0]?.id !== NOT_STORED
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
            ? `${line.id === NOT_STORED ? 'Since' : `No. ${line.id}, since`} ${formatUtc(line.since)}`
            : `No. ${line.id}, from ${formatUtc(line.since)} to ${formatUtc(line.until)}`,
      })),
      more: more === 0 ? null : `and ${more.toLocaleString('en')} more: ${shellCommand('alerts list')}`,
    })),
    footer: [
      ...(isStored ? [openText] : []),
      'You get this as an operator of leadsheet (alerts.recipients in its settings).',
    ],
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

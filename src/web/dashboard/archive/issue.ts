/** Serves an issue's mail, recipients, counts, and files: `.eml`, attachments and CSV. */
import type { FastifyRequest } from 'fastify'
import type { Message } from '../../../domain/message.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError } from '../../../errors.ts'
import { variantText } from '../../../jobs/archive/archive.ts'
import type { KeptIssue } from '../../../jobs/reports/issue-page.ts'
import {
  listFigureFiles,
  makeFigureFile,
  picturesOf,
  readKeptIssue,
} from '../../../jobs/reports/issue-page.ts'
import { buildMessage, type DkimKey } from '../../../mail/message.ts'
import { withPictures } from '../../../report/archive/page.ts'
import { type Delivery, listDeliveries } from '../../../store/outbox/delivery.ts'
import { findMessage } from '../../../store/outbox/stored-message.ts'
import { type Issue, readIssue } from '../../../store/reports/issue.ts'
import type { IssueName } from '../../../store/reports/issue-list.ts'
import { clockOf } from '../../server/format.ts'
import { type DashboardDeps, frameOf } from '../../server/frame.ts'
import { MAIL_HEADERS, sendDownload } from '../../server/headers.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { button } from '../actions/buttons.ts'
import { composeMessages, messageHref, messageName, tagOf } from './issue-messages.ts'
import { aboutIssue, issueHref, issueTag } from './list.ts'

interface Route {
  readonly Params: { readonly issue: string }
  readonly Querystring: Readonly<Partial<Record<'message' | 'as' | 'messages', unknown>>>
}

export function issueRoutes({ store: { db }, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const issuePage = pages.page('issue')
  const find = async ({ params }: FastifyRequest<Route>): Promise<KeptIssue> => {
    const kept = await readKeptIssue(db, params.issue, now())
    if (kept === null) throw unknown('issue')
    return kept
  }
  return (app) => {
    app.get<Route>('/archive/:issue', async (request, reply) => {
      const kept = await find(request)
      const { message: wanted, as, messages } = request.query
      const message = chooseMessage(kept, wanted)
      const content = message && (await findMessage(db, message.messageId))
      const choice = { message, content, isText: as === 'text' }
      const view = composeIssue(kept, choice, messages === 'all')
      const frame = frameOf(request, kept.issue.subject, '/archive')
      return sendPage(reply, issuePage(view, frame, clockOf(timeZone, now())))
    })
  }
}

function unknown(what: 'issue' | 'message'): LeadsheetError {
  const where = what === 'issue' ? 'The archive' : 'The page of the issue'
  return new LeadsheetError('report_not_kept', `There is no such ${what}`, {
    hint: `${where} lists those that there are.`,
  })
}

/** Returns the first by default; null without messages, or if the issue as it was made is wanted. */
function chooseMessage({ messages }: KeptIssue, wanted: unknown): Delivery | null {
  if (wanted === KEPT) return null
  if (typeof wanted !== 'string') return messages[0] ?? null
  const found = messages.find(({ messageId }) => messageName(messageId) === wanted)
  if (found === undefined) throw unknown('message')
  return found
}

// The part of the estimated height of a mail that does not depend on its text.
const ROUND_IT_PX = 500
// The estimated height of one line of text, at the width of a phone.
const LINE_PX = 34

interface MailChoice {
  /** The chosen message; null for the issue as it was made, without a recipient. */
  readonly message: Delivery | null
  /** The content of the message; null if it is no longer kept, or no message was chosen. */
  readonly content: Message | null
  readonly isText: boolean
}

/** The word that stands in URLs for the issue as it was made, without a recipient. */
const KEPT = 'issue'

function composeIssue(kept: KeptIssue, choice: MailChoice, isAllMessages: boolean) {
  const { issue } = kept
  const { period, variant, report, renderedAt, programVersion, figures } = issue
  return {
    ...headOf(kept),
    files: listFigureFiles(issue).map(({ name, title }) => ({
      text: title,
      href: `${issueHref(issue.id)}/csv/${encodeURIComponent(name)}`,
    })),
    mail: composeMail(kept, choice),
    period: `${formatDates(period)} (${period.timeZone})`,
    prior: programVersion === null ? null : formatDates(figures.prior),
    leads: variantText(variant),
    programVersion,
    dataAsOf: programVersion === null ? null : figures.freshness.dataAsOf,
    made: renderedAt,
    messages: composeMessages(kept, choice.message?.messageId ?? null, isAllMessages),
    test: button('test', 'Send a test', report, { report }),
  }
}

function headOf({ issue, line, older, newer }: KeptIssue) {
  const neighbour = (name: IssueName | null) =>
    name && { href: issueHref(name.id), dates: formatDates(name.period) }
  return {
    subject: issue.subject,
    about: aboutIssue(issue),
    tag: issueTag(line),
    older: neighbour(older),
    newer: neighbour(newer),
  }
}

function composeMail({ issue }: KeptIssue, { message, content, isText }: MailChoice) {
  const name = message === null ? KEPT : messageName(message.messageId)
  const shown = (as: 'html' | 'text') =>
    `${issueHref(issue.id)}?${new URLSearchParams({ message: name, ...(as === 'text' ? { as } : {}) })}#mail`
  const isThere = message === null || content !== null
  const text = message === null ? issue.text : (content?.text ?? null)
  return {
    heading: message === null ? 'As it was made, for no recipient in particular' : `To ${message.recipient}`,
    subject: content === null || content.subject === issue.subject ? null : content.subject,
    tag: message && tagOf(message),
    since: message?.stateAt ?? null,
    src: isThere && !isText ? `${issueHref(issue.id)}/mail/${encodeURIComponent(name)}` : null,
    height: String(ROUND_IT_PX + LINE_PX * (text ?? '').split('\n').length),
    text: isText ? text : null,
    printed: text ?? '',
    asHtml: shown('html'),
    asText: shown('text'),
    eml: message === null || content === null ? null : `${messageHref(issue.id, message.messageId)}.eml`,
    kept: message === null ? null : `${issueHref(issue.id)}?message=${KEPT}#mail`,
  }
}

interface IssueFilesDeps extends Pick<DashboardDeps, 'store'> {
  /** The key that signs the `.eml` files like the sent messages; null if messages are not signed. */
  readonly dkim: DkimKey | null
}

interface FileRoute {
  readonly Params: Readonly<Record<'issue' | 'message' | 'list', string>>
}

/** Adds the routes of the files. Each file is looked up within its issue, so no URL reaches other data. */
export function issueFilesRoutes({ store: { db }, dkim }: IssueFilesDeps): AddRoutes {
  const findIssue = async (id: string): Promise<Issue> => {
    const issue = await readIssue(db, id)
    if (issue === undefined) throw unknown('issue')
    return issue
  }
  const findKept = async (issue: string, name: string): Promise<Message> => {
    const messages = await listDeliveries(db, issue)
    const found = messages.find(({ messageId }) => messageName(messageId) === name)
    const message = found === undefined ? null : await findMessage(db, found.messageId)
    if (message === null) throw unknown('message')
    return message
  }
  return (app) => {
    app.get<FileRoute>('/archive/:issue/mail/:message', async ({ params: { issue, message } }, reply) => {
      const shown = message === KEPT ? await keptMail(await findIssue(issue)) : await findKept(issue, message)
      return sendPage(reply.headers(MAIL_HEADERS), withPictures(shown))
    })
    app.get<FileRoute>('/archive/:issue/message/:message.eml', async ({ params }, reply) => {
      const message = await findKept(params.issue, params.message)
      return sendDownload(reply, {
        name: `${message.report}-${message.date.slice(0, 10)}-${message.to}.eml`,
        contentType: 'message/rfc822',
        content: await buildMessage(message, dkim),
      })
    })
    app.get<FileRoute>('/archive/:issue/csv/:list', async ({ params }, reply) => {
      const file = await makeFigureFile(await findIssue(params.issue), params.list)
      if (file === null) throw unknown('issue')
      return sendDownload(reply, file)
    })
  }
}

/** Draws the pictures again, because only messages are stored with pictures. */
async function keptMail(issue: Issue) {
  return { html: issue.html, files: await picturesOf(issue) }
}

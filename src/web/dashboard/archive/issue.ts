/**
 * Serves the pages of one report issue: the mail with its recipients, and how each figure was counted. Also
 * serves the files of the issue: mails as `.eml`, their attachments, and the figures as CSV.
 */
import type { FastifyRequest } from 'fastify'
import type { Message } from '../../../domain/message.ts'
import { formatDates } from '../../../domain/period.ts'
import { LeadsheetError } from '../../../errors.ts'
import { variantText } from '../../../jobs/archive/archive.ts'
import type { KeptIssue } from '../../../jobs/reports/issue-page.ts'
import {
  bannerOf,
  listFigureFiles,
  makeFigureFile,
  picturesOf,
  readExplanations,
  readKeptIssue,
} from '../../../jobs/reports/issue-page.ts'
import type { DkimKey } from '../../../mail/message.ts'
import { buildMessage } from '../../../mail/message.ts'
import { withPictures } from '../../../report/archive/page.ts'
import { listDeliveries } from '../../../store/outbox/delivery.ts'
import type { IssueMessage } from '../../../store/outbox/kept-messages.ts'
import { findMessage } from '../../../store/outbox/stored-message.ts'
import type { Issue } from '../../../store/reports/issue.ts'
import { readIssue } from '../../../store/reports/issue.ts'
import type { IssueName } from '../../../store/reports/issue-list.ts'
import type { Clock } from '../../server/format.ts'
import { bytes, clockOf } from '../../server/format.ts'
import type { DashboardDeps } from '../../server/frame.ts'
import { frameOf } from '../../server/frame.ts'
import { MAIL_HEADERS, sendDownload } from '../../server/headers.ts'
import type { AddRoutes } from '../../server/server.ts'
import { sendPage } from '../../server/server.ts'
import { testButton } from '../actions/buttons.ts'
import { composeMessages, messageHref, messageName, tagOf } from './issue-messages.ts'
import { aboutIssue, issueHref, issueLine, issueTag } from './list.ts'

interface Route {
  readonly Params: { readonly issue: string }
  readonly Querystring: Readonly<Partial<Record<'message' | 'as' | 'messages', unknown>>>
}

export function issueRoutes({ store: { db }, pages, now, timeZone }: DashboardDeps): AddRoutes {
  const issuePage = pages.page('issue')
  const figuresPage = pages.page('issue-figures')
  const find = async ({ params }: FastifyRequest<Route>): Promise<KeptIssue> => {
    const kept = await readKeptIssue(db, params.issue, now())
    if (kept === null) throw unknownIssue()
    return kept
  }
  return (app) => {
    app.get<Route>('/archive/:issue', async (request, reply) => {
      const kept = await find(request)
      const { message: wanted, as, messages } = request.query
      const message = chooseMessage(kept, wanted)
      const content = message && (await findMessage(db, message.messageId))
      const choice = { message, content, isText: as === 'text' }
      const view = composeIssue(kept, choice, messages === 'all', clockOf(timeZone, now()), timeZone)
      return sendPage(reply, issuePage(view, frameOf(request, kept.issue.subject, '/archive')))
    })
    app.get<Route>('/archive/:issue/figures', async (request, reply) => {
      const kept = await find(request)
      const { issue } = kept
      const view = {
        ...headOf(kept, 'figures'),
        files: listFigureFiles(issue).map(({ name, title }) => ({
          text: title,
          href: `${issueHref(issue.id)}/csv/${encodeURIComponent(name)}`,
        })),
        blocks: await readExplanations(db, issue),
      }
      return sendPage(reply, figuresPage(view, frameOf(request, `Figures: ${issue.subject}`, '/archive')))
    })
  }
}

function unknownIssue(): LeadsheetError {
  return new LeadsheetError('report_not_kept', 'There is no such issue', {
    hint: 'The archive lists those that there are.',
  })
}

function unknownMessage(): LeadsheetError {
  return new LeadsheetError('report_not_kept', 'There is no such message', {
    hint: 'The page of the issue lists those that there are.',
  })
}

/**
 * Returns the wanted message, or the first if none is wanted. Returns null if the issue has no messages, or
 * if the issue as it was made is wanted.
 */
function chooseMessage({ messages }: KeptIssue, wanted: unknown): IssueMessage | null {
  if (wanted === KEPT) return null
  if (typeof wanted !== 'string') return messages[0] ?? null
  const found = messages.find(({ messageId }) => messageName(messageId) === wanted)
  if (found === undefined) throw unknownMessage()
  return found
}

// The part of the estimated height of a mail that does not depend on its text.
const ROUND_IT_PX = 500
// The estimated height of one line of text, at the width of a phone.
const LINE_PX = 34

/** The mail that the page shows, and whether as HTML or as text. */
interface MailChoice {
  /** The chosen message; null for the issue as it was made, without a recipient. */
  readonly message: IssueMessage | null
  /** The content of the message; null if it is no longer kept, or no message was chosen. */
  readonly content: Message | null
  readonly isText: boolean
}

/** The word that stands in URLs for the issue as it was made, without a recipient. */
export const KEPT = 'issue'

export function composeIssue(
  kept: KeptIssue,
  choice: MailChoice,
  isAllMessages: boolean,
  clock: Clock,
  timeZone: string,
) {
  const { issue } = kept
  const { period, variant, report, renderedAt, programVersion, figures } = issue
  const banner = bannerOf(issue, timeZone)
  const { message, content } = choice
  return {
    ...headOf(kept, 'mail'),
    banner: banner && { kind: banner.isWarning ? 'warn' : 'off', lines: banner.lines },
    mail: composeMail(kept, choice, clock),
    facts: [
      { name: 'Period', value: `${formatDates(period)} (${period.timeZone})` },
      ...(programVersion === null ? [] : [{ name: 'Compared with', value: formatDates(figures.prior) }]),
      { name: 'Leads', value: variantText(variant) ?? 'all that the report is about' },
      ...(programVersion === null ? [] : [{ name: 'Data as of', value: dataAsOf(kept, clock) }]),
      {
        name: 'Made by',
        value: programVersion === null ? 'an older leadsheet' : `leadsheet ${programVersion}`,
      },
    ],
    made: clock.at(renderedAt),
    files: (content?.files ?? []).flatMap((file, index) =>
      file.cid !== null || message === null
        ? []
        : [
            {
              name: file.name,
              href: `${messageHref(issue.id, message.messageId)}/file/${index}`,
              size: bytes(file.content.length),
            },
          ],
    ),
    samePeriod: kept.samePeriod.map((other) => issueLine(other, clock)),
    messages: composeMessages(kept, message?.messageId ?? null, isAllMessages, clock),
    test: testButton(report),
  }
}

/** @param here the current page; the links to the neighbouring issues open the same page */
function headOf({ issue, line, older, newer }: KeptIssue, here: 'mail' | 'figures') {
  const pathOf = (id: string, place: typeof here) =>
    `${issueHref(id)}${place === 'figures' ? '/figures' : ''}`
  const neighbour = (name: IssueName | null) =>
    name && { href: pathOf(name.id, here), dates: formatDates(name.period) }
  return {
    subject: issue.subject,
    about: aboutIssue(issue),
    tag: issueTag(line),
    places: [
      { href: pathOf(issue.id, 'mail'), text: 'Mail and recipients', isHere: here === 'mail' },
      { href: pathOf(issue.id, 'figures'), text: 'Figures and their SQL', isHere: here === 'figures' },
    ],
    older: neighbour(older),
    newer: neighbour(newer),
  }
}

function composeMail({ issue }: KeptIssue, { message, content, isText }: MailChoice, clock: Clock) {
  const name = message === null ? KEPT : messageName(message.messageId)
  const shown = (as: 'html' | 'text') =>
    `${issueHref(issue.id)}?${new URLSearchParams({ message: name, ...(as === 'text' ? { as } : {}) })}#mail`
  const isThere = message === null || content !== null
  const text = message === null ? issue.text : (content?.text ?? null)
  return {
    heading: message === null ? 'As it was made, for no recipient in particular' : `To ${message.recipient}`,
    subject: content === null || content.subject === issue.subject ? null : content.subject,
    tag: message && tagOf(message),
    since: message && clock.at(message.stateAt),
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

function dataAsOf({ issue: { figures } }: KeptIssue, clock: Clock): string {
  const { dataAsOf: at } = figures.freshness
  return at === null ? 'no complete sync' : clock.at(at).text
}

interface IssueFilesDeps extends Pick<DashboardDeps, 'store'> {
  /** The key that signs the `.eml` files like the sent messages; null if messages are not signed. */
  readonly dkim: DkimKey | null
}

interface FileRoute {
  readonly Params: {
    readonly issue: string
    readonly message: string
    readonly file: string
    readonly list: string
  }
}

type Params = Partial<FileRoute['Params']>

const EML = '.eml'
// Matches the types of attachments. A file of another type is sent as plain bytes.
const KNOWN_TYPES =
  /^(?:text\/csv; charset=utf-8|image\/png|application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet)$/

/** Adds the routes of the files. Each file is looked up within its issue, so no URL reaches other data. */
export function issueFilesRoutes({ store: { db }, dkim }: IssueFilesDeps): AddRoutes {
  const findIssue = async ({ issue: id = '' }: Params): Promise<Issue> => {
    const issue = await readIssue(db, id)
    if (issue === undefined) throw unknownIssue()
    return issue
  }
  const findKept = async ({ issue = '', message: name }: Params): Promise<Message> => {
    const messages = await listDeliveries(db, issue)
    const found = messages.find(({ messageId }) => messageName(messageId) === name)
    const message = found === undefined ? null : await findMessage(db, found.messageId)
    if (message === null) throw unknownMessage()
    return message
  }
  return (app) => {
    app.get<FileRoute>('/archive/:issue/mail/:message', async ({ params }, reply) => {
      const html =
        params.message === KEPT
          ? await keptHtml(await findIssue(params))
          : withPictures(await findKept(params))
      return sendPage(reply.headers(MAIL_HEADERS), html)
    })
    app.get<FileRoute>('/archive/:issue/message/:file', async ({ params: { issue, file } }, reply) => {
      if (!file.endsWith(EML)) throw unknownMessage()
      const message = await findKept({ issue, message: file.slice(0, -EML.length) })
      const name = `${message.report}-${message.date.slice(0, 10)}-${message.to}${EML}`
      return sendDownload(reply, {
        name,
        contentType: 'message/rfc822',
        content: await buildMessage(message, dkim),
      })
    })
    app.get<FileRoute>('/archive/:issue/message/:message/file/:file', async ({ params }, reply) => {
      const { files } = await findKept(params)
      const file = /^\d{1,3}$/.test(params.file) ? files[Number(params.file)] : undefined
      if (file === undefined) throw unknownMessage()
      const contentType = KNOWN_TYPES.test(file.contentType) ? file.contentType : 'application/octet-stream'
      return sendDownload(reply, { ...file, contentType })
    })
    app.get<FileRoute>('/archive/:issue/csv/:list', async ({ params }, reply) => {
      const file = await makeFigureFile(await findIssue(params), params.list)
      if (file === null) throw unknownIssue()
      return sendDownload(reply, file)
    })
  }
}

/**
 * Returns the issue's HTML with its pictures. The pictures are drawn again, because only messages are stored
 * with pictures.
 */
async function keptHtml(issue: Issue): Promise<string> {
  return withPictures({ html: issue.html, files: await picturesOf(issue) })
}

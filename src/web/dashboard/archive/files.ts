/**
 * The files of an issue: its mails for the frame, the messages as `.eml`, their attachments, and the figures
 * as CSV. Each file is looked up within its issue, so that no URL can reach other data.
 */

import type { Message } from '../../../domain/message.ts'
import { makeFigureFile, picturesOf } from '../../../jobs/reports/issue-page.ts'
import type { DkimKey } from '../../../mail/message.ts'
import { buildMessage } from '../../../mail/message.ts'
import { withPictures } from '../../../report/archive/pages.ts'
import { listDeliveries } from '../../../store/outbox/delivery.ts'
import { findMessage } from '../../../store/outbox/stored-message.ts'
import { type Issue, readIssue } from '../../../store/reports/issue.ts'
import type { DashboardDeps } from '../../server/frame.ts'
import { MAIL_HEADERS, sendDownload } from '../../server/headers.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { KEPT, unknownIssue, unknownMessage } from './issue.ts'
import { messageName } from './issue-messages.ts'

interface IssueFilesDeps extends Pick<DashboardDeps, 'store'> {
  /** The key that signs `.eml` files like the sent messages; null if messages are not signed. */
  readonly dkim: DkimKey | null
}

interface Route {
  readonly Params: {
    readonly issue: string
    readonly message: string
    readonly file: string
    readonly list: string
  }
}

type Params = Partial<Route['Params']>

const EML = '.eml'
// A file of any other type is sent as plain bytes, even if the message names its type.
const KNOWN_TYPES =
  /^(?:text\/csv; charset=utf-8|image\/png|application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet)$/

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
    app.get<Route>('/archive/:issue/mail/:message', async ({ params }, reply) => {
      const html =
        params.message === KEPT
          ? await keptHtml(await findIssue(params))
          : withPictures(await findKept(params))
      return sendPage(reply.headers(MAIL_HEADERS), html)
    })
    app.get<Route>('/archive/:issue/message/:file', async ({ params: { issue, file } }, reply) => {
      if (!file.endsWith(EML)) throw unknownMessage()
      const message = await findKept({ issue, message: file.slice(0, -EML.length) })
      const name = `${message.report}-${message.date.slice(0, 10)}-${message.to}${EML}`
      return sendDownload(reply, {
        name,
        contentType: 'message/rfc822',
        content: await buildMessage(message, dkim),
      })
    })
    app.get<Route>('/archive/:issue/message/:message/file/:file', async ({ params }, reply) => {
      const { files } = await findKept(params)
      const file = /^\d{1,3}$/.test(params.file) ? files[Number(params.file)] : undefined
      if (file === undefined) throw unknownMessage()
      const contentType = KNOWN_TYPES.test(file.contentType) ? file.contentType : 'application/octet-stream'
      return sendDownload(reply, { ...file, contentType })
    })
    app.get<Route>('/archive/:issue/csv/:list', async ({ params }, reply) => {
      const file = await makeFigureFile(await findIssue(params), params.list)
      if (file === null) throw unknownIssue()
      return sendDownload(reply, file)
    })
  }
}

/**
 * Returns the issue's HTML. The pictures are drawn again, because only messages are stored with their
 * pictures.
 */
async function keptHtml(issue: Issue): Promise<string> {
  return withPictures({ html: issue.html, files: await picturesOf(issue) })
}

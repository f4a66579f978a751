/**
 * What is behind the page of an edition: its mails for the frame, the letters to the byte as files, what came with
 * them, and the figures as CSV. Each is found by the id of its edition first, so that no address leads anywhere else.
 */
import { makeFigureFile } from '../../../jobs/reports/figure-files.ts'
import { picturesOf } from '../../../jobs/reports/issue-page.ts'
import type { DkimKey } from '../../../mail/dkim.ts'
import { buildMessage } from '../../../mail/message.ts'
import type { Letter } from '../../../model.ts'
import { withPictures } from '../../../report/archive/pages.ts'
import { listDeliveries } from '../../../store/outbox/delivery.ts'
import { findLetter } from '../../../store/outbox/message.ts'
import { type Edition, readEdition } from '../../../store/reports/issue.ts'
import type { DashboardDeps } from '../../server/frame.ts'
import { MAIL_HEADERS, sendDownload } from '../../server/headers.ts'
import { type AddRoutes, sendPage } from '../../server/server.ts'
import { KEPT, unknownEdition, unknownLetter } from './edition.ts'
import { letterName } from './edition-letters.ts'

export interface EditionFilesDeps extends Pick<DashboardDeps, 'store'> {
  /** Whose signature letters carry; null for none. */
  readonly dkim: DkimKey | null
}

interface Route {
  readonly Params: {
    readonly edition: string
    readonly letter: string
    readonly file: string
    readonly list: string
  }
}

type Params = Partial<Route['Params']>

const EML = '.eml'
/** Others are saved as bytes, whatever a letter says that they are. */
const KNOWN_TYPES =
  /^(?:text\/csv; charset=utf-8|image\/png|application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet)$/

export function editionFilesRoutes({ store: { db }, dkim }: EditionFilesDeps): AddRoutes {
  const findEdition = async ({ edition: id = '' }: Params): Promise<Edition> => {
    const edition = await readEdition(db, id)
    if (edition === undefined) throw unknownEdition()
    return edition
  }
  const findKept = async ({ edition = '', letter: name }: Params): Promise<Letter> => {
    const letters = await listDeliveries(db, edition)
    const found = letters.find(({ messageId }) => letterName(messageId) === name)
    const letter = found === undefined ? null : await findLetter(db, found.messageId)
    if (letter === null) throw unknownLetter()
    return letter
  }
  return (app) => {
    app.get<Route>('/archive/:edition/mail/:letter', async ({ params }, reply) => {
      const html =
        params.letter === KEPT
          ? await keptHtml(await findEdition(params))
          : withPictures(await findKept(params))
      return sendPage(reply.headers(MAIL_HEADERS), html)
    })
    app.get<Route>('/archive/:edition/letter/:file', async ({ params: { edition, file } }, reply) => {
      if (!file.endsWith(EML)) throw unknownLetter()
      const letter = await findKept({ edition, letter: file.slice(0, -EML.length) })
      const name = `${letter.report}-${letter.date.slice(0, 10)}-${letter.to}${EML}`
      return sendDownload(reply, {
        name,
        contentType: 'message/rfc822',
        content: await buildMessage(letter, dkim),
      })
    })
    app.get<Route>('/archive/:edition/letter/:letter/file/:file', async ({ params }, reply) => {
      const { files } = await findKept(params)
      const file = /^\d{1,3}$/.test(params.file) ? files[Number(params.file)] : undefined
      if (file === undefined) throw unknownLetter()
      const contentType = KNOWN_TYPES.test(file.contentType) ? file.contentType : 'application/octet-stream'
      return sendDownload(reply, { ...file, contentType })
    })
    app.get<Route>('/archive/:edition/csv/:list', async ({ params }, reply) => {
      const file = await makeFigureFile(await findEdition(params), params.list)
      if (file === null) throw unknownEdition()
      return sendDownload(reply, file)
    })
  }
}

/** Of an edition that is made for nobody no pictures are kept. */
async function keptHtml(edition: Edition): Promise<string> {
  return withPictures({ html: edition.html, files: await picturesOf(edition) })
}

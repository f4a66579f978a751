/**
 * Makes the HTML of a mail into a page that a browser shows without other files. The page needs no script and
 * loads nothing. A Content-Security-Policy forbids both, because the mail contains texts from outside, such
 * as the names of leads.
 */
import type { MessageFile } from '../../domain/message.ts'

interface ArchivedMail {
  readonly html: string
  readonly files: readonly MessageFile[]
}

const POLICY = [
  "default-src 'none'",
  'img-src data:',
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export function renderArchivePage(mail: ArchivedMail): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`
  return withPictures(mail).replace('</head>', () => `${head}</head>`)
}

/** Returns the HTML of a mail with its pictures inside. */
export function withPictures({ html, files }: ArchivedMail): string {
  const pictures = new Map(
    files.map(({ cid, contentType, content }) => [
      cid,
      `data:${contentType};base64,${Buffer.from(content).toString('base64')}`,
    ]),
  )
  return html.replaceAll(/="cid:([^"]+)"/g, (source, cid: string) => {
    const picture = pictures.get(cid)
    return picture === undefined ? source : `="${picture}"`
  })
}

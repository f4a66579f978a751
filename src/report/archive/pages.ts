/**
 * Renders the pages of the archive: each mail with navigation, and a list of all issues (reports for one
 * period). The pages need no script and load nothing. A Content-Security-Policy forbids both, because the
 * pages contain texts from outside, such as the names of leads.
 */

import type { MessageFile } from '../../domain/message.ts'
import { createCompiler, readTemplateFiles } from '../render/template-files.ts'

export interface ArchivePages {
  /** Renders the page of an issue: the mail with its pictures, and the facts about it. */
  issue(mail: ArchivedMail, nav: NavView, about: AboutView): string
  /** Returns the page of an issue with new links to the issues before and after it. */
  withNav(page: string, nav: NavView): string
  index(view: IndexView): string
}

interface ArchivedMail {
  readonly html: string
  readonly files: readonly MessageFile[]
}

/** The links to the issues before and after this one. */
export interface NavView {
  readonly report: string
  /** The dates that this issue covers, as text. */
  readonly current: string
  readonly previous: Neighbour | null
  readonly next: Neighbour | null
}

interface Neighbour {
  /** The address of the issue's page. */
  readonly href: string
  readonly dates: string
}

export interface AboutView {
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** The names of the files that are stored in the same folder as the page. */
  readonly files: readonly string[]
  readonly blocks: readonly {
    readonly title: string
    readonly figures: readonly ExplainedView[]
  }[]
}

interface ExplainedView {
  readonly title: string
  readonly meaning: string
  /** The value of the figure; null if it is more than one number. */
  readonly value: string | null
  /** The value in the period with which the report compares; null if there is none. */
  readonly before: string | null
  readonly sql: string
  readonly priorSql: string | null
}

export interface IndexView {
  readonly summary: string
  readonly months: readonly { readonly name: string; readonly issues: readonly IndexLine[] }[]
}

export interface IndexLine {
  /** The address of the issue's page; null if the page no longer exists. */
  readonly href: string | null
  readonly subject: string
  readonly about: string
  readonly state: string
  readonly tone: 'good' | 'bad' | 'about'
}

const FOLDER = 'archive'
const POLICY = [
  "default-src 'none'",
  'img-src data:',
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/**
 * Reads the templates of the pages.
 * @param folder the folder with leadsheet's templates
 * @throws LeadsheetError report_template
 */
export async function openArchivePages(folder: string): Promise<ArchivePages> {
  const files = await readTemplateFiles(folder, null)
  const compile = createCompiler('html', new Map())
  const nav = compile(files.take(FOLDER, 'nav.hbs'))
  const about = compile(files.take(FOLDER, 'about.hbs'))
  const index = compile(files.take(FOLDER, 'index.hbs'))
  const { text: css } = files.take(FOLDER, 'archive.css')
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${css}</style>`
  const withHead = (page: string) => page.replace('</head>', () => `${head}</head>`)
  return {
    issue: (mail, neighbours, view) =>
      withHead(withPictures(mail))
        .replace(/<body[^>]*>/, (body) => `${body}\n${nav(neighbours)}`)
        .replace('</body>', () => `${about(view)}</body>`),
    // Replaces the navigation of the archive. The pattern matches no part of the mail, because texts in a
    // mail are escaped.
    withNav: (page, neighbours) =>
      page.replace(/<nav class="archive-nav"[\s\S]*?<\/nav>\n/, () => nav(neighbours)),
    index: (view) => withHead(index(view)),
  }
}

/** Returns the HTML of a mail with its pictures inside, so that a browser can show it without other files. */
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

/**
 * The pages of the archive: a mail with what stands around it there, and the list of all. They need no script and load
 * nothing, and their policy forbids both, so that what a lead is called can do nothing there either.
 */
import { LeadsheetError } from '../../errors.ts'
import type { MessageFile } from '../../model.ts'
import { createCompiler } from '../render/compile-template.ts'
import { readTemplateFiles, type TemplateFile } from '../render/template-files.ts'

export interface ArchivePages {
  /** The page of an issue: its mail, pictures inside, with what is told about it. */
  issue(mail: ArchivedMail, nav: NavView, about: AboutView): string
  /** The page with other neighbours. */
  withNav(page: string, nav: NavView): string
  index(view: IndexView): string
}

export interface ArchivedMail {
  readonly html: string
  readonly files: readonly MessageFile[]
}

/** The issues before and after. */
export interface NavView {
  readonly report: string
  /** Its dates. */
  readonly current: string
  readonly previous: Neighbour | null
  readonly next: Neighbour | null
}

export interface Neighbour {
  /** The address of its page. */
  readonly href: string
  readonly dates: string
}

export interface AboutView {
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** Names of files beside the page. */
  readonly files: readonly string[]
  readonly blocks: readonly {
    readonly title: string
    readonly figures: readonly ExplainedView[]
  }[]
}

export interface ExplainedView {
  readonly title: string
  readonly meaning: string
  /** Null where it is more than a number. */
  readonly value: string | null
  /** In the period that it is compared with; null where that is told of none. */
  readonly before: string | null
  readonly sql: string
  readonly priorSql: string | null
}

export interface IndexView {
  readonly summary: string
  readonly months: readonly { readonly name: string; readonly issues: readonly IndexLine[] }[]
}

export interface IndexLine {
  /** Null where the page is no longer there. */
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
 * @param folder of the templates that come with the program
 * @throws LeadsheetError report_template
 */
export async function openArchivePages(folder: string): Promise<ArchivePages> {
  const files = await readTemplateFiles(folder, null)
  const compile = createCompiler('html', new Map())
  const take = (name: string): TemplateFile => {
    const found = files.find(FOLDER, name)
    if (found) return found
    throw new LeadsheetError('report_template', `template ${FOLDER}/${name} is missing`, {
      hint: 'Restore the templates as they came with the program.',
    })
  }
  const nav = compile(take('nav.hbs'))
  const about = compile(take('about.hbs'))
  const index = compile(take('index.hbs'))
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${take('archive.css').text}</style>`
  const withHead = (page: string) => page.replace('</head>', () => `${head}</head>`)
  return {
    issue: (mail, neighbours, view) =>
      withHead(withPictures(mail))
        .replace(/<body[^>]*>/, (body) => `${body}\n${nav(neighbours)}`)
        .replace('</body>', () => `${about(view)}</body>`),
    // The first is ours, and nothing in a mail can be taken for it: what stands there is escaped.
    withNav: (page, neighbours) =>
      page.replace(/<nav class="archive-nav"[\s\S]*?<\/nav>\n/, () => nav(neighbours)),
    index: (view) => withHead(index(view)),
  }
}

/** The mail with its pictures inside, as a page of its own. */
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

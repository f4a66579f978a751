/** Compiles templates and makes mails of them. Templates are trusted like code; values are escaped. */
import type { Rendered } from '../../domain/message.ts'
import { LeadsheetError } from '../../errors.ts'
import { loadPackage } from '../../packages.ts'
import { isolateHtml } from '../../printable.ts'
import type { ReportView } from '../compose-report.ts'
import { DEFAULT_DEFINITION, parseDefinition, type ReportDefinition } from '../definition.ts'
import { oneLine, wrapLines } from '../words/clean-text.ts'
import type { MailStyles, TemplateFile, TemplateFiles } from './template-files.ts'
import { createCompiler, LAYOUT, REPORT_FILES, readTemplateFiles } from './template-files.ts'

export interface Templates {
  names(): readonly string[]
  /**
   * Returns the content of `report.yaml`, with defaults.
   * @throws LeadsheetError report_unknown
   */
  definition(name: string): ReportDefinition
  /**
   * The view has finished strings only.
   * @throws LeadsheetError report_unknown, report_template
   */
  render(name: string, view: object): Rendered
}

interface TemplatePlaces {
  /** The installation's own folder, whose files override those of the program. */
  readonly own?: string | null
  /** The names of the reports to compile and check; all reports by default. */
  readonly only?: readonly string[]
}

const PARTS = ['subject', 'html', 'text'] as const
type Part = (typeof PARTS)[number]

/**
 * Compiles the templates.
 * @param folder the folder with the program's templates
 * @throws LeadsheetError report_template if a template is missing or invalid, or a report.yaml is wrong
 */
export async function openTemplates(
  folder: string,
  { own = null, only }: TemplatePlaces = {},
): Promise<Templates> {
  const files = await readTemplateFiles(folder, own)
  const wanted = files.reports.filter((name) => only?.includes(name) ?? true)
  const reports = new Map(wanted.map((name) => [name, openReport(files, name)]))
  const find = (name: string): Report => {
    const report = reports.get(name)
    if (report) return report
    throw new LeadsheetError('report_unknown', `there is no report named ${JSON.stringify(name)}`, {
      hint: `Known reports: ${files.reports.join(', ')}.`,
    })
  }
  return {
    names: () => files.reports,
    definition: (name) => find(name).definition,
    render: (name, view) => find(name).render(view),
  }
}

interface Report {
  readonly definition: ReportDefinition
  readonly render: (view: object) => Rendered
}

/**
 * Reads and compiles the templates of one report.
 * @throws LeadsheetError report_template if a template is missing or invalid, if report.yaml is wrong, or if
 * the report's folder has a file with an unknown name, because nothing would read such a file
 */
function openReport(files: TemplateFiles, name: string): Report {
  const [stray] = files.strays(name)
  if (stray) {
    throw new LeadsheetError('report_template', `template ${stray.path}: nothing reads a file of that name`, {
      hint: `The folder of a report may have ${REPORT_FILES.join(', ')}, and blocks/.`,
    })
  }
  const yaml = files.find(name, 'report.yaml')
  return {
    definition: yaml ? parseDefinition(yaml) : DEFAULT_DEFINITION,
    render: compileReport(files, name),
  }
}

/** `{{> kpis}}` includes `kpis.html.hbs` in HTML and `kpis.text.hbs` in plain text. */
function compileReport(files: TemplateFiles, name: string): (view: object) => Rendered {
  const page = files.take(LAYOUT, 'page.hbs')
  const html = new Map<string, TemplateFile>()
  const text = new Map<string, TemplateFile>()
  for (const [file, partial] of files.partials(name)) {
    const [, called, kind] = /^(.+?)(\.html|\.text)?\.hbs$/.exec(file) ?? []
    if (called === undefined || PARTS.some((part) => part === called)) continue
    const partials = kind === '.text' ? text : html
    partials.set(called, partial)
  }
  html.set('body', partOf(files, name, 'html'))
  const pageOf = createCompiler('html', html)(page)
  text.set('body', partOf(files, name, 'text'))
  const compileText = createCompiler('text', text)
  const subjectFile = partOf(files, name, 'subject')
  const subjectOf = compileText(subjectFile)
  const textOf = compileText(files.take(LAYOUT, 'page.text.hbs'))
  const styles = files.styles(name)
  return (view) => {
    const subject = finishSubject(subjectOf(view))
    if (subject === '') {
      throw new LeadsheetError('report_template', `template ${subjectFile.path}: the subject is empty`, {
        hint: 'Write one, or take the file away; nothing was sent.',
      })
    }
    return {
      subject,
      html: finishHtml(pageOf({ ...view, subject }), styles),
      text: finishText(textOf(view)),
    }
  }
}

function partOf(files: TemplateFiles, name: string, part: Part): TemplateFile {
  const file = `${part}.hbs`
  return files.find(name, file) ?? files.take(LAYOUT, file)
}

const SUBJECT_LENGTH = 150
const TEXT_COLUMNS = 72

export function finishSubject(text: string): string {
  return oneLine(text, SUBJECT_LENGTH)
}

/** Some mail clients drop `<style>` blocks. Rules for phones and dark mode can only be there. */
export function finishHtml(html: string, styles: MailStyles): string {
  const { inline } = loadPackage('@css-inline/css-inline')
  const inlined = inline(html, {
    extraCss: styles.inline,
    keepStyleTags: false,
    minifyCss: true,
    loadRemoteStylesheets: false,
  })
  const blocks = [styles.mobile, styles.dark].map((css) => `<style>${css}</style>`).join('')
  return dropClasses(inlined, styles).replace('</head>', () => `${blocks}</head>`)
}

/** Removes class names that no remaining rule uses. They would make up a tenth of the mail. */
function dropClasses(html: string, { mobile, dark }: MailStyles): string {
  const used = new Set(`${mobile}${dark}`.match(/(?<=\.)[a-z][\w-]*/g))
  // Within a tag, the pattern can match only an attribute, because `"` and `<` are escaped in values and
  // texts.
  return html.replace(/<[a-z][^<>]*>/g, (tag) =>
    tag.replace(/ class="([^"]*)"/, (_, names: string) => {
      const kept = names.split(/\s+/).filter((name) => used.has(name))
      return kept.length === 0 ? '' : ` class="${kept.join(' ')}"`
    }),
  )
}

export function finishText(text: string): string {
  return `${wrapLines(text, TEXT_COLUMNS)
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

/* Checks a rendered report before it is sent, because an empty mail is worse than none. */

// Matches the preheader: hidden text that mail clients show only in the list of mails. The check removes the
// preheader, because it repeats the headline.
const PREHEADER = /<div[^>]*aria-hidden="true"[^>]*>.*?<\/div>/s

/**
 * Checks that the mail has a text part, and that the HTML shows the headline if the blocks include it.
 * @param name the name of the report, for messages
 * @throws LeadsheetError report_failed
 */
export function checkRendered({ html, text }: Rendered, view: ReportView, name: string): void {
  if (text.trim() === '') throw refused(name, 'its text part is empty')
  const headline = view.blocks.find((block) => block.kind === 'headline')
  if (headline !== undefined && !html.replace(PREHEADER, '').includes(escapeText(headline.text))) {
    throw refused(name, 'its page lacks the headline')
  }
}

/** Escapes text in the same way as the package css-inline, which writes the final HTML. */
function escapeText(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('\u00a0', '&nbsp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  return isolateHtml(escaped)
}

function refused(name: string, what: string): LeadsheetError {
  return new LeadsheetError('report_failed', `The report ${name} is not sent: ${what}`, {
    hint: 'Look at its templates; a report that is to have no headline leaves it out of its blocks.',
  })
}

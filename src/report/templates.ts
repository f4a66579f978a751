/**
 * The templates of the reports: one folder each with subject, html and text, and `layout` for what they share.
 * Read and compiled once. They are trusted as code is; only values come from data, and those are escaped.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import Handlebars, { type TemplateDelegate } from 'handlebars'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Rendered } from '../model.ts'
import { finishHtml, finishSubject, finishText, type PageStyles } from './render.ts'

export interface Templates {
  /** The reports that there are templates for, in order of name. */
  names(): readonly string[]
  /**
   * Fills in the templates of a report. Pure; the view is plain data of ready strings.
   * @throws LeadsheetError report_unknown, report_template
   */
  render(name: string, view: object): Rendered
}

const LAYOUT = 'layout'
const PARTS = ['subject', 'html', 'text'] as const
type Part = (typeof PARTS)[number]

/** For the text part: columns have to be filled by hand there. */
const HELPERS = {
  padEnd: (text: string, columns: number) => text.padEnd(columns),
  padStart: (text: string, columns: number) => text.padStart(columns),
  upper: (text: string) => text.toUpperCase(),
}
const KNOWN_HELPERS = Object.fromEntries(Object.keys(HELPERS).map((name) => [name, true]))

/** @throws LeadsheetError report_template when a template is missing or cannot be compiled */
export async function openTemplates(directory: string): Promise<Templates> {
  const folders = (await readdir(directory, { withFileTypes: true }).catch(unreadable(directory)))
    .filter((entry) => entry.isDirectory() && entry.name !== LAYOUT)
    .map((entry) => entry.name)
    .sort()
  const layout = await readFolder(join(directory, LAYOUT))
  const styles = {
    inline: take(layout, directory, 'styles.css'),
    mobile: take(layout, directory, 'mobile.css'),
    dark: take(layout, directory, 'dark.css'),
  }
  const reports = new Map<string, Report>()
  for (const name of folders) reports.set(name, await openReport(directory, name, layout, styles))
  return {
    names: () => folders,
    render: (name, view) => {
      const report = reports.get(name)
      if (!report) {
        throw new LeadsheetError('report_unknown', `there is no report named ${JSON.stringify(name)}`, {
          hint: `Known reports: ${folders.join(', ')}.`,
        })
      }
      return report(view)
    },
  }
}

type Report = (view: object) => Rendered

async function openReport(
  directory: string,
  name: string,
  layout: ReadonlyMap<string, string>,
  styles: PageStyles,
): Promise<Report> {
  const files = await readFolder(join(directory, name))
  const source = (part: Part) => take(files, join(directory, name), `${part}.hbs`)
  const handlebars = Handlebars.create()
  handlebars.registerHelper(HELPERS)
  const compile = (file: string, text: string, noEscape = false) =>
    compileNamed(handlebars, file, text, noEscape)
  for (const [file, text] of layout) {
    if (!file.endsWith('.hbs')) continue
    handlebars.registerPartial(basename(file, '.hbs'), compile(`${LAYOUT}/${file}`, text))
  }
  handlebars.registerPartial('body', compile(`${name}/html.hbs`, source('html')))
  const page = compile(`${LAYOUT}/page.hbs`, take(layout, directory, 'page.hbs'))
  const subjectOf = compile(`${name}/subject.hbs`, source('subject'), true)
  const textOf = compile(`${name}/text.hbs`, source('text'), true)
  return (view) => {
    const subject = finishSubject(subjectOf(view))
    return {
      subject,
      html: finishHtml(page({ ...view, subject }), styles),
      text: finishText(textOf(view)),
    }
  }
}

/** Compiles at once, and names the file in whatever goes wrong, also when it does as a partial of another. */
function compileNamed(
  handlebars: typeof Handlebars,
  file: string,
  text: string,
  noEscape: boolean,
): TemplateDelegate {
  const named = <T>(work: () => T): T => {
    try {
      return work()
    } catch (thrown) {
      if (thrown instanceof LeadsheetError) throw thrown
      throw templateError(file, thrown)
    }
  }
  const options = { strict: true, knownHelpersOnly: true, knownHelpers: KNOWN_HELPERS, noEscape }
  // `compile` puts its work off until the first call; a mistake must show before there is anything to send.
  named(() => handlebars.precompile(text, options))
  const filled = handlebars.compile(text, options)
  return (view: unknown, runtime) => named(() => filled(view, runtime))
}

/** Handlebars says where in three ways: in its text, in fields, or (for calls) not at all. */
function templateError(file: string, cause: unknown): LeadsheetError {
  const message = errorText(cause)
  const field = cause instanceof Error && 'lineNumber' in cause ? cause.lineNumber : undefined
  const line = field ?? /line (\d+)/.exec(message)?.[1] ?? / - (\d+):\d+$/.exec(message)?.[1]
  const place = line === undefined ? file : `${file}, line ${line}`
  const what = message
    .replace(/ in \[object Object\]/, '')
    .replace(/ - \d+:\d+$/, '')
    .split('\n')[0]
  return new LeadsheetError('report_template', `template ${place}: ${what}`, {
    hint: 'Mend the template; nothing was sent.',
    cause,
  })
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unreadable(folder))
  const names = entries.filter((entry) => entry.isFile())
  return new Map(
    await Promise.all(
      names.map(async ({ name }) => [name, await readFile(join(folder, name), 'utf8')] as const),
    ),
  )
}

function unreadable(folder: string): (cause: unknown) => never {
  return (cause) => {
    throw new LeadsheetError(
      'report_template',
      `templates cannot be read from ${folder}: ${errorText(cause)}`,
      {
        hint: 'The folder comes with the program; it needs layout/ and a folder for each report.',
        cause,
      },
    )
  }
}

function take(files: ReadonlyMap<string, string>, folder: string, name: string): string {
  const text = files.get(name)
  if (text !== undefined) return text
  throw new LeadsheetError('report_template', `template ${name} is missing in ${folder}`, {
    hint: 'Restore the file; a report needs subject.hbs, html.hbs and text.hbs.',
  })
}

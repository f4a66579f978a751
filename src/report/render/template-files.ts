/**
 * Reads template files and compiles them with Handlebars in strict mode. A file in the installation's own
 * folder replaces the program's file of the same name. Errors name the file and, if known, the line.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Visitor as AstVisitor, HelperDelegate, HelperOptions, TemplateDelegate } from 'handlebars'
import { CALLED, errorText, LeadsheetError } from '../../errors.ts'
import { loadPackage } from '../../packages.ts'
import { isolateHtml } from '../../printable.ts'
import { widthOf } from '../charts/svg.ts'
import { widthInText } from '../words/clean-text.ts'

export interface TemplateFile {
  /** The path of the file for messages. A file below the working directory has a relative path. */
  readonly path: string
  readonly text: string
}

export interface TemplateFiles {
  /** The names of the folders that contain reports, sorted. */
  readonly reports: readonly string[]
  find(folder: string, file: string): TemplateFile | undefined
  /** Lists the names of the files in a folder, both of the installation and of the program. */
  list(folder: string): readonly string[]
  /**
   * Returns a file that the program needs.
   * @throws LeadsheetError report_template if it is missing
   */
  take(folder: string, file: string): TemplateFile
  /** All that a report can include, by file name. Templates in its own folder replace others. */
  partials(report: string): ReadonlyMap<string, TemplateFile>
  /** Returns the program's stylesheets, each with the additions of the installation and of the report. */
  styles(report: string): MailStyles
  /** Returns the files in the report's folder whose names the program does not know. */
  strays(report: string): readonly TemplateFile[]
}

export interface MailStyles {
  /** The styles that are written into the elements: `styles.css`. */
  readonly inline: string
  /** The rules for phones, which stay in a `<style>` block: `mobile.css`. */
  readonly mobile: string
  /** The rules for dark mode, which stay in a `<style>` block: `dark.css`. */
  readonly dark: string
}

/** The folder of the files that all reports share: the page and the styles. */
export const LAYOUT = 'layout'
const BLOCKS = 'blocks'
const BLOCK_FOLDERS = join(import.meta.dirname, '..', 'blocks')
export const SHARED_FOLDERS: readonly string[] = [LAYOUT, BLOCKS, 'web', 'dashboard', 'alert']
const WANTED = /(?:\.hbs|\.css|^report\.ya?ml)$/
/** The files that a report's folder can have, in addition to the folder `blocks`. */
export const REPORT_FILES: readonly string[] = [
  ...['report.yaml', 'subject.hbs', 'html.hbs', 'text.hbs'],
  ...['styles.css', 'mobile.css', 'dark.css'],
]

/**
 * Reads all template files.
 * @param program the program's folder
 * @param own the installation's folder, whose files replace the program's; null if there is none
 * @throws LeadsheetError report_template if a folder cannot be read
 */
export async function readTemplateFiles(program: string, own: string | null): Promise<TemplateFiles> {
  const programTree = new Map([...(await readTree(program)), ...(await readBlockTemplates())])
  const trees = own === null ? [programTree] : [await readTree(own), programTree]
  const first = (file: string) => trees.map((tree) => tree.get(file)).find((found) => found !== undefined)
  const styles = (report: string, file: string) =>
    [...trees.toReversed().map((tree) => tree.get(`${LAYOUT}/${file}`)), first(`${report}/${file}`)]
      .flatMap((found) => found?.text ?? [])
      .join('\n')
  const inFolder = (tree: Tree, folder: string) =>
    [...tree].flatMap(([path, file]) => {
      const name = path.slice(folder.length + 1)
      return path.startsWith(`${folder}/`) && !name.includes('/') ? [[name, file] as const] : []
    })
  return {
    reports: [...new Set(trees.flatMap((tree) => [...tree.keys()].map(folderOf)))]
      .filter((name) => name !== '' && !SHARED_FOLDERS.includes(name))
      .sort(),
    find: (folder, file) => first(`${folder}/${file}`),
    list: (folder) => [...new Set(trees.flatMap((tree) => inFolder(tree, folder).map(([name]) => name)))],
    take: (folder, file) => {
      const found = first(`${folder}/${file}`)
      if (found) return found
      throw new LeadsheetError('report_template', `template ${folder}/${file} is missing`, {
        hint: 'Restore the templates as they came with the program.',
      })
    },
    partials: (report) =>
      new Map(
        [LAYOUT, BLOCKS, `${report}/${BLOCKS}`].flatMap((folder) =>
          trees.toReversed().flatMap((tree) => inFolder(tree, folder)),
        ),
      ),
    styles: (report) => ({
      inline: styles(report, 'styles.css'),
      mobile: styles(report, 'mobile.css'),
      dark: styles(report, 'dark.css'),
    }),
    strays: (report) =>
      trees.flatMap((tree) =>
        inFolder(tree, report).flatMap(([name, file]) => (REPORT_FILES.includes(name) ? [] : [file])),
      ),
  }
}

/** The files below a folder. The key is the path relative to this folder, with `/`. */
type Tree = ReadonlyMap<string, TemplateFile>

/** Reads the templates of the program's blocks under names such as `blocks/top_leads.html.hbs`. */
async function readBlockTemplates(): Promise<Tree> {
  const tree = await readTree(BLOCK_FOLDERS)
  return new Map(
    [...tree].map(([path, file]) => [`${BLOCKS}/${path.replaceAll('-', '_').replace('/', '.')}`, file]),
  )
}

async function readTree(root: string): Promise<Tree> {
  try {
    const entries = await readdir(root, { withFileTypes: true, recursive: true })
    // Symbolic links are read too, because files that are mounted into a container are often links.
    const paths = entries
      .filter((entry) => !entry.isDirectory() && WANTED.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
    const files = await Promise.all(
      paths.map(async (path) => {
        const name = relative(root, path).replaceAll('\\', '/')
        return [name, { path: pathForPeople(path), text: await readFile(path, 'utf8') }] as const
      }),
    )
    return new Map(files.filter(([name]) => !/(?:^|\/)\./.test(name)))
  } catch (cause) {
    throw new LeadsheetError(
      'report_template',
      `templates cannot be read from ${root}: ${errorText(cause)}`,
      {
        hint: 'It needs a folder for each report; templates_dir in the settings names that of your own.',
        cause,
      },
    )
  }
}

function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : ''
}

function pathForPeople(path: string): string {
  const near = relative('', path)
  return near.startsWith('..') ? path : near
}

const FONT_PX = 14

const HELPERS = {
  // Pads a text for the columns of plain-text mails. After a text that is too long, a new line begins.
  padEnd: (text: string, columns: number) =>
    widthInText(text) < columns
      ? text + ' '.repeat(columns - widthInText(text))
      : `${text}\n${' '.repeat(columns)}`,
  padStart: (text: string, columns: number) => text.padStart(columns),
  upper: (text: string) => text.toUpperCase(),
  /** The CSS class `whole` keeps words whole if each fits into `room` pixels. Otherwise empty. */
  whole: (text: string, room: number) =>
    text.split(/[ -]/).every((word) => widthOf(word, FONT_PX) <= room) ? 'whole' : '',
  /** Allows only http, https and mailto, because escaping alone would let `javascript:` through. */
  safeUrl: (url: string) => (/^(?:https?|mailto):/i.test(url) ? url : '#'),
  /** Allows only a path to a file in the folder of the page or below it. */
  safePath: (path: string) => (/^[\w./-]+$/.test(path) ? path : '#'),
  /** Allows only addresses on the same server: an absolute path, a query such as `?page=2`, or a fragment. */
  safeLink: (link: string) => (/^(?:[?#]|\/(?![/\\]))[^\s\\]*$/.test(link) ? link : '#'),
  /** Returns a command line that operators can paste into their shell. */
  shell: (args: string) => `${CALLED} ${args}`,
  /** Allows only pictures inside the mail or in the folder of the page. */
  safeImage: (url: string) => (/^(?:cid:|data:image\/png;base64,|[\w-][\w./-]*$)/.test(url) ? url : ''),
}
const known = (helpers: object) => Object.fromEntries(Object.keys(helpers).map((name) => [name, true]))
const KNOWN_HELPERS = known(HELPERS)
const BUILT_IN = ['if', 'unless', 'each', 'with', 'lookup']

type Help = (text: string, columns: number) => string

/** @throws LeadsheetError report_template */
type Compile = (file: TemplateFile) => (view: unknown, data?: object) => string

/** Returns HTML, and so escapes its arguments itself. `data` is what came beside the view. */
export type HtmlHelper = (value: never, data: never, second: unknown) => string

/**
 * Returns a function that compiles templates.
 * @param kind `html` escapes values, and isolates right-to-left texts by `<bdi>`; `text` does neither
 * @param partials the templates that can be included as `{{> name}}`, by name
 * @param more the helpers that these templates have beside the normal ones
 * @throws LeadsheetError report_template
 */
export function createCompiler(
  kind: 'html' | 'text',
  partials: ReadonlyMap<string, TemplateFile>,
  more: Readonly<Record<string, HtmlHelper>> = {},
): Compile {
  const { create, parse } = loadPackage('handlebars')
  const handlebars = create()
  for (const [name, help] of Object.entries<Help>(HELPERS))
    handlebars.registerHelper(name, checked(name, help))
  for (const [name, help] of Object.entries(more)) handlebars.registerHelper(name, ofHtml(name, help))
  handlebars.registerHelper('each', checkedEach)
  const noEscape = kind === 'text'
  const options = {
    strict: true,
    knownHelpersOnly: true,
    knownHelpers: { ...KNOWN_HELPERS, ...known(more) },
    noEscape,
  }
  const parts = new Set(partials.keys())
  const compile = (file: TemplateFile): TemplateDelegate =>
    named(file, () => {
      const program = parse(file.text)
      partialCheck(parts).accept(program)
      // `precompile` finds mistakes now. `compile` would find mistakes only when a report is rendered.
      handlebars.precompile(program, options)
      const filled = handlebars.compile(program, options)
      return (view: unknown, runtime) => named(file, () => filled(view, runtime))
    })
  for (const [name, file] of partials) handlebars.registerPartial(name, compile(file))
  return (file) => {
    const filled = compile(file)
    return (view, data) => {
      const made = filled(view, data && { data })
      return kind === 'html' ? isolateHtml(made) : made
    }
  }
}

/** Repeats a part of a template for each item. Unlike Handlebars' own `each`, it refuses a missing list. */
function checkedEach(this: unknown, list: unknown, options: HelperOptions): string {
  if (list !== undefined) return loadPackage('handlebars').helpers.each?.call(this, list, options)
  throw new Error(`each needs a list, and here is none${placeOf(options)}`)
}

/** Throws for a first argument that is no text, because Handlebars passes undefined for unknown names. */
function checked(name: string, help: Help): HelperDelegate {
  return (...given: unknown[]) => {
    const [text, columns] = given
    if (typeof text === 'string') return help(text, Number(columns))
    throw new Error(`${name} needs a text, and here is none${placeOf(given.at(-1))}`)
  }
}

export function escapeHtml(text: string): string {
  return loadPackage('handlebars').escapeExpression(text)
}

/** Returns a helper that throws if its first argument is missing. */
function ofHtml(name: string, help: HtmlHelper): HelperDelegate {
  return (...given: unknown[]) => {
    const [value, second] = given
    const options = given.at(-1) as HelperOptions
    if (value === undefined) throw new Error(`${name} needs a value, and here is none${placeOf(options)}`)
    return new (loadPackage('handlebars').SafeString)(help(value as never, options.data as never, second))
  }
}

/** Returns the line and column of a call, in the format that Handlebars uses in its messages. */
function placeOf(options: unknown): string {
  const { start } = (options as { readonly loc: hbs.AST.SourceLocation }).loc
  return ` - ${start.line}:${start.column}`
}

/** Refuses unknown templates in `{{> name}}` now. Handlebars itself would throw only when rendering. */
function partialCheck(known: ReadonlySet<string>): AstVisitor {
  const { Visitor } = loadPackage('handlebars')
  return new (class extends Visitor {
    override PartialStatement(partial: hbs.AST.PartialStatement): void {
      check(partial)
      super.PartialStatement(partial)
    }

    override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
      check(partial)
      super.PartialBlockStatement(partial)
    }
  })()

  function check({ name, loc }: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement): void {
    // A computed name such as `{{> (lookup this "kind")}}` is only known when a report is rendered.
    if (name.type !== 'PathExpression') return
    const wanted = (name as hbs.AST.PathExpression).original
    if (wanted === '@partial-block' || known.has(wanted)) return
    throw new Error(
      `there is no part {{> ${wanted}}}; known: ${[...known].sort().join(', ')} - ${loc.start.line}:${loc.start.column}`,
    )
  }
}

function named<T>(file: TemplateFile, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof LeadsheetError) throw thrown
    throw templateError(file, thrown)
  }
}

/** Handlebars gives the line in its message, in a field, or not at all. */
function templateError({ path, text }: TemplateFile, cause: unknown): LeadsheetError {
  const message = errorText(cause)
  const field = cause instanceof Error && 'lineNumber' in cause ? cause.lineNumber : undefined
  const [, helper] = /unknown helper (\S+)/.exec(message) ?? []
  const lineText = field ?? /line (\d+)/.exec(message)?.[1] ?? / - (\d+):\d+$/.exec(message)?.[1]
  const line = lineText ?? (helper === undefined ? undefined : lineOf(text, helper))
  const what =
    helper === undefined
      ? message
          .replace(/ in \[object Object\]/, '')
          .replace(/ - \d+:\d+$/, '')
          // Keeps only the first line of the message. The other lines show the position and all expected
          // tokens.
          .replace(/^Parse error on line \d+:\n(.*)\n[\s\S]*$/, 'cannot be understood at $1')
          .split('\n')[0]
      : `there is no helper ${helper}; known: ${[...BUILT_IN, ...Object.keys(HELPERS)].join(', ')}`
  return new LeadsheetError(
    'report_template',
    `template ${path}${line === undefined ? '' : `, line ${line}`}: ${what}`,
    { hint: 'Fix the template; nothing was sent.', cause },
  )
}

/** Returns the number of the first line with an expression that begins with this name. */
function lineOf(text: string, name: string): number | undefined {
  const at = text.split('\n').findIndex((line) => new RegExp(`\\{\\{[#^]?\\s*${name}\\b`).test(line))
  return at < 0 ? undefined : at + 1
}

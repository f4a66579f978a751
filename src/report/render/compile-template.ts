/** Handlebars as the reports use it: strict, with a few helpers, and every mistake named by file and line. */
import Handlebars, { type TemplateDelegate } from 'handlebars'
import { CALLED, errorText, LeadsheetError } from '../../errors.ts'
import { widthOf } from '../charts/text-width.ts'
import type { TemplateFile } from './template-files.ts'

/** The font size of tables. */
const FONT_PX = 14

export const HELPERS = {
  // For text, where columns have to be filled by hand. What is longer has a line of its own before them.
  padEnd: (text: string, columns: number) =>
    text.length < columns ? text.padEnd(columns) : `${text}\n${' '.repeat(columns)}`,
  padStart: (text: string, columns: number) => text.padStart(columns),
  upper: (text: string) => text.toUpperCase(),
  /** The class of a text whose words have room of so many pixels each, so that none of them is split; else none. */
  whole: (text: string, room: number) =>
    text.split(/[ -]/).every((word) => widthOf(word, FONT_PX) <= room) ? 'whole' : '',
  /** For addresses: escaping alone would let `javascript:` through. */
  safeUrl: (url: string) => (/^(?:https?|mailto):/i.test(url) ? url : '#'),
  /** Allows a path to a file beside the page. */
  safePath: (path: string) => (/^[\w./-]+$/.test(path) ? path : '#'),
  /** Allows a path, a query or both on the same server; never the name of another host. */
  safeLink: (link: string) => (/^(?:[?#]|\/(?![/\\]))[^\s\\]*$/.test(link) ? link : '#'),
  /** A command as it can be pasted where the program runs. */
  shell: (args: string) => `${CALLED} ${args}`,
  /** For pictures that go with the mail or lie beside the page. */
  safeImage: (url: string) => (/^(?:cid:|data:image\/png;base64,|[\w-][\w./-]*$)/.test(url) ? url : ''),
}
const KNOWN_HELPERS = Object.fromEntries(Object.keys(HELPERS).map((name) => [name, true]))
const BUILT_IN = ['if', 'unless', 'each', 'with', 'lookup']

type Help = (text: string, columns: number) => string

/** @throws LeadsheetError report_template */
export type Compile = (file: TemplateFile) => (view: unknown) => string

/**
 * @param kind whether values are escaped for HTML, or stand as they are
 * @param partials what templates include as `{{> name}}`, by its name
 * @throws LeadsheetError report_template
 */
export function createCompiler(kind: 'html' | 'text', partials: ReadonlyMap<string, TemplateFile>): Compile {
  const handlebars = Handlebars.create()
  for (const [name, help] of Object.entries<Help>(HELPERS))
    handlebars.registerHelper(name, checked(name, help))
  handlebars.registerHelper('each', checkedEach)
  const noEscape = kind === 'text'
  const options = { strict: true, knownHelpersOnly: true, knownHelpers: KNOWN_HELPERS, noEscape }
  const known = new Set(partials.keys())
  const compile = (file: TemplateFile): TemplateDelegate =>
    named(file, () => {
      const program = Handlebars.parse(file.text)
      new PartialNames(known).accept(program)
      // `compile` puts its work off until the first call; a mistake must show before there is anything to send.
      handlebars.precompile(program, options)
      const filled = handlebars.compile(program, options)
      return (view: unknown, runtime) => named(file, () => filled(view, runtime))
    })
  for (const [name, file] of partials) handlebars.registerPartial(name, compile(file))
  return (file) => {
    const filled = compile(file)
    return (view) => filled(view)
  }
}

/** Left alone, it goes through what there is not as through an empty list. */
function checkedEach(this: unknown, list: unknown, options: Handlebars.HelperOptions): string {
  if (list !== undefined) return Handlebars.helpers.each?.call(this, list, options)
  throw new Error(`each needs a list, and here is none${placeOf(options)}`)
}

/** Handlebars gives a helper nothing for a name that there is not, and as its last argument where it was called. */
function checked(name: string, help: Help): Handlebars.HelperDelegate {
  return (...given: unknown[]) => {
    const [text, columns] = given
    if (typeof text === 'string') return help(text, Number(columns))
    throw new Error(`${name} needs a text, and here is none${placeOf(given.at(-1))}`)
  }
}

/** The line and column of a call, as Handlebars itself writes them. */
function placeOf(options: unknown): string {
  const { start } = (options as { readonly loc: hbs.AST.SourceLocation }).loc
  return ` - ${start.line}:${start.column}`
}

/** Handlebars itself misses a part only where it is reached. */
class PartialNames extends Handlebars.Visitor {
  readonly known: ReadonlySet<string>

  constructor(known: ReadonlySet<string>) {
    super()
    this.known = known
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): void {
    this.check(partial)
    super.PartialStatement(partial)
  }

  override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
    this.check(partial)
    super.PartialBlockStatement(partial)
  }

  private check({ name, loc }: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement): void {
    // One that is computed, as `{{> (lookup this "kind")}}`, is known only later.
    if (name.type !== 'PathExpression') return
    const wanted = (name as hbs.AST.PathExpression).original
    if (wanted === '@partial-block' || this.known.has(wanted)) return
    const known = [...this.known].sort().join(', ')
    throw new Error(
      `there is no part {{> ${wanted}}}; known: ${known} - ${loc.start.line}:${loc.start.column}`,
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

/** Handlebars says where in three ways: in its text, in fields, or (for calls) not at all. */
function templateError({ path, text }: TemplateFile, cause: unknown): LeadsheetError {
  const message = errorText(cause)
  const field = cause instanceof Error && 'lineNumber' in cause ? cause.lineNumber : undefined
  const [, helper] = /unknown helper (\S+)/.exec(message) ?? []
  const told = field ?? /line (\d+)/.exec(message)?.[1] ?? / - (\d+):\d+$/.exec(message)?.[1]
  const line = told ?? (helper === undefined ? undefined : lineOf(text, helper))
  const what =
    helper === undefined
      ? message
          .replace(/ in \[object Object\]/, '')
          .replace(/ - \d+:\d+$/, '')
          // Below it stand how the place begins and all that might have come.
          .replace(/^Parse error on line \d+:\n(.*)\n[\s\S]*$/, 'cannot be understood at $1')
          .split('\n')[0]
      : `there is no helper ${helper}; known: ${[...BUILT_IN, ...Object.keys(HELPERS)].join(', ')}`
  return new LeadsheetError(
    'report_template',
    `template ${path}${line === undefined ? '' : `, line ${line}`}: ${what}`,
    { hint: 'Mend the template; nothing was sent.', cause },
  )
}

/** Finds the line of the first expression that begins with this name. */
function lineOf(text: string, name: string): number | undefined {
  const at = text.split('\n').findIndex((line) => new RegExp(`\\{\\{[#^]?\\s*${name}\\b`).test(line))
  return at < 0 ? undefined : at + 1
}

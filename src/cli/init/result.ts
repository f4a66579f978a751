/** What `leadsheet init` has done, and what to do next. */

import { relative } from 'node:path'
import type { Config } from '../../config/config.ts'
import { CALLED } from '../../errors.ts'
import { nextSlot } from '../../schedule/slots.ts'
import type { Check } from '../../upstream/checkup.ts'
import { localTime } from '../local-time.ts'
import { plainText } from '../plain-text.ts'
import { schedulesOf } from '../schedules.ts'
import type { Terminal } from '../terminal.ts'
import { VERDICT_COLORS } from '../verdict.ts'
import type { Written } from './files.ts'

/** One of several checks: a line, and the remedy below it. */
export function checkLines(terminal: Terminal, { what, verdict, found, remedy }: Check): string[] {
  const mark = terminal.style(VERDICT_COLORS[verdict], verdict.padEnd(4))
  const line = `  ${mark}  ${what}: ${plainText(found).replaceAll('\n', ' ')}`
  return remedy === null ? [line] : [line, `        ${terminal.style('dim', plainText(remedy))}`]
}

/** From here, where it is below. */
export function shownPath(path: string): string {
  const fromHere = relative('', path)
  return fromHere.startsWith('..') ? path : fromHere
}

export interface Told {
  /** Those that nobody has seen yet. */
  readonly checks: readonly Check[]
  readonly warnings: readonly string[]
  /** `--config FILE` where the settings are not where commands look for them. */
  readonly option: string
  readonly now: Date
}

export function tellResult(
  terminal: Terminal,
  { config, files }: Written,
  { checks, warnings, option, now }: Told,
): void {
  const next = nextCommands(config, option, now)
  if (terminal.json) {
    terminal.printJson({ files: files.map(({ path, what }) => ({ path, what })), checks, warnings, next })
    return
  }
  const title = (text: string): string => terminal.style('bold', text)
  terminal.print(
    ...checks.flatMap((check) => checkLines(terminal, check)),
    ...['', title('Written')],
    ...columns(files.map(({ path, what }) => [shownPath(path), what])),
    ...['', title('Next')],
    ...columns(next.map(({ command, what }) => [command, what])),
  )
  for (const warning of warnings) terminal.note(`warning: ${warning}`)
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length)) + 2
  return rows.map(([first, second]) => `  ${first.padEnd(width)}${second}`)
}

function nextCommands(config: Config, option: string, now: Date) {
  const [report] = schedulesOf(config).filter((schedule) => schedule.report !== null)
  const due = report && nextSlot(report.timing, now)
  const when = report && due ? `; first report ${localTime(due, report.timing.timeZone)}` : ''
  const [reader = ''] = config.recipients
  return [
    { command: `${CALLED} sync${option}`, what: 'a first copy of the leads' },
    {
      command: `${CALLED} report ${report?.report?.name} --test-to ${reader}${option}`,
      what: 'the report as a mail, to nobody else',
    },
    { command: `${CALLED} run${option}`, what: `the daemon${when}` },
  ]
}

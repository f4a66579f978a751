/** Writes the first settings file with the answers that the user gave to `leadsheet init`. */
import type { PeriodKind } from '../domain/figures.ts'
import { listCoveringRuns } from '../domain/period.ts'
import { shellCommand } from '../errors.ts'
import { loadPackage } from '../packages.ts'
import type { Timing } from '../schedule/timing.ts'
import { pathText, type SettingPath, type SettingTree, setValueAt } from './setting-path.ts'
import { EXAMPLE_FILE } from './settings-file.ts'

/** A value to write, perhaps with a comment, or the environment variable that gives the setting. */
export type Entry<Value = string> =
  | { readonly value: Value; readonly comment?: string }
  | { readonly variable: string }

export interface FirstSettings {
  /** The date on which the file is written, such as `2026-11-21`. */
  readonly today: string
  /** The settings in the order in which they are written. A setting without an entry is left out. */
  readonly entries: readonly (readonly [SettingPath, Entry<string | readonly string[]> | null])[]
  readonly report: { readonly name: string; readonly schedule: string; readonly period: string | null }
}

export function settingsText({ today, entries, report }: FirstSettings): string {
  const tree: SettingTree = {}
  const elsewhere: string[] = []
  const comments: [SettingPath, string][] = []
  for (const [path, entry] of entries) {
    if (entry === null || ('value' in entry && entry.value.length === 0)) continue
    if ('variable' in entry) elsewhere.push(`# ${pathText(path)}: ${entry.variable} gives it`)
    else setValueAt(tree, path, entry.value)
    if ('value' in entry && entry.comment !== undefined) comments.push([path, entry.comment])
  }
  const { name, schedule, period } = report
  tree.reports = [period === null ? { name, schedule } : { name, schedule, period }]
  const opening = [
    `# Settings of leadsheet, as ${shellCommand('init')} wrote them on ${today}.`,
    `# ${EXAMPLE_FILE} explains them and has every other setting that there is.`,
    '# Paths count from this file.',
    `# ${shellCommand('config check')} shows all that is in force and where it came from.`,
    ...elsewhere,
  ]
  const { Document, isNode } = loadPackage('yaml')
  const document = new Document(tree)
  for (const [path, comment] of comments) {
    const node = document.getIn(path, true)
    if (isNode(node)) node.commentBefore = ` ${comment}`
  }
  return `${opening.join('\n')}\n\n${document.toString({ lineWidth: 0 })}`
}

interface FirstReport {
  readonly name: 'daily' | 'weekly' | 'monthly' | 'quarterly'
  /** The period that the settings file must give; null if the default period of the report fits. */
  readonly period: 'day' | 'working_day' | 'since_last' | null
}

/** The reports that come with the program, for schedules with one run for each of their periods. */
const REPORTS = [
  ['day', { name: 'daily', period: 'day' }],
  ['working_day', { name: 'daily', period: 'working_day' }],
  ['week', { name: 'weekly', period: null }],
  ['month', { name: 'monthly', period: null }],
  ['quarter', { name: 'quarterly', period: null }],
] as const satisfies readonly (readonly [PeriodKind, FirstReport])[]

/**
 * Chooses the first report and its period so that the coming runs leave no day out and have none twice.
 * @param timing a valid schedule
 */
export function reportFor(timing: Timing, now: Date): FirstReport {
  const fitting = REPORTS.find(([kind]) => {
    const periods = listCoveringRuns(kind, timing, { isOnceADay: true }, now).map(({ period }) => period)
    return periods.every(({ from }, index) => index === 0 || from === periods[index - 1]?.to)
  })
  return fitting?.[1] ?? { name: 'daily', period: 'since_last' }
}

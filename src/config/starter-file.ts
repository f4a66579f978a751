/**
 * Writes the first settings file from the schema, each setting with its description. The file contains the
 * answers that the user gave to `leadsheet init`. Settings without a value are commented out.
 */
import type { PeriodKind } from '../domain/figures.ts'
import { listCoveringRuns } from '../domain/period.ts'
import { shellCommand } from '../errors.ts'
import { loadPackage } from '../packages.ts'
import type { Timing } from '../schedule/timing.ts'
import type { SettingSchema } from './schema.ts'
import { schemaAt } from './schema.ts'
import type { SettingPath } from './setting-path.ts'
import { pathText } from './setting-path.ts'

export interface FirstSettings {
  /** The date on which the file is written, such as `2026-11-21`. */
  readonly today: string
  readonly apiUrl: Entry
  /** The file that contains the API key; null if the service needs no key. */
  readonly keyFile: Entry | null
  /** The file of the profile (the description of the upstream's API); null for the reference service. */
  readonly profile: Entry | null
  readonly timeZone: Entry
  /** The address of the mail server, or the path of a file that contains this address with the password. */
  readonly mail: { readonly name: 'url' | 'url_file'; readonly entry: Entry }
  readonly from: Entry
  readonly recipients: Entry<readonly string[]>
  /** The addresses of operators who get alerts by mail; empty if there are none. */
  readonly alertRecipients: Entry<readonly string[]>
  readonly report: { readonly name: string; readonly schedule: string; readonly period: string | null }
  readonly listen: Entry
  /** The file with the token for signing in to the dashboard; null if nobody signs in. */
  readonly tokenFile: Entry | null
}

export function settingsText(first: FirstSettings): string {
  const { mail, report } = first
  const opening = `# Settings of leadsheet, as ${shellCommand('init')} wrote them on ${first.today}. ${shellCommand('config check')} shows all that
# is in force and where it came from; leadsheet.example.yaml has every setting that there is. Lines with #
# before a name show the default, or an example. Variables LEADSHEET_… win over this file; paths count from it.
#
# ${shellCommand('schedule')} shows the next scheduled runs; ${shellCommand('report new')} makes another report.
# With web.public_url, ${shellCommand('webhooks register --self')} makes the service send its events.`
  const period =
    report.period === null ? { example: DEFAULT_PERIODS[report.name] ?? 'day' } : { value: report.period }
  const shown: Shown = {
    'api.url': first.apiUrl,
    'api.key_file': first.keyFile,
    'api.profile': first.profile,
    data_dir: null,
    time_zone: first.timeZone,
    [`smtp.${mail.name}`]: mail.entry,
    'mail.from': first.from,
    'mail.reply_to': null,
    'mail.per_minute': null,
    'alerts.recipients': first.alertRecipients,
    'alerts.webhook': { example: { url_file: './secrets/webhook-url', format: 'slack' } },
    'alerts.heartbeat': { example: { url: 'https://hc-ping.com/your-uuid' } },
    'web.listen': first.listen,
    'web.public_url': null,
    'web.trusted_proxies': { example: ['loopback'] },
    'web.token_file': first.tokenFile,
    recipients: first.recipients,
    'sync.schedule': null,
    'sync.full_schedule': null,
    'reports[0].name': { value: report.name },
    'reports[0].schedule': { value: report.schedule },
    'reports[0].period': period,
  }
  const parts = Object.entries(schemaAt([])?.properties ?? {}).map(([name, schema]) =>
    shownLines({ properties: { [name]: schema } }, [], '', shown).join('\n'),
  )
  return `${[opening, ...parts.filter((lines) => lines !== '')].join('\n\n')}\n`
}

/** The periods that built-in reports have by default. */
const DEFAULT_PERIODS: Readonly<Record<string, string>> = {
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
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

const WIDTH = 110

/**
 * A value to write, or the environment variable that gives the setting. In the second case, the file has only
 * a comment with the name of the variable.
 */
export type Entry<Value = string> = { readonly value: Value } | { readonly variable: string }

/**
 * The settings that the file shows, by name. A setting with a value is written with this value. Any other
 * setting is commented out, and shows the given example or, if none is given, the usual example.
 */
type Shown = Readonly<Record<string, Entry<unknown> | { readonly example: unknown } | null>>

/** Writes the shown settings in the order of the schema, each with its description. */
function shownLines(group: SettingSchema, path: SettingPath, margin: string, shown: Shown): string[] {
  return Object.entries(group.properties ?? {}).flatMap(([name, schema]) => {
    const own = [...path, name]
    const about = commentLines(schema.description, margin)
    const entry = shown[pathText(own)]
    if (entry !== undefined) return [...about, ...entryLines(name, entry, margin, exampleOf(schema, own))]
    const inner = [
      ...shownLines(schema, own, `${margin}  `, shown),
      ...asItem(shownLines(schema.items ?? {}, [...own, 0], '', shown), `${margin}  `),
    ]
    return inner.length === 0 ? [] : [...about, `${margin}${name}:`, ...inner]
  })
}

function entryLines(name: string, entry: Shown[string], margin: string, usual: string): string[] {
  if (entry && 'value' in entry) {
    const { value } = entry
    if (!Array.isArray(value)) return [`${margin}${name}: ${flow(value)}`]
    if (value.length > 0) return [`${margin}${name}:`, ...value.map((each) => `${margin}  - ${flow(each)}`)]
  }
  const example = entry && 'example' in entry ? flow(entry.example) : usual
  const note = entry && 'variable' in entry ? `   # ${entry.variable} gives it` : ''
  return [`${margin}#${name}: ${example}${note}`]
}

/** Makes the lines of a group an item of a list, which begins at the first line that is no comment. */
export function asItem(lines: readonly string[], margin: string): string[] {
  const first = lines.findIndex((line) => !line.startsWith('# '))
  return lines.map((line, index) => {
    const indent = index < first ? '' : index === first ? '- ' : '  '
    return `${margin}${indent}${line}`
  })
}

/** Breaks a text into lines of a comment. */
export function commentLines(text = '', margin = ''): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && longer.length <= WIDTH) lines[lines.length - 1] = longer
    else lines.push(`${margin}# ${word}`)
  }
  return lines
}

/**
 * Returns the default of a setting as text, or an example if it has no default. If it has neither, the text
 * is made from the name of the setting if it is the path of a file.
 */
export function exampleOf({ default: standard, examples = [] }: SettingSchema, path: SettingPath): string {
  const isEmpty = standard === undefined || (Array.isArray(standard) && standard.length === 0)
  const shown = isEmpty ? (examples[0] ?? standard) : standard
  if (shown !== undefined) return flow(shown)
  const words = path.join('-').replaceAll('_', '-')
  return words.endsWith('-file') ? `./secrets/${words.slice(0, -5)}` : '…'
}

export function flow(value: unknown): string {
  const { stringify } = loadPackage('yaml')
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd()
}

/**
 * Writes settings files from the schema: each setting with its description, commented out unless it has a
 * value.
 */
import { loadPackage } from '../packages.ts'
import { VARIABLES } from './environment.ts'
import { type SettingSchema, schemaAt } from './schema.ts'
import { pathText, type SettingPath } from './setting-path.ts'

const WIDTH = 110

/**
 * A value for the file, or the name of the environment variable that gives the value. A setting that a
 * variable gives is only a comment in the file.
 */
export type Entry<Value = string> = { readonly value: Value } | { readonly variable: string }

/**
 * The settings that a file shows, by their names. An entry is a value, a comment with the given example, or
 * null for a comment with the usual example.
 */
type Shown = Readonly<Record<string, Entry<unknown> | { readonly example: unknown } | null>>

/** Returns the text of leadsheet.example.yaml, which lists every setting with its default or an example. */
export function exampleYaml(): string {
  return settingsYaml(`# yaml-language-server: $schema=docs/reference/leadsheet.schema.json
# \`npm run docs\` writes this file from the schema of the settings.
#
# Every setting of leadsheet, with its default where it has one. Copy this file to leadsheet.yaml and take the #
# away where you want something else, or take lines from it into the short one that \`init\` writes.
# \`config check\` shows what is in force and where it came from.
#
# Values may hold \${VARIABLE} or \${VARIABLE:-default}. The variables LEADSHEET_… named below need no line here,
# and win over this file. Relative paths count from this file.`)
}

/**
 * Writes a settings file in the order of the schema.
 * @param shown the settings to write; null writes all settings as comments
 */
export function settingsYaml(opening: string, shown: Shown | null = null): string {
  const parts = Object.entries(schemaAt([])?.properties ?? {})
    .map(([name, schema]) => settingLines(schema, [name], schemaAt([]), '', shown).join('\n'))
    .filter((lines) => lines !== '')
  return `${[opening, ...parts].join('\n\n')}\n`
}

/** @param margin the text before each line of the group: spaces, and `#` in a group that is commented out */
function groupLines(group: SettingSchema, path: SettingPath, margin: string, shown: Shown | null): string[] {
  return Object.entries(group.properties ?? {}).flatMap(([name, schema]) =>
    settingLines(schema, [...path, name], group, margin, shown),
  )
}

function settingLines(
  schema: SettingSchema,
  path: SettingPath,
  parent: SettingSchema | undefined,
  margin: string,
  shown: Shown | null,
): string[] {
  const name = `${path.at(-1)}`
  const setting = pathText(path)
  const about = commentLines(schema, shown === null ? path : [], margin)
  const entry = shown?.[setting]
  if (entry !== undefined) return [...about, ...entryLines(name, entry, margin, exampleOf(schema, path))]
  const isBelow = (other: string) => other.startsWith(`${setting}.`) || other.startsWith(`${setting}[`)
  if (shown !== null && !Object.keys(shown).some(isBelow)) return []
  const isGroup = schema.properties !== undefined && !schema.isWhole
  if (isGroup && schema.required === undefined) {
    return [...about, `${margin}${name}:`, ...groupLines(schema, path, `${margin}  `, shown)]
  }
  const isOn = shown !== null || (margin.includes('#') && !isSecondChoice(schema, name, parent))
  const off = `${margin}${isOn ? '' : '#'}`
  if (isGroup) return [...about, `${off}${name}:`, ...groupLines(schema, path, `${off}  `, shown)]
  const item = [schema.items, ...(schema.items?.anyOf ?? [])].find((kind) => kind?.properties !== undefined)
  if (item === undefined || path.length > 1) return [...about, `${off}${name}: ${exampleOf(schema, path)}`]
  const plain: unknown[] = [schema.examples?.[0] ?? []].flat()
  const lines = groupLines(item, [...path, 0], `${off}    `, shown)
  const first = lines.findIndex((line) => !line.startsWith(`${off}    # `))
  return [
    ...about,
    `${off}${name}:`,
    ...plain.map((each) => `${off}  - ${flow(each)}`),
    ...lines.map((line, index) =>
      index > first ? line : `${off}  ${index === first ? '- ' : ''}${line.slice(off.length + 4)}`,
    ),
  ]
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

/**
 * Returns whether another setting is the better way to give the same value: the file of a secret, or the list
 * of recipients instead of their file.
 */
function isSecondChoice(schema: SettingSchema, name: string, parent: SettingSchema | undefined): boolean {
  const inFile = parent?.properties?.[name.replace(/_file$/, '')]
  if (name.endsWith('_file')) return !inFile?.secret
  return Boolean(schema.secret) && parent?.properties?.[`${name}_file`] !== undefined
}

function commentLines(
  { description = '', type }: SettingSchema,
  path: SettingPath,
  margin: string,
): string[] {
  const [variable] = Object.entries(VARIABLES).find(([, known]) => pathText(known) === pathText(path)) ?? []
  const note = type === 'array' ? ', with commas between' : path.includes(0) ? ' for the first' : ''
  const words = `${description}${variable === undefined ? '' : ` (${variable}${note})`}`.split(' ')
  const lines: string[] = []
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && longer.length <= WIDTH) lines[lines.length - 1] = longer
    else lines.push(`${margin}# ${word}`)
  }
  return lines
}

/**
 * Returns the default of a setting, or else an example. For secrets and their files, the example is made from
 * the name of the setting.
 */
function exampleOf({ default: standard, examples = [] }: SettingSchema, path: SettingPath): string {
  const isEmpty = standard === undefined || (Array.isArray(standard) && standard.length === 0)
  const shown = isEmpty ? (examples[0] ?? standard) : standard
  if (shown !== undefined) return flow(shown)
  const words = path.join('-').replaceAll('_', '-')
  return words.endsWith('-file')
    ? `./secrets/${words.slice(0, -5)}`
    : `\${${words.replaceAll('-', '_').toUpperCase()}}`
}

function flow(value: unknown): string {
  const { stringify } = loadPackage('yaml')
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd()
}

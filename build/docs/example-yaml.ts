/** Generates leadsheet.example.yaml, which lists every setting with its default or an example. */
import { stringify } from 'yaml'
import { VARIABLES } from '../../src/config/environment.ts'
import { type SettingSchema, schemaAt } from '../../src/config/schema.ts'
import { pathText, type SettingPath } from '../../src/config/setting-path.ts'

const OPENING = `# yaml-language-server: $schema=docs/reference/leadsheet.schema.json
# \`npm run docs\` writes this file from the schema of the settings.
#
# Every setting of leadsheet, with its default where it has one. Copy this file to leadsheet.yaml and take the #
# away where you want something else, or take lines from it into the short one that \`init\` writes.
# \`config check\` shows what is in force and where it came from.
#
# The variables LEADSHEET_… named below win over this file. Relative paths count from this file.`

export function exampleYaml(): string {
  const whole = schemaAt([])
  const parts = Object.entries(whole?.properties ?? {}).map(([name, schema]) =>
    settingLines(schema, [name], whole, '').join('\n'),
  )
  return `${[OPENING, ...parts].join('\n\n')}\n`
}

/** @param margin the text before each line: spaces, and `#` if the group is commented out */
function settingLines(
  schema: SettingSchema,
  path: SettingPath,
  parent: SettingSchema | undefined,
  margin: string,
): string[] {
  const name = `${path.at(-1)}`
  const about = commentLines(aboutOf(schema, path), margin)
  const isGroup = schema.properties !== undefined && !schema.isWhole
  if (isGroup && schema.required === undefined)
    return [...about, `${margin}${name}:`, ...groupLines(schema, path, `${margin}  `)]
  const isOn = margin.includes('#') && !isSecondChoice(schema, name, parent)
  const off = `${margin}${isOn ? '' : '#'}`
  if (isGroup) return [...about, `${off}${name}:`, ...groupLines(schema, path, `${off}  `)]
  const item = [schema.items, ...(schema.items?.anyOf ?? [])].find((kind) => kind?.properties !== undefined)
  if (item === undefined || path.length > 1) return [...about, `${off}${name}: ${exampleOf(schema, path)}`]
  const plain: unknown[] = [schema.examples?.[0] ?? []].flat()
  return [
    ...about,
    `${off}${name}:`,
    ...plain.map((each) => `${off}  - ${flow(each)}`),
    ...asItem(
      groupLines(item, [...path, 0], `${off}    `).map((line) => line.slice(off.length + 4)),
      `${off}  `,
    ),
  ]
}

function groupLines(group: SettingSchema, path: SettingPath, margin: string): string[] {
  return Object.entries(group.properties ?? {}).flatMap(([name, schema]) =>
    settingLines(schema, [...path, name], group, margin),
  )
}

/**
 * Returns whether another setting is a better way to give the same value. A secret is better given in a file:
 * `key_file` is better than `key`.
 */
function isSecondChoice(schema: SettingSchema, name: string, parent: SettingSchema | undefined): boolean {
  return schema.secret !== undefined && parent?.properties?.[`${name}_file`] !== undefined
}

/** Returns the description of a setting, and the variable that gives it. */
function aboutOf(schema: SettingSchema, path: SettingPath): string {
  const { description = '', anyOf = [] } = schema
  const [variable] = Object.entries(VARIABLES).find(([, known]) => pathText(known) === pathText(path)) ?? []
  const note = [schema, ...anyOf].some(({ type }) => type === 'array') ? ', with commas between' : ''
  return variable === undefined ? description : `${description} (${variable}${note})`
}

const WIDTH = 110

/** Makes the lines of a group an item of a list, which begins at the first line that is no comment. */
function asItem(lines: readonly string[], margin: string): string[] {
  const first = lines.findIndex((line) => !line.startsWith('# '))
  return lines.map((line, index) => {
    const indent = index < first ? '' : index === first ? '- ' : '  '
    return `${margin}${indent}${line}`
  })
}

/** Breaks a text into lines of a comment. */
function commentLines(text = '', margin = ''): string[] {
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
function exampleOf({ default: standard, examples = [] }: SettingSchema, path: SettingPath): string {
  const isEmpty = standard === undefined || (Array.isArray(standard) && standard.length === 0)
  const shown = isEmpty ? (examples[0] ?? standard) : standard
  if (shown !== undefined) return flow(shown)
  const words = path.join('-').replaceAll('_', '-')
  return words.endsWith('-file') ? `./secrets/${words.slice(0, -5)}` : 'a-long-random-text'
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd()
}

/** Writes settings files from the schema: each setting with its description, commented out unless it is given. */
import { stringify } from 'yaml'
import { VARIABLES } from './environment.ts'
import { type SettingSchema, schemaAt } from './schema.ts'
import { pathText, type SettingPath } from './setting-path.ts'

const WIDTH = 110

/** leadsheet.example.yaml: every setting, with its default or an example. */
export function exampleYaml(): string {
  const opening = `# yaml-language-server: $schema=docs/reference/leadsheet.schema.json
# \`npm run docs\` writes this file from the schema of the settings.
#
# Every setting of leadsheet, with its default where it has one. Copy this file to leadsheet.yaml and take the #
# away where you want something else, or take lines from it into the short one that \`init\` writes.
# \`config check\` shows what is in force and where it came from.
#
# Values may hold \${VARIABLE} or \${VARIABLE:-default}. The variables LEADSHEET_… named below need no line here,
# and win over this file. Relative paths count from this file.`
  const settings = Object.entries(schemaAt([])?.properties ?? {}).map(([name, schema]) =>
    settingLines(schema, [name], schemaAt([]), '').join('\n'),
  )
  return `${[opening, ...settings].join('\n\n')}\n`
}

/** @param margin what stands before the lines of the group: spaces, and # in a group that is commented out */
function groupLines(group: SettingSchema, path: SettingPath, margin: string): string[] {
  return Object.entries(group.properties ?? {}).flatMap(([name, schema]) =>
    settingLines(schema, [...path, name], group, margin),
  )
}

function settingLines(
  schema: SettingSchema,
  path: SettingPath,
  parent: SettingSchema | undefined,
  margin: string,
): string[] {
  const name = `${path.at(-1)}`
  const about = commentLines(schema, path, margin)
  const isGroup = schema.properties !== undefined && !schema.isWhole
  if (isGroup && schema.required === undefined) {
    return [...about, `${margin}${name}:`, ...groupLines(schema, path, `${margin}  `)]
  }
  const off = `${margin}${margin.includes('#') && !isSecondChoice(schema, name, parent) ? '' : '#'}`
  if (isGroup) return [...about, `${off}${name}:`, ...groupLines(schema, path, `${off}  `)]
  const item = [schema.items, ...(schema.items?.anyOf ?? [])].find((kind) => kind?.properties !== undefined)
  if (item === undefined || path.length > 1) return [...about, `${off}${name}: ${exampleOf(schema, path)}`]
  const plain: unknown[] = [schema.examples?.[0] ?? []].flat()
  const lines = groupLines(item, [...path, 0], `${off}    `)
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

/** Whether another setting gives the same, and is the better choice: the file of a secret, the list of recipients. */
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
  const commas = type === 'array' ? ', with commas between' : ''
  const words = `${description}${variable === undefined ? '' : ` (${variable}${commas})`}`.split(' ')
  const lines: string[] = []
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && longer.length <= WIDTH) lines[lines.length - 1] = longer
    else lines.push(`${margin}# ${word}`)
  }
  return lines
}

/** The default, an example, or for a secret and its file a name made of the setting's. */
function exampleOf({ default: standard, examples = [] }: SettingSchema, path: SettingPath): string {
  const isEmpty = standard === undefined || (Array.isArray(standard) && standard.length === 0)
  const shown = isEmpty ? (examples[0] ?? standard) : standard
  if (shown !== undefined) return flow(shown)
  const words = path.join('-').replaceAll('_', '-')
  return words.endsWith('-file')
    ? `./${words.slice(0, -5)}`
    : `\${${words.replaceAll('-', '_').toUpperCase()}}`
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd()
}

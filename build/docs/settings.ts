/** Generates the page on all settings, and their JSON Schema for editors. */
import { VARIABLES } from '../../src/config/environment.ts'
import { type SettingSchema, schemaAt } from '../../src/config/schema.ts'
import { isTree, pathText, type SettingPath } from '../../src/config/setting-path.ts'
import { code, page, sentence, table } from './markdown.ts'

const OPENING = `Every setting of \`leadsheet.yaml\`, with its default. An environment variable overrides the file. \`npx leadsheet config check\` shows all values in force, each with its source. A range in brackets says which whole numbers are allowed.

The file is \`leadsheet.yaml\`, or the one that \`--config\` or \`LEADSHEET_CONFIG\` names. Keep each secret in a file of its own. Name the file in the setting that ends in \`_file\`, or in the variable with \`_FILE\` at its end.

leadsheet reports all mistakes at once, each with its place, its value and what was expected.

[leadsheet.schema.json](leadsheet.schema.json) describes the same settings for editors. [leadsheet.example.yaml](../../leadsheet.example.yaml) shows every setting with a comment.`

export function settingsPage(): string {
  const groups = Object.entries(schemaAt([])?.properties ?? {})
  const single = groups.filter(([, schema]) => !isGroup(schema))
  return page(
    'Settings',
    OPENING,
    section('General', '', settingRows(Object.fromEntries(single), [])),
    ...groups
      .filter(([, schema]) => isGroup(schema))
      .map(([name, schema]) =>
        section(name, sentence(schema.description ?? ''), settingRows({ [name]: schema }, [])),
      ),
  )
}

/** Returns the JSON Schema of the settings file, without the properties that only the program knows. */
export function settingsJsonSchema(): Record<string, unknown> {
  const isOurs = (key: string, value: unknown) => ['env', 'secret', 'isWhole'].includes(key) && !isTree(value)
  const text = JSON.stringify(schemaAt([]), (key, value) => (isOurs(key, value) ? undefined : value))
  const { $schema, ...schema } = JSON.parse(text)
  return { $schema, title: 'Settings of leadsheet', ...schema }
}

function section(title: string, about: string, rows: readonly (readonly string[])[]): string {
  const list = table(['Setting', 'Default', 'What it is', 'Environment'], rows)
  return [`## ${title}`, about, list].filter((part) => part !== '').join('\n\n')
}

function settingRows(properties: Readonly<Record<string, SettingSchema>>, path: SettingPath): string[][] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const group = schema.items?.properties ? schema.items : schema
    const own = group === schema ? [...path, key] : [...path, key, 0]
    if (group.properties && !schema.isWhole) return settingRows(group.properties, own)
    const isEmpty = schema.default === undefined || String(schema.default) === ''
    const usual = isEmpty ? '' : code(String(schema.default))
    const range = schema.maximum === undefined ? '' : `(${schema.minimum} to ${schema.maximum})`
    return [
      [
        code(nameOf(own)),
        [usual, range].join(' ').trim(),
        (schema.description ?? '').replace(/\.$/, ''),
        code(VARIABLE_OF.get(nameOf(own)) ?? ''),
      ],
    ]
  })
}

const VARIABLE_OF = new Map(Object.entries(VARIABLES).map(([name, path]) => [nameOf(path), name]))

function isGroup(schema: SettingSchema): boolean {
  return schema.properties !== undefined || schema.items?.properties !== undefined
}

/**
 * Returns the name of a setting. A setting of the first report is named as a setting of any report:
 * `reports[]`.
 */
function nameOf(path: SettingPath): string {
  return pathText(path).replace('[0]', '[]')
}

/** Generates the page on all settings, and their JSON Schema for editors. */
import { VARIABLES } from '../../src/config/environment.ts'
import { type SettingSchema, schemaAt } from '../../src/config/schema.ts'
import { isTree, pathText, type SettingPath } from '../../src/config/setting-path.ts'
import { code, page, sentence, table } from './markdown.ts'

const OPENING = `Every setting of \`leadsheet.yaml\`, with its default. An environment variable overrides the file. \`npx leadsheet config check\` shows all values in force, each with its source. A range in brackets says which whole numbers are allowed.

The file is \`leadsheet.yaml\`, or the one that \`--config\` or \`LEADSHEET_CONFIG\` names. Keep each secret in a file of its own: \`api.key\`, \`api.secret\`, those of the groups \`oauth\`, \`database_url\`, \`mail.url\`, \`mail.dkim.key\`, \`mail.bounces.url\`, \`mail.bounces.webhook_secret\`, \`alerts.webhook.url\`, \`alerts.heartbeat.url\`, \`web.token\` and \`events.secret\` each have a second setting with \`_file\` at its end, which names the file. Its variable, if it has one, ends in \`_FILE\`.

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
  const head = ['Setting', 'Default', 'What it is', 'Environment']
  // A column without values is left out.
  const columns = head
    .keys()
    .filter((column) => column === 0 || rows.some((cells) => cells[column] !== ''))
    .toArray()
  const pick = (cells: readonly string[]) => columns.map((column) => cells[column] ?? '')
  const list = table(pick(head), rows.map(pick))
  return [`## ${title}`, about, list].filter((part) => part !== '').join('\n\n')
}

function settingRows(properties: Readonly<Record<string, SettingSchema>>, path: SettingPath): string[][] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const group = schema.items?.properties ? schema.items : schema
    const own = group === schema ? [...path, key] : [...path, key, 0]
    if (key === 'oauth' && path[0] !== 'api') {
      const about = `${schema.description} Its settings are those of \`api.oauth\``
      const secrets = [...VARIABLE_OF].filter(([name]) => name.startsWith(nameOf(own)))
      return [[code(nameOf(own)), '', about, secrets.map(([, variable]) => code(variable)).join(', ')]]
    }
    if (group.properties && !schema.isWhole) return settingRows(group.properties, own)
    if (FILE_OF_ANOTHER.test(schema.description ?? '')) return []
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

/** Describes a setting that only names a file with the value of another setting. The opening speaks of all of them. */
const FILE_OF_ANOTHER = /^File that holds [^.]*, in place of \w+\.?$/

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

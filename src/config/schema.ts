/** The schema of the settings file. The program knows each setting by its name in camelCase. */
import { z } from 'zod'
import { DEFAULT_LOCALE } from '../domain/choices.ts'
import { snakeCase } from '../domain/names.ts'
import { LANGUAGES } from '../report/words/catalogue.ts'
import { WEEK_STARTS } from '../schedule/zone.ts'
import { postgresFault } from '../store/db/place.ts'
import { keyCommand, oauthSchemaOf, refuseTwoKeys } from './schema-login.ts'
import { alertsSchema, mailSchema } from './schema-mail.ts'
import { goalSettings, recipients, reportSchema } from './schema-reports.ts'
import { eventsSchema, webSchema } from './schema-web.ts'
import type { SecretKind } from './secrets.ts'
import { isTree, type SettingPath } from './setting-path.ts'
import {
  apiKeyFault,
  apiUrlFault,
  group,
  holidays,
  leadUrlFault,
  listOf,
  locale,
  named,
  path,
  pattern,
  pipelineIds,
  schedule,
  secret,
  section,
  setting,
  text,
  timeZone,
  wholeNumber,
} from './validators.ts'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

const topLevel = group({
  api: setting(
    'The service that the leads come from.',
    section({
      url: setting(
        'Base address of the lead pipeline service: https://, or http:// on this machine or a private network.',
        text('a URL with http:// or https://', apiUrlFault).optional(),
        { env: 'LEADSHEET_API_URL', examples: ['https://leads.example.com/api/v1'] },
      ),
      key: setting(
        'The API key. Keep it out of this file: use the environment, or the file that key_file names.',
        secret('the API key', apiKeyFault).optional(),
        { env: 'LEADSHEET_API_KEY' },
      ),
      key_file: setting(
        'File that holds the API key, in place of key. It is read again after a 401.',
        path.optional(),
      ),
      key_command: setting(
        'Program with its arguments that prints the API key, in place of key; run again after a 401.',
        keyCommand.optional(),
        { examples: [['pass', 'show', 'crm/api-key']] },
      ),
      secret: setting(
        'A second secret, for {secret} in auth of the profile.',
        secret('the second secret', apiKeyFault).optional(),
        { env: 'LEADSHEET_API_SECRET' },
      ),
      secret_file: setting('File that holds the second secret, in place of secret.', path.optional()),
      oauth: setting('A login by OAuth 2.0, in place of key.', oauthSchemaOf('API').optional()),
      profile: setting(
        'How to read a service that is not the reference service: a YAML file, which `probe` can write.',
        path.optional(),
        { env: 'LEADSHEET_API_PROFILE', examples: ['./profile.yaml'] },
      ),
      page_size: setting('The most leads that one request asks for.', wholeNumber(1, 1000).default(500)),
      run_minutes: setting(
        'The longest time of a sync, in minutes. After it, the sync stops at the end of its page, and the next sync continues there.',
        wholeNumber(1, 1440).default(15),
      ),
    })
      .superRefine(refuseTwoKeys)
      .prefault({}),
  ),
  data_dir: setting(
    'Folder of the archive, the snapshot, the .eml files of file:./outbox and, without database_url, the database.',
    path.default('./data'),
    { env: 'LEADSHEET_DATA_DIR' },
  ),
  database_url: setting(
    'URL of a PostgreSQL database, which several machines can share; if absent, the database is a file in data_dir. A user and a password may stand before the host, percent-encoded. ?schema= names the schema (default: leadsheet).',
    secret('a URL with postgres://', postgresFault, 'login').optional(),
    {
      env: 'LEADSHEET_DATABASE_URL',
      examples: ['postgres://leadsheet@db.example.com:5432/leadsheet?schema=leadsheet'],
    },
  ),
  database_url_file: setting('File that holds the URL, in place of database_url.', path.optional()),
  time_zone: setting(
    'IANA time zone of the days of reports and of all schedules, such as Europe/Berlin.',
    timeZone.default('UTC'),
    { env: 'LEADSHEET_TIME_ZONE' },
  ),
  log_level: setting(
    'The lowest level that is logged to standard error: debug, info, warn, error or silent.',
    z.enum(LOG_LEVELS, { error: LOG_LEVELS.join(', ').replace(/, (\w+)$/, ' or $1') }).default('info'),
    { env: 'LEADSHEET_LOG_LEVEL' },
  ),
  mail: setting('The mail server, and how messages are sent.', mailSchema.prefault({})),
  alerts: setting('Who gets alerts, and how.', alertsSchema.prefault({})),
  web: setting(
    'The pages that the daemon serves: the dashboard, and those of recipients.',
    webSchema.prefault({}),
  ),
  events: setting(
    'How events from the service are verified. `webhooks register --self` needs nothing here.',
    eventsSchema.prefault({}),
  ),
  recipients: setting(
    'Who gets the reports that have no recipients of their own: a list of addresses, with or without a name, or of groups with address, name, locale, time_zone, owner, filter, blocks and attachments.',
    recipients.default([]),
    { env: 'LEADSHEET_RECIPIENTS', examples: [['ana@example.com']] },
  ),
  locale: setting(
    `Language of reports, and format of their numbers and dates: ${LANGUAGES.join(' or ')}, with any region.`,
    locale.default(DEFAULT_LOCALE),
    { env: 'LEADSHEET_LOCALE', examples: ['de-DE'] },
  ),
  lead_url: setting(
    'Web address of a lead, for links in reports; {id} stands for its id. If absent, reports link to the pages of leads in the dashboard if it has a public_url, or to none.',
    text('the address of a lead with {id} in it', leadUrlFault).optional(),
    { env: 'LEADSHEET_LEAD_URL', examples: ['https://crm.example.com/leads/{id}'] },
  ),
  week_starts: setting(
    'First day of a week, for reports with the period week.',
    z.enum(WEEK_STARTS, { error: 'monday or sunday' }).default('monday'),
  ),
  holidays: setting(
    'Days off, besides Saturdays and Sundays: the public holidays of regions, and dates. Reports of working days skip them, and normal ranges do not learn from them.',
    holidays.default([]),
    { env: 'LEADSHEET_HOLIDAYS', examples: [['DE-BY', '2026-12-24: Company holiday']] },
  ),
  ...goalSettings,
  templates_dir: setting(
    'Folder of your own reports; if absent, the folder templates beside the settings file.',
    path.optional(),
    { env: 'LEADSHEET_TEMPLATES_DIR', examples: ['./templates'] },
  ),
  sync: setting(
    'When leads, statistics and agents are fetched: cron (minute hour day month weekday), or words such as every 15 minutes.',
    section({
      schedule: setting('When changes are fetched.', schedule.default('*/15 * * * *')),
      full_schedule: setting(
        'When all leads are read again, to find deleted leads too.',
        schedule.default('30 3 * * *'),
      ),
      pipelines: setting(
        'Pipelines whose statistics are fetched even if none of their leads is known yet.',
        pipelineIds.default([]),
        { examples: [['eu-mid-market']] },
      ),
    }).prefault({}),
  ),
  enrichment: setting(
    'What only the request for a single lead returns: its enrichment and its activity history.',
    section({
      policy: setting(
        'Leads whose enrichment and activity are read: changed (all new or changed leads, open and new leads first) or none.',
        z.enum(['changed', 'none'], { error: 'changed or none' }).default('changed'),
      ),
      per_run: setting(
        'The most leads whose details one sync reads, with one request for each. The sync stops earlier at api.run_minutes or when other work is due.',
        wholeNumber(1, 100_000).default(10_000),
      ),
    })
      // Null means that no details of leads are read.
      .transform(({ policy, ...limits }) => (policy === 'none' ? null : limits))
      .prefault({}),
  ),
  snapshot: setting(
    'The file for analysts: snapshot.db in the data directory.',
    section({
      when: setting(
        'When the snapshot is made: after_sync (if the sync brought something new) or never.',
        z.enum(['after_sync', 'never'], { error: 'after_sync or never' }).default('after_sync'),
      ),
      group: setting(
        'The Unix group that may read the snapshot: its name, or its number in quotes. Without it, only the user that leadsheet runs as.',
        pattern(/^[\w.-]+$/, 'the name of a group of this machine, or its number in quotes').optional(),
        { examples: ['leadsheet'] },
      ),
    }).prefault({}),
  ),
  retention: setting(
    'How long history is kept. The daemon prunes it after each full sync.',
    section({
      daily_after_days: setting(
        'Of samples of statistics and agents that are older than this many days, only the first of each day is kept.',
        wholeNumber(1, 36_500).default(365),
      ),
    }).prefault({}),
  ),
  reports: setting(
    'The reports. Without this list there is one report: daily, every weekday at 07:00.',
    listOf(reportSchema, 'a list of reports', 'name').prefault([
      { name: 'daily', schedule: 'every weekday at 07:00', period: 'working_day' },
    ]),
  ),
})
export const settingsSchema = named(topLevel)
export type Settings = z.output<typeof settingsSchema>

/** The schema of a setting: the properties of JSON Schema that are used here, and our own, such as `env`. */
export interface SettingSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, SettingSchema>>
  readonly items?: SettingSchema
  /** The schemas that the value may match, such as a text or a group. */
  readonly anyOf?: readonly SettingSchema[]
  /** The name of the environment variable for the setting. */
  readonly env?: string
  readonly secret?: SecretKind
  /** True for a group that counts as a single setting, such as a filter. */
  readonly isWhole?: boolean
}

/** A setting that is secret, or that an environment variable or a separate file can give. */
interface SpecialSetting {
  /** The path of the setting. The index 0 in `['reports', 0, 'schedule']` stands for the first report. */
  readonly path: SettingPath
  /** The path of the setting that names a file with the value, such as `api.key_file`; null without one. */
  readonly filePath: SettingPath | null
  readonly env: string | null
  readonly secret: SecretKind | null
}

let known: (SettingSchema & Record<string, unknown>) | undefined

function wholeSchema() {
  known ??= z.toJSONSchema(settingsSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      // Zod omits the default and the examples of a value with a transformation, so they are added here.
      if ('defaultValue' in def) jsonSchema.default = def.defaultValue
      const examples = z.globalRegistry.get(zodSchema)?.examples
      if (Array.isArray(examples)) jsonSchema.examples = examples
      // YAML reads a group without settings as null, so null is allowed if no setting is required.
      if (jsonSchema.type === 'object' && jsonSchema.required === undefined) {
        Object.assign(jsonSchema, { type: ['object', 'null'] })
      }
      if (isTree(jsonSchema.default)) delete jsonSchema.default
    },
  }) as SettingSchema & Record<string, unknown>
  return known
}

/** Finds the schema of a setting; undefined if there is no setting at this path. */
export function schemaAt(path: SettingPath): SettingSchema | undefined {
  return path.reduce<SettingSchema | undefined>((schema, key) => {
    const kinds = [schema, ...(schema?.anyOf ?? [])]
    const inner = kinds.map((kind) => (typeof key === 'number' ? kind?.items : kind?.properties?.[key]))
    return inner.find((found) => found !== undefined)
  }, wholeSchema())
}

/**
 * Yields each setting of a settings tree or a Config: its path in the settings file, and its value. A list
 * counts as one setting. In a list of groups, such as the reports, each setting of each group is yielded.
 */
export function* settingsIn(tree: unknown, path: SettingPath = []): Generator<[SettingPath, unknown]> {
  const schema = schemaAt(path)
  const isGroup = [schema, ...(schema?.anyOf ?? [])].some((kind) => kind?.properties !== undefined)
  if (Array.isArray(tree) && tree.length > 0 && schema?.items?.properties !== undefined) {
    for (const [index, item] of tree.entries()) yield* settingsIn(item, [...path, index])
  } else if (isTree(tree) && isGroup && !schema?.isWhole) {
    for (const [key, item] of Object.entries(tree)) yield* settingsIn(item, [...path, snakeCase(key)])
  } else {
    yield [path, tree]
  }
}

/** Yields all secrets, and all settings that an environment variable or a separate file can give. */
export function* specialSettings(
  schema: SettingSchema = wholeSchema(),
  path: SettingPath = [],
): Generator<SpecialSetting> {
  if (schema.items !== undefined) yield* specialSettings(schema.items, [...path, 0])
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const { env = null, secret = null } = inner
    const hasFile = schema.properties?.[`${name}_file`] !== undefined
    const own = { path: [...path, name], filePath: hasFile ? [...path, `${name}_file`] : null }
    if (env !== null || secret !== null || hasFile) yield { ...own, env, secret }
    yield* specialSettings(inner, own.path)
  }
}

/**
 * The schema of the settings file, in its own snake_case: types, defaults, limits and descriptions. Mail, web
 * and reports have files of their own.
 */
import { z } from 'zod'
import { DEFAULT_LOCALE } from '../domain/choices.ts'
import { postgresFault } from '../store/db/place.ts'
import { alertsSchema, mailSchema, smtpSchema } from './schema-mail.ts'
import { recipients, reportSchema } from './schema-reports.ts'
import { webSchema } from './schema-web.ts'
import type { Secret } from './secrets.ts'
import type { SettingPath } from './setting-path.ts'
import { isTree, pathText } from './setting-path.ts'
import {
  apiUrlFault,
  date,
  leadUrlFault,
  listOf,
  locale,
  path,
  pipelineIds,
  schedule,
  scheduleFault,
  secret,
  section,
  text,
  timeZone,
  wholeNumber,
} from './validators.ts'

const SECRET_LENGTH = 8

const eventsSchema = section({
  secret: secret(`texts of at least ${SECRET_LENGTH} characters, one a line`, secretFault).optional().meta({
    env: 'LEADSHEET_EVENTS_SECRET',
    secret: true,
    description:
      'The secret of a webhook that was registered at the upstream by hand; several while one takes the place of another, one a line. Better kept out of this file: see secret_file.',
  }),
  secret_file: path.optional().meta({ description: 'File that holds it, or several, in place of secret.' }),
})

/** Splits the setting into its secrets, one a line. */
export function eventSecrets(secret: Secret | null): string[] {
  return secret === null ? [] : linesOf(secret.reveal())
}

function secretFault(value: string): string | null {
  const shortest = Math.min(...linesOf(value).map(({ length }) => length))
  return shortest < SECRET_LENGTH ? 'one is shorter' : null
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const settingsSchema = section({
  api: section({
    url: text('a URL with http:// or https://', apiUrlFault)
      .optional()
      .meta({
        env: 'LEADSHEET_API_URL',
        description: 'Base address of the lead pipeline service.',
        examples: ['https://leads.example.com/api/v1'],
      }),
    key: secret('the API key').optional().meta({
      env: 'LEADSHEET_API_KEY',
      secret: true,
      description: 'The API key. Better kept out of this file: in the environment, or see key_file.',
    }),
    key_file: path.optional().meta({ description: 'File that holds the API key, in place of key.' }),
    profile: z
      .union([path, z.record(z.string(), z.unknown())], {
        error: 'the path of a YAML file, or a mapping that begins on the next line',
      })
      .optional()
      .meta({
        env: 'LEADSHEET_API_PROFILE',
        description:
          'How this upstream is asked and read, where it is not the reference service: a YAML file, as `probe` writes it, or the mapping itself.',
      }),
    page_size: wholeNumber(1, 1000).default(500).meta({ description: 'Leads asked for with one request.' }),
    max_wait_seconds: wholeNumber(0, 3600).default(60).meta({
      description: 'The longest wait that the service may ask for (Retry-After) before a sync is deferred.',
    }),
    run_minutes: wholeNumber(1, 1440).default(15).meta({
      description: 'A run that takes longer stops after the page in hand; the next one goes on from there.',
    }),
  })
    .prefault({})
    .meta({ description: 'The upstream: where the leads come from.' }),
  data_dir: path.default('./data').meta({
    env: 'LEADSHEET_DATA_DIR',
    description: 'Folder of the database, where database_url is not set, the archive and the outbox.',
  }),
  database_url: secret('a URL with postgres://', postgresFault)
    .optional()
    .meta({
      env: 'LEADSHEET_DATABASE_URL',
      secret: 'login',
      description:
        'PostgreSQL, where several machines share the database; a file in data_dir if absent. A percent-encoded user and password may stand before the host, and ?schema= names another schema than leadsheet.',
      examples: ['postgres://leadsheet@db.example.com:5432/leadsheet?schema=leadsheet'],
    }),
  database_url_file: path
    .optional()
    .meta({ description: 'File that holds the URL, in place of database_url.' }),
  allow_network_fs: z
    .boolean({ error: 'true or false' })
    .default(false)
    .meta({ description: 'Use a data_dir on a network file system, where SQLite can lose data.' }),
  time_zone: timeZone.default('UTC').meta({
    env: 'LEADSHEET_TIME_ZONE',
    description: 'IANA zone in which reports begin and end their days, and in which schedules are read.',
  }),
  log_level: z
    .enum(LOG_LEVELS, { error: LOG_LEVELS.join(', ').replace(/, (\w+)$/, ' or $1') })
    .default('info')
    .meta({ env: 'LEADSHEET_LOG_LEVEL', description: 'The least that is logged, on standard error.' }),
  smtp: smtpSchema.prefault({}).meta({ description: 'The mail server.' }),
  mail: mailSchema.prefault({}).meta({ description: 'How reports are sent.' }),
  alerts: alertsSchema.prefault({}).meta({ description: 'Who gets alerts, and how.' }),
  web: webSchema.prefault({}).meta({
    description: 'The pages that the daemon serves: the dashboard, and those of recipients.',
  }),
  events: eventsSchema.prefault({}).meta({
    description:
      'How messages of the upstream about what happened are known to be its own, beside those of `webhooks register --self`.',
  }),
  recipients: recipients.default([]).meta({
    env: 'LEADSHEET_RECIPIENTS',
    description:
      'Who gets the reports that name no recipients of their own: addresses, or groups of what each one gets.',
  }),
  recipients_file: path.optional().meta({ description: 'CSV file that lists them, in place of recipients.' }),
  locale: locale.default(DEFAULT_LOCALE).meta({
    env: 'LEADSHEET_LOCALE',
    description:
      'How reports are written where nothing else is said: the language, and how it writes numbers and dates.',
    examples: ['de-DE'],
  }),
  lead_url: text('the address of a lead with {id} in it', leadUrlFault)
    .optional()
    .meta({
      env: 'LEADSHEET_LEAD_URL',
      description: 'Where a lead can be looked at, for links in reports; there are none if absent.',
      examples: ['https://crm.example.com/leads/{id}'],
    }),
  holidays: listOf(date, 'a list of dates')
    .default([])
    .meta({
      description: 'Dates that reports of working days pass over, besides Saturdays and Sundays.',
      examples: [['2026-12-25']],
    }),
  templates_dir: path.optional().meta({
    env: 'LEADSHEET_TEMPLATES_DIR',
    description: 'Folder of reports of your own; templates beside the settings file if absent.',
  }),
  jitter_seconds: wholeNumber(0, 3600).default(0).meta({
    description:
      'Each scheduled run begins up to so many seconds later, so that installations do not all ask at once.',
  }),
  sync: section({
    schedule: schedule.default('*/15 * * * *').meta({ description: 'When changes are fetched.' }),
    full_schedule: schedule.default('30 3 * * *').meta({
      description: 'When everything is read again, which also finds the leads that were deleted upstream.',
    }),
    overlap_minutes: wholeNumber(0, 1440).default(10).meta({
      description: 'How far before the last change seen each run begins to read again, against late writes.',
    }),
    pipelines: pipelineIds.default([]).meta({
      description: 'Pipelines whose statistics are wanted although none of their leads was seen yet.',
    }),
  })
    .prefault({})
    .meta({ description: 'When leads, statistics and agents are fetched.' }),
  enrichment: section({
    policy: z.enum(['changed', 'top', 'none'], { error: 'changed, top or none' }).default('changed').meta({
      description:
        'Of which leads enrichment and activity are read, open and new ones first: changed (all that are new or changed), top (of these, the ones with the best scores, the best first) or none.',
    }),
    top: wholeNumber(1, 1_000_000)
      .default(1000)
      .meta({ description: 'With the policy top: how many leads have the best scores.' }),
    per_run: wholeNumber(1, 100_000).default(10_000).meta({
      description:
        'The most leads that one sync asks for, a request each, until api.run_minutes are over or something else is due; the next one goes on from there.',
    }),
    concurrency: wholeNumber(1, 8).default(8).meta({ description: 'How many are asked for at once.' }),
  })
    .transform(({ policy, top, ...limits }) =>
      // Null where no single leads are read. `top` is null where their number has no limit.
      policy === 'none' ? null : { top: policy === 'top' ? top : null, ...limits },
    )
    .prefault({})
    .meta({ description: 'What only the single lead tells: its enrichment and its activity history.' }),
  snapshot: section({
    when: text('after_sync, never, or a schedule such as "every day at 05:00"', (value) =>
      value === 'after_sync' || value === 'never' ? null : scheduleFault(value),
    )
      .default('after_sync')
      .meta({
        description:
          'When the snapshot is made: after_sync (where that brought something new), never, or by a schedule.',
      }),
    keep: wholeNumber(0, 1000).default(0).meta({
      description:
        'How many of the last snapshots also stay, as snapshot-<time>.db; each is as large as the database.',
    }),
  })
    .prefault({})
    .meta({ description: 'The file that analysts open, snapshot.db in the data directory.' }),
  retention: section({
    hourly_after_days: wholeNumber(1, 36_500).default(30).meta({
      description: 'Of samples of statistics and agents that are older, only the first of each hour stays.',
    }),
    daily_after_days: wholeNumber(1, 36_500).default(365).meta({
      description: 'Of samples that are older than this, only the first of each day stays.',
    }),
    versions_years: wholeNumber(1, 100).optional().meta({
      description: 'How long past states of leads are kept after they ended; for ever if absent.',
    }),
  })
    .prefault({})
    .meta({ description: 'How long the past is kept. The daemon prunes it after each full sync.' }),
  reports: listOf(reportSchema, 'a list of reports', 'name')
    .prefault([{ name: 'daily', schedule: 'every weekday at 07:00', period: 'working_day' }])
    .meta({ description: 'The reports that are made and sent.' }),
})
export type Settings = z.output<typeof settingsSchema>

/** The parts of JSON Schema used here, and our own facts about a setting. */
export interface SettingSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, SettingSchema>>
  readonly items?: SettingSchema
  /** The kinds that a value may have, such as a text or a group. */
  readonly anyOf?: readonly SettingSchema[]
  /** The environment variable that gives the setting. */
  readonly env?: string
  /** Is `true` where the value is never shown, and `login` where only the password of a URL is secret. */
  readonly secret?: boolean | 'login'
  /** The settings of a group by the names that the program uses. */
  readonly settingNames?: Readonly<Record<string, string>>
  /** Is true for a group that counts as a single setting. */
  readonly isWhole?: boolean
}

/** A setting that has a variable, is secret, or may stand in a file of its own. */
interface SpecialSetting {
  /** The path. `['reports', 0, 'schedule']` belongs to the first report. */
  readonly path: SettingPath
  /** The setting that names a file to read it from, such as `api.key_file`; null where there is none. */
  readonly filePath: SettingPath | null
  readonly env: string | null
  readonly secret: boolean | 'login'
}

let known: (SettingSchema & Record<string, unknown>) | undefined

function wholeSchema(): SettingSchema & Record<string, unknown> {
  known ??= z.toJSONSchema(settingsSchema, {
    io: 'input',
    // A group may be empty, because all of its settings are optional.
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      // Because zod leaves these out where a value is transformed.
      if ('defaultValue' in def) jsonSchema.default = def.defaultValue
      const examples = z.globalRegistry.get(zodSchema)?.examples
      if (Array.isArray(examples)) jsonSchema.examples = examples
      if (jsonSchema.type === 'object' && jsonSchema.required === undefined) {
        Object.assign(jsonSchema, { type: ['object', 'null'] })
      }
      if (isTree(jsonSchema.default)) delete jsonSchema.default
    },
  }) as SettingSchema & Record<string, unknown>
  return known
}

/** The JSON Schema that `leadsheet config schema` prints and docs/reference/leadsheet.schema.json holds. */
export function settingsJsonSchema(): Record<string, unknown> {
  const isOurs = (key: string, value: unknown) =>
    key === 'settingNames' || (['env', 'secret', 'isWhole'].includes(key) && !isTree(value))
  const { $schema, ...schema } = JSON.parse(
    JSON.stringify(wholeSchema(), (key, value: unknown) => (isOurs(key, value) ? undefined : value)),
  )
  return { $schema, title: 'Settings of leadsheet', ...schema }
}

/** Finds the schema of a setting; undefined when there is none of that name. */
export function schemaAt(path: SettingPath): SettingSchema | undefined {
  return path.reduce<SettingSchema | undefined>((schema, key) => {
    const kinds = [schema, ...(schema?.anyOf ?? [])]
    const inner = kinds.map((kind) => (typeof key === 'number' ? kind?.items : kind?.properties?.[key]))
    return inner.find((found) => found !== undefined)
  }, wholeSchema())
}

/** Names a setting as the file does: `['mail', 'maxMb']` is `['mail', 'max_mb']`. */
export function settingPath(path: SettingPath): SettingPath {
  return path.map((key, index) => {
    const names = schemaAt(settingPath(path.slice(0, index)))?.settingNames
    const setting = names === undefined ? key : names[key]
    if (setting === undefined) throw new TypeError(`${pathText(path)} is no setting`)
    return setting
  })
}

/**
 * Every setting of a settings tree or a Config, named as in the file, with its value. A list counts as one,
 * except the list of reports.
 */
export function* settingsIn(tree: unknown, path: SettingPath = []): Generator<[SettingPath, unknown]> {
  const schema = schemaAt(path)
  const isGroup = [schema, ...(schema?.anyOf ?? [])].some((kind) => kind?.properties !== undefined)
  if (Array.isArray(tree) && tree.length > 0 && schema?.items?.properties !== undefined) {
    for (const [index, item] of tree.entries()) yield* settingsIn(item, [...path, index])
  } else if (isTree(tree) && isGroup && !schema?.isWhole) {
    for (const [key, item] of Object.entries(tree))
      yield* settingsIn(item, [...path, schema?.settingNames?.[key] ?? key])
  } else {
    yield [path, tree]
  }
}

/** All settings with a variable, a secret or a file of their own, in the order of the schema. */
export function* specialSettings(
  schema: SettingSchema = wholeSchema(),
  path: SettingPath = [],
): Generator<SpecialSetting> {
  if (schema.items !== undefined) yield* specialSettings(schema.items, [...path, 0])
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const { env = null, secret = false } = inner
    const hasFile = schema.properties?.[`${name}_file`] !== undefined
    const own = { path: [...path, name], filePath: hasFile ? [...path, `${name}_file`] : null }
    if (env !== null || secret !== false || hasFile) yield { ...own, env, secret }
    yield* specialSettings(inner, own.path)
  }
}

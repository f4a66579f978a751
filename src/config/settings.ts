/**
 * The settings file as a schema, in its own snake_case: the one place for types, defaults, limits and
 * descriptions. A schema's `error` is what is accepted, worded to follow "expected".
 */
import { z } from 'zod'
import { ADDRESS, apiUrlFault, cronFault, isMailbox, mailUrlFault, timeZoneFault } from './rules.ts'
import { valueAt } from './setting-path.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const DAILY_AT_SEVEN = '0 7 * * *'

/** Text that a rule accepts; the rule's reason follows what is accepted. */
function text(accepted: string, fault: (value: string) => string | null = () => null) {
  return z
    .string({ error: accepted })
    .trim()
    .min(1, { error: accepted, abort: true })
    .refine((value) => fault(value) === null, {
      error: (issue) => `${accepted}; ${fault(String(issue.input))}`,
    })
}

function pattern(regex: RegExp, error: string) {
  return z.string({ error }).regex(regex, { error })
}

function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** A list whose items differ; `key` names what must differ where they are groups. Told beside other mistakes. */
function listOf<T extends z.ZodType>(item: T, accepted: string, key?: string) {
  const path = key === undefined ? [] : [key]
  return z.array(item, { error: accepted }).superRefine(
    (items, context) => {
      const values = items.map((value) => valueAt(value, path))
      for (const [index, input] of values.entries()) {
        if (input === undefined || values.indexOf(input) === index) continue
        context.addIssue({ code: 'custom', path: [index, ...path], message: 'each only once', input })
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  )
}

function section<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: 'a group of settings, indented below the name' })
}

const path = text('a path')
const cron = text('a cron expression of five fields (minute hour day month weekday)', cronFault)
const timeZone = text('a time zone of the IANA database, such as Europe/Berlin', timeZoneFault)
const slug = pattern(
  /^[a-z0-9]+(-[a-z0-9]+)*$/,
  'lower-case letters, digits and single hyphens, such as daily or weekly-emea',
)
const address = pattern(ADDRESS, 'an e-mail address, such as ana@example.com')
const mailbox = text('an e-mail address, or Name <address>', (value) =>
  isMailbox(value) ? null : 'this is neither',
)
const addresses = listOf(address, 'a list of e-mail addresses')
const pipelineIds = listOf(text('the id of a pipeline'), 'a list of pipeline ids')

const reportSchema = section({
  name: slug.meta({
    description: 'What the report is called on the command line and in the archive; unique.',
  }),
  template: slug.optional().meta({ description: 'Folder in templates/; the name of the report if absent.' }),
  title: text('a title').optional().meta({ description: 'Headline; made of the name if absent.' }),
  schedule: cron.default(DAILY_AT_SEVEN).meta({
    description: 'When it is made and sent: minute hour day month weekday, in the time zone of the report.',
  }),
  time_zone: timeZone.optional().meta({
    description: 'IANA zone of its days and its schedule; the top-level time_zone if absent.',
  }),
  recipients: addresses.optional().meta({ description: 'Who gets it; the top-level recipients if absent.' }),
  pipelines: pipelineIds.default([]).meta({ description: 'Only these pipelines; all of them if empty.' }),
  stalled_days: wholeNumber(1, 365).default(7).meta({
    description: 'An open lead that has not changed in any way for this many days is listed as stalled.',
  }),
  top_score: wholeNumber(0, 100).default(80).meta({
    description: 'A new lead with this score or more is listed as a top lead.',
  }),
})

export const settingsSchema = section({
  api: section({
    url: text('a URL with http:// or https://', apiUrlFault)
      .optional()
      .meta({
        description: 'Base address of the lead pipeline service.',
        examples: ['https://leads.example.com/api/v1'],
      }),
    key: text('the API key').optional().meta({
      description: 'The API key. Better kept out of this file: in the environment, or see key_file.',
    }),
    key_file: path.optional().meta({ description: 'File that holds the API key, in place of key.' }),
    profile: z
      .union([path, z.record(z.string(), z.unknown())], {
        error: 'the path of a YAML file, or a mapping that begins on the next line',
      })
      .optional()
      .meta({
        description:
          'How this upstream is asked and read, where it is not the reference service: a YAML file, as `leadsheet probe` writes it, or the mapping itself.',
      }),
    page_size: wholeNumber(1, 1000).default(500).meta({ description: 'Leads asked for with one request.' }),
    max_wait_seconds: wholeNumber(0, 3600).default(60).meta({
      description: 'The longest wait that the service may ask for (Retry-After) before a run is put off.',
    }),
    run_minutes: wholeNumber(1, 1440).default(15).meta({
      description: 'A run that takes longer stops after the page in hand; the next one goes on from there.',
    }),
  })
    .prefault({})
    .meta({ description: 'The upstream: where the leads come from.' }),
  data_dir: path.default('./data').meta({
    description: 'Folder of the database, the archive and the outbox.',
  }),
  allow_network_fs: z
    .boolean({ error: 'true or false' })
    .default(false)
    .meta({ description: 'Use a data_dir on a network file system, where SQLite can lose data.' }),
  time_zone: timeZone.default('UTC').meta({
    description: 'IANA zone in which reports begin and end their days, and in which schedules are read.',
  }),
  log_level: z
    .enum(LOG_LEVELS, { error: LOG_LEVELS.join(', ').replace(/, (\w+)$/, ' or $1') })
    .default('info')
    .meta({ description: 'The least that is logged, on standard error.' }),
  mail: section({
    url: text('a URL with smtp://, smtps:// or file:', mailUrlFault)
      .optional()
      .meta({
        description:
          'The mail server, or a folder that receives .eml files. A percent-encoded user and password may stand before the host.',
        examples: ['smtp://mail.example.com:587', 'file:./data/outbox'],
      }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
    from: mailbox.optional().meta({
      description: 'Sender of the reports.',
      examples: ['Lead reports <reports@example.com>'],
    }),
    reply_to: mailbox.optional().meta({ description: 'Where answers go; to the sender if absent.' }),
  })
    .prefault({})
    .meta({ description: 'How reports are sent.' }),
  recipients: addresses.default([]).meta({
    description: 'Who gets the reports that name no recipients of their own.',
  }),
  sync: section({
    every: cron.default('*/15 * * * *').meta({ description: 'When changes are fetched.' }),
    full: cron.default('30 3 * * *').meta({
      description: 'When everything is read again, which also finds the leads that are gone upstream.',
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
  details: section({
    policy: z.enum(['changed', 'top', 'none'], { error: 'changed, top or none' }).default('changed').meta({
      description:
        'Of which leads enrichment and activity are read, the best by score first: changed (all that are new or changed), top (of these, the ones with the best scores) or none.',
    }),
    top: wholeNumber(1, 1_000_000)
      .default(1000)
      .meta({ description: 'With the policy top: how many leads have the best scores.' }),
    per_run: wholeNumber(1, 100_000).default(200).meta({
      description: 'The most leads that one sync asks for, a request each; the next one goes on from there.',
    }),
    concurrency: wholeNumber(1, 8).default(4).meta({ description: 'How many are asked for at once.' }),
  })
    .prefault({})
    .meta({ description: 'What only the single lead tells: its enrichment and its activity history.' }),
  snapshot: section({
    when: text('after_sync, never, or a cron expression of five fields', (value) =>
      value === 'after_sync' || value === 'never' ? null : cronFault(value),
    )
      .default('after_sync')
      .meta({
        description:
          'When the snapshot is made: after_sync (where that brought something new), never, or a cron expression.',
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
      description: 'Readings of statistics and agents that are older are thinned to the first of each hour.',
    }),
    daily_after_days: wholeNumber(1, 36_500).default(365).meta({
      description: 'And those that are older than this, to the first of each day.',
    }),
    versions_years: wholeNumber(1, 100).optional().meta({
      description: 'How long past states of leads are kept after they ended; for ever if absent.',
    }),
  })
    .prefault({})
    .meta({ description: 'How long the past is kept. The daemon prunes it after each full sync.' }),
  reports: listOf(reportSchema, 'a list of reports', 'name')
    .prefault([{ name: 'daily' }])
    .meta({ description: 'The reports that are made and sent.' }),
})
export type Settings = z.output<typeof settingsSchema>

/**
 * The schemas of the settings for reports and goals. If a setting of a report is absent, the value comes from
 * the report's template folder or from the top level of the settings.
 */
import { z } from 'zod'
import type { FilterColumn } from '../domain/choices.ts'
import {
  ATTACHED_FORMATS,
  FILTER_COLUMNS,
  PERIOD_KINDS,
  SEND_POLICIES,
  STALE_DATA_POLICIES,
} from '../domain/choices.ts'
import { COUNTED_FIGURES, GOAL_PERIODS } from '../domain/insight.ts'
import { nameFault, readMailbox } from '../domain/mailbox.ts'
import { CATCH_UP_POLICIES } from '../schedule/timing.ts'
import {
  address,
  attachmentFault,
  blocks,
  group,
  listOf,
  locale,
  mailbox,
  named,
  pattern,
  pipelineIds,
  schedule,
  section,
  setting,
  slug,
  text,
  timeZone,
  wholeNumber,
} from './validators.ts'

const number = z.number({ error: 'a number' })
const bounds = group({
  min: setting('The least, included.', number.optional()),
  max: setting('The most, included.', number.optional()),
}).refine(({ min, max }) => (min ?? max) !== undefined && (min ?? -Infinity) <= (max ?? Infinity), {
  error: 'min, max, or both with min not above max',
})
const texts = listOf(text('a text'), 'a list of texts').min(1, { error: 'at least one text' })

type ConditionSettings = z.output<typeof bounds> | z.output<typeof texts>

function conditionOn([column, kind]: [string, string]): [string, z.ZodType] {
  const description =
    kind === 'number'
      ? `Only leads whose ${column} is within these bounds.`
      : `Only leads with one of these as ${column}.`
  return [column, setting(description, (kind === 'number' ? bounds : texts).optional())]
}

/** A condition on a field that the profile declares, which is compared with the profile when all is read. */
const condition = z.union(
  [z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String)).min(1), bounds],
  { error: 'a list of texts, or min, max or both' },
)

const filterSchema = group({
  pipelines: setting('Only leads of these pipelines.', pipelineIds.optional()),
  ...(Object.fromEntries(Object.entries(FILTER_COLUMNS).map(conditionOn)) as Record<
    FilterColumn,
    z.ZodOptional<z.ZodType<ConditionSettings>>
  >),
}).catchall(condition)
export type FilterSettings = z.output<typeof filterSchema>

export const attachments = listOf(
  text(`charts, or a list or query with .${ATTACHED_FORMATS.join(' or .')}`, attachmentFault),
  'a list of files, such as [stalled.xlsx]',
)

const recipientSchema = section({
  address: setting('E-mail address.', address, { examples: ['dana@example.com'] }),
  name: setting(
    'Name of the recipient.',
    text('a name without < > " or line breaks', (name) =>
      /[<>"]/.test(name) ? 'it holds such a character' : nameFault(name),
    ).optional(),
    { examples: ['Dana Lopes'] },
  ),
  locale: setting(
    'Language, and format of numbers and dates; the locale of the report if absent.',
    locale.optional(),
    { examples: ['de-DE'] },
  ),
  time_zone: setting(
    'Time zone in which times are shown; the days stay those of the report.',
    timeZone.optional(),
    { examples: ['Europe/Berlin'] },
  ),
  owner: setting(
    'Only the leads of this person, or of these people, by the name or id that the upstream gives.',
    z.union([text('a name'), texts], { error: 'a name, or a list of names' }).optional(),
    { examples: ['Ana', ['Ana', 'Tom']] },
  ),
  filter: setting('Only these leads, of those in the report.', filterSchema.optional(), {
    isWhole: true,
    examples: [{ pipelines: ['eu-mid-market'], company_country: ['Germany', 'Austria'], score: { min: 60 } }],
  }),
  blocks: setting('Only these blocks, in this order.', blocks.optional(), {
    examples: [['headline', 'kpis', 'stalled']],
  }),
  attachments: setting(
    'Files that come with the report, in place of those of the report.',
    attachments.optional(),
    { examples: [['stalled.xlsx']] },
  ),
})

export const recipients = listOf(
  z
    .union([mailbox, recipientSchema], { error: 'an e-mail address, or a group that begins with one' })
    .transform(withNameApart),
  'a list of e-mail addresses',
  'address',
)
export type RecipientSettings = z.output<typeof recipients>[number]

/** Turns a text with a name into a group, as if the name were a setting of its own. */
function withNameApart(recipient: string | z.output<typeof recipientSchema>): typeof recipient {
  const read = typeof recipient === 'string' ? readMailbox(recipient) : { fault: '' }
  if ('fault' in read || read.written === recipient) return recipient
  const name = read.name === '' ? null : read.name
  const others = { locale: null, timeZone: null, owner: null, filter: null, blocks: null, attachments: null }
  return { address: read.written, name, ...others }
}

const DAILY_AT_SEVEN = '0 7 * * *'

const sendWhen = z.union(
  [
    z.enum(SEND_POLICIES),
    group({
      if_threshold: setting(
        'Sent where this condition in SQL over the headline numbers holds.',
        text('a condition in SQL, such as new_leads < 10 OR stalled > 20'),
      ),
    }),
  ],
  { error: `${SEND_POLICIES.join(', ')} or if_threshold: <condition>` },
)

export const reportSchema = section({
  name: setting(
    'Name on the command line and in the archive: lower-case letters, digits and hyphens; unique.',
    slug,
    { examples: ['daily'] },
  ),
  template: setting('Folder in templates/; the name of the report if absent.', slug.optional(), {
    examples: ['daily'],
  }),
  title: setting('Headline; derived from the name if absent.', text('a title').optional(), {
    examples: ['Leads of the day'],
  }),
  schedule: setting(
    'When the report is made and sent, in its time_zone: cron (minute hour day month weekday), or words such as every weekday at 07:00.',
    schedule.default(DAILY_AT_SEVEN),
  ),
  time_zone: setting(
    'IANA time zone of the days and the schedule of the report; the top-level time_zone if absent.',
    timeZone.optional(),
    { examples: ['Europe/Berlin'] },
  ),
  catch_up: setting(
    'Which missed runs are caught up: latest (until the next run), all of the last 31 days (oldest first) or none.',
    z.enum(CATCH_UP_POLICIES, { error: 'latest, all or none' }).default('latest'),
  ),
  period: setting(
    'What the report covers: day, working_day (on Mondays the weekend too), week, month, quarter or since_last (since the last issue). If absent, the folder of the report decides, else day.',
    z.enum(PERIOD_KINDS, { error: PERIOD_KINDS.join(', ') }).optional(),
    { examples: ['working_day'] },
  ),
  send_when: setting(
    'When the report is sent: always, if_rows (something happened) or if_threshold with a condition in SQL over the headline numbers. If absent, the folder of the report decides, else always.',
    sendWhen.optional(),
    { examples: ['always', { if_threshold: 'new_leads < 10 OR stalled > 20' }] },
  ),
  wait_minutes: setting(
    'How many minutes after its due time the report waits for a sync that covers its period.',
    wholeNumber(0, 1440).default(30),
  ),
  on_stale_data: setting(
    'What happens if no such sync came in time: send (the report says what is old and why), hold (until the data is complete, or until `report approve`) or skip.',
    z.enum(STALE_DATA_POLICIES, { error: STALE_DATA_POLICIES.join(', ') }).default('send'),
  ),
  recipients: setting('Who gets the report; the top-level recipients if absent.', recipients.optional(), {
    examples: [['ana@example.com']],
  }),
  filter: setting(
    'Only these leads: columns of lead, each with a list of texts, or with min and max. The filter of a recipient narrows this further.',
    filterSchema.optional(),
    { isWhole: true, examples: [{ company_region: ['EMEA'] }] },
  ),
  locale: setting(
    'Locale for recipients without a locale of their own; the top-level locale if absent.',
    locale.optional(),
    { examples: ['de-DE'] },
  ),
  blocks: setting(
    'Blocks of the report, in this order. If absent, the folder of the report decides, else all.',
    blocks.optional(),
    { examples: [['headline', 'goals', 'today', 'kpis', 'trend']] },
  ),
  attachments: setting(
    'Files that come with the report: charts, or a list or query as .csv or .xlsx, such as stalled.xlsx.',
    attachments.default([]),
    { examples: [['stalled.xlsx']] },
  ),
  columns: setting(
    'Fields of the profile that attached lists of leads show as further columns.',
    listOf(text('the name of a field'), 'a list of names, such as [deal_size]').default([]),
  ),
  stalled_days: setting(
    'An open lead that has not changed in any way for this many days is stalled.',
    wholeNumber(1, 365).default(7),
  ),
  top_score: setting('A new lead with this score or more is a top lead.', wholeNumber(0, 100).default(80)),
})
export type ReportSettings = z.output<typeof reportSchema>

/* Goals are the numbers that figures are meant to reach in a month, quarter or fiscal year. */

const goal = named(
  group({
    name: setting('Name of the goal in reports.', text('a name'), { examples: ['Value won in the month'] }),
    figure: setting(
      'The figure that counts: new_leads, won, lost or won_value.',
      z.enum(COUNTED_FIGURES, { error: `one of ${COUNTED_FIGURES.join(', ')}` }),
      { examples: ['won_value'] },
    ),
    period: setting(
      'The span that the goal is for: month, quarter or fiscal_year.',
      z.enum(GOAL_PERIODS, { error: `one of ${GOAL_PERIODS.join(', ')}` }).default('month'),
    ),
    target: setting(
      'The number to reach, above 0; for won_value an amount in whole units of the currency.',
      z.number({ error: 'a number above 0' }).positive({ error: 'a number above 0' }),
      { examples: [500_000] },
    ),
    currency: setting(
      'Currency (ISO 4217) of a goal of won_value; only for that figure.',
      pattern(/^[A-Z]{3}$/, 'a currency by ISO 4217, such as EUR').optional(),
      { examples: ['EUR'] },
    ),
    pipelines: setting('Only leads of these pipelines; all if absent.', pipelineIds.optional(), {
      examples: [['eu-mid-market']],
    }),
    owner: setting('Who the goal belongs to, shown beside it.', text('a name').optional(), {
      examples: ['Ana'],
    }),
  }).refine(({ figure, currency }) => (figure === 'won_value') === (currency !== undefined), {
    error: 'a currency for won_value, and none for other figures',
    path: ['currency'],
  }),
)

/** The top-level settings about goals. */
export const goalSettings = {
  goals: setting(
    'What figures are meant to reach. Reports say how far each goal is and where its number will probably end.',
    listOf(goal, 'a list of goals', 'name').default([]),
  ),
  fiscal_year_starts: setting(
    'Month in which the fiscal year begins, for goals of a quarter or a fiscal year.',
    wholeNumber(1, 12).default(1),
  ),
}

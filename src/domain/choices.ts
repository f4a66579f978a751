/**
 * Lists the values that can be chosen for a report, such as its blocks and policies. The settings, the files
 * in a report's own folder and the SQL of its filter use the same names.
 */
import { fieldsWith, type LeadField } from './lead-fields.ts'

export const PERIOD_KINDS = ['day', 'working_day', 'week', 'month', 'since_last'] as const

/** The locale of reports that name none. Like most of the world, it writes the day before the month. */
export const DEFAULT_LOCALE = 'en-GB'

/** The formats of an alert that is posted to a webhook. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'teams'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The blocks (sections) of a report, in their default order. */
export const BLOCKS = [
  ...['headline', 'freshness', 'attention', 'kpis', 'drivers', 'pace', 'trend', 'funnel', 'changes'],
  ...['top_leads', 'urgent', 'stalled', 'pipelines', 'sources', 'agents', 'service_stats', 'data_quality'],
  'queries',
] as const
export type BlockName = (typeof BLOCKS)[number]

/** The blocks whose lists can be attached to the mail, as can the report's own queries by their names. */
export const ATTACHED_LISTS = ['changes', 'top_leads', 'urgent', 'stalled', 'pipelines', 'sources'] as const

/** The formats of a list that is attached to a report. */
export const ATTACHED_FORMATS = ['csv', 'xlsx'] as const

/**
 * The columns of `lead` that a filter can use. A `text` column must have one of the given texts, and a `list`
 * column must contain one of them. A `number` must lie within bounds.
 */
type Filtered = Extract<LeadField, { isFilter: true }>
export type FilterColumn = Filtered['column']
export const FILTER_COLUMNS = Object.fromEntries(
  fieldsWith('isFilter').map(({ column, type }) => [column, type]),
) as { readonly [F in Filtered as F['column']]: F['type'] }

/**
 * The policies for a message that may or may not have been delivered (unconfirmed): it is sent once more
 * under the same Message-ID, or held until a person decides.
 */
export const UNCONFIRMED_POLICIES = ['resend', 'hold'] as const
export type UnconfirmedPolicy = (typeof UNCONFIRMED_POLICIES)[number]

/** The policies for a report that is due although the stored data does not reach the end of its period. */
export const STALE_DATA_POLICIES = ['send_with_banner', 'hold', 'skip'] as const
export type StaleDataPolicy = (typeof STALE_DATA_POLICIES)[number]

/** The policies for a report if the number of leads fell by half or more since the last issue or scan. */
export const VOLUME_DROP_POLICIES = ['send_with_banner', 'hold'] as const
export type VolumeDropPolicy = (typeof VOLUME_DROP_POLICIES)[number]

/**
 * The policies for sending an issue (the report for one period): always, only if it has something to list, or
 * only if a headline number changed. `if_threshold` is an SQL condition over the headline numbers.
 */
export const SEND_POLICIES = ['always', 'if_rows', 'if_changed'] as const
export type SendPolicy = (typeof SEND_POLICIES)[number] | { readonly if_threshold: string }

/**
 * Lists the values that can be chosen for a report, such as its blocks and policies. The settings, the files
 * in a report's own folder and the SQL of its filter use the same names.
 */
import { fieldsWith, type LeadField } from './lead-fields.ts'

export const PERIOD_KINDS = ['day', 'working_day', 'week', 'month', 'quarter', 'since_last'] as const

/**
 * The locale of a report if the settings name none. It writes the day before the month, as most of the world
 * does.
 */
export const DEFAULT_LOCALE = 'en-GB'

export const WEBHOOK_FORMATS = ['json', 'slack', 'teams'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The blocks (sections) of a report, in their default order. */
export const BLOCKS = [
  ...['headline', 'freshness', 'attention', 'kpis', 'drivers', 'pace', 'trend', 'funnel', 'changes'],
  ...['top_leads', 'urgent', 'stalled', 'pipelines', 'sources', 'agents', 'service_stats', 'data_quality'],
  'queries',
] as const
export type BlockName = (typeof BLOCKS)[number]

/**
 * The blocks whose lists can be attached to the mail. The results of the report's own queries can also be
 * attached, by the names of the queries.
 */
export const ATTACHED_LISTS = ['changes', 'top_leads', 'urgent', 'stalled', 'pipelines', 'sources'] as const

export const ATTACHED_FORMATS = ['csv', 'xlsx'] as const

/**
 * The columns of `lead` that a filter can use. The filter gives texts or bounds. A `text` column must be one
 * of the texts, a `list` column must contain at least one of them, and a `number` must lie within the bounds.
 */
type Filtered = Extract<LeadField, { isFilter: true }>
export type FilterColumn = Filtered['column']
export const FILTER_COLUMNS = Object.fromEntries(
  fieldsWith('isFilter').map(({ column, type }) => [column, type]),
) as { readonly [F in Filtered as F['column']]: F['type'] }

/** The policies for a report that is due although the stored data does not reach the end of its period. */
export const STALE_DATA_POLICIES = ['send_with_banner', 'hold', 'skip'] as const
export type StaleDataPolicy = (typeof STALE_DATA_POLICIES)[number]

/**
 * The policies for sending an issue (the report for one period). `if_rows`: only if the issue has something
 * to list. `if_changed`: only if a headline number changed. `if_threshold`: only if an SQL condition over the
 * headline numbers holds.
 */
export const SEND_POLICIES = ['always', 'if_rows', 'if_changed'] as const
export type SendPolicy = (typeof SEND_POLICIES)[number] | { readonly if_threshold: string }

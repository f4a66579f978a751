/**
 * Lists the values that can be chosen for a report. Settings, report folders and filters use the same names.
 */
import { fieldsWith, type LeadField } from './lead-fields.ts'

export const PERIOD_KINDS = ['day', 'working_day', 'week', 'month', 'quarter', 'since_last'] as const

/** The locale of a report if the settings name none. It writes the day before the month. */
export const DEFAULT_LOCALE = 'en-GB'

export const WEBHOOK_FORMATS = ['json', 'slack', 'teams'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The blocks (sections) of a report, in their default order. */
export const BLOCKS = [
  'headline',
  'goals',
  'today',
  'kpis',
  'unusual',
  'freshness',
  'drivers',
  'changes',
  'top_leads',
  'stalled',
  'pipelines',
  'trend',
  'funnel',
  'sources',
  'agents',
  'service_stats',
  'data_quality',
  'record',
  'queries',
] as const
export type BlockName = (typeof BLOCKS)[number]

/** The blocks whose lists can be attached to the mail. Results of own queries can also be attached. */
export const ATTACHED_LISTS = ['today', 'changes', 'top_leads', 'stalled', 'pipelines', 'sources'] as const

export const ATTACHED_FORMATS = ['csv', 'xlsx'] as const

/**
 * The columns of `lead` that a filter can use: `text` by its texts, `list` by an element, `number` by bounds.
 */
type Filtered = Extract<LeadField, { isFilter: true }>
export type FilterColumn = Filtered['column']
export const FILTER_COLUMNS = Object.fromEntries(
  fieldsWith('isFilter').map(({ column, type }) => [column, type]),
) as { readonly [F in Filtered as F['column']]: F['type'] }

/** The policies for a report that is due although the stored data does not reach the end of its period. */
export const STALE_DATA_POLICIES = ['send', 'hold', 'skip'] as const
export type StaleDataPolicy = (typeof STALE_DATA_POLICIES)[number]

/** Besides, `if_threshold` sends where an SQL condition over the headline numbers holds. */
export const SEND_POLICIES = ['always', 'if_rows'] as const
export type SendPolicy = (typeof SEND_POLICIES)[number] | { readonly if_threshold: string }

/**
 * The choices that a report offers: names that the settings, a report's own folder and the SQL of its filter
 * share. This file holds only data.
 */
import { fieldsWith, type LeadField } from './lead-fields.ts'

export const PERIOD_KINDS = ['day', 'working_day', 'week', 'month', 'since_last'] as const

/** The locale of reports that name no locale. Most of the world writes dates as this locale does. */
export const DEFAULT_LOCALE = 'en-GB'

/** The formats of an alert that is posted to a webhook. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'teams'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The blocks of a report, in their default order. */
export const BLOCKS = [
  ...['headline', 'freshness', 'attention', 'kpis', 'drivers', 'pace', 'trend', 'funnel', 'changes'],
  ...['top_leads', 'urgent', 'stalled', 'pipelines', 'sources', 'agents', 'service_stats', 'data_quality'],
  'queries',
] as const
export type BlockName = (typeof BLOCKS)[number]

/** The blocks whose lists can be attached. The report's own queries can also be attached, by their names. */
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
 * The policies for an unconfirmed message: it is sent once more under the same Message-ID, or held until a
 * person decides.
 */
export const UNCONFIRMED_POLICIES = ['resend', 'hold'] as const
export type UnconfirmedPolicy = (typeof UNCONFIRMED_POLICIES)[number]

/** The policies for a report whose data do not reach the end of the report's period in time. */
export const STALE_DATA_POLICIES = ['send_with_banner', 'hold', 'skip'] as const
export type StaleDataPolicy = (typeof STALE_DATA_POLICIES)[number]

/** The policies for a report that covers far fewer leads than it did before. */
export const VOLUME_DROP_POLICIES = ['send_with_banner', 'hold'] as const
export type VolumeDropPolicy = (typeof VOLUME_DROP_POLICIES)[number]

/**
 * The policies for sending an issue. `if_threshold` contains an SQL condition over the headline numbers of
 * the issue.
 */
export const SEND_POLICIES = ['always', 'if_rows', 'if_changed'] as const
export type SendPolicy = (typeof SEND_POLICIES)[number] | { readonly if_threshold: string }

/**
 * The choices of a report: the names shared by the settings, a report's own folder and the SQL of its filter.
 * Data only.
 */
import { fieldsWith, type LeadField } from './lead-fields.ts'

export const PERIOD_KINDS = ['day', 'working_day', 'week', 'month', 'since_last'] as const

/** The locale of reports that name none. Its dates are those of most of the world. */
export const DEFAULT_LOCALE = 'en-GB'

/** The formats of an alert that is posted to a webhook. */
export const WEBHOOK_FORMATS = ['json', 'slack', 'teams'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The formats of a list that is attached to a report. */
export const ATTACHED_FORMATS = ['csv', 'xlsx'] as const

/**
 * The columns of `lead` that a filter can use. A `text`, or one of the texts of a `list`, must be among the
 * given ones; a `number` must lie within bounds.
 */
type Filtered = Extract<LeadField, { isFilter: true }>
export type FilterColumn = Filtered['column']
export const FILTER_COLUMNS = Object.fromEntries(
  fieldsWith('isFilter').map(({ column, type }) => [column, type]),
) as { readonly [F in Filtered as F['column']]: F['type'] }

/** The policies for an unconfirmed mail: it is sent once more under its Message-ID, or held for a person. */
export const UNCONFIRMED_POLICIES = ['resend', 'hold'] as const
export type UnconfirmedPolicy = (typeof UNCONFIRMED_POLICIES)[number]

/** The policies for a report whose data do not reach the end of its period in time. */
export const STALE_DATA_POLICIES = ['send_with_banner', 'hold', 'skip'] as const
export type StaleDataPolicy = (typeof STALE_DATA_POLICIES)[number]

/** The policies for a report about far fewer leads than before. */
export const VOLUME_DROP_POLICIES = ['send_with_banner', 'hold'] as const
export type VolumeDropPolicy = (typeof VOLUME_DROP_POLICIES)[number]

/** The policies for sending an issue. `if_threshold` holds an SQL condition over its headline numbers. */
export const SEND_POLICIES = ['always', 'if_rows', 'if_changed'] as const
export type SendPolicy = (typeof SEND_POLICIES)[number] | { readonly if_threshold: string }

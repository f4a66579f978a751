/** Reports and their recipients as the program sees them: what each recipient gets of each report, in full. */
import type { SendPolicy, StaleDataPolicy, VolumeDropPolicy } from '../domain/choices.ts'
import type { LeadFilter, PeriodKind } from '../domain/figures.ts'
import type { BlockName } from '../report/blocks/registry.ts'
import type { CatchUp } from '../schedule/timing.ts'
import { filterFrom, narrowFilter } from './lead-filter.ts'
import type { RecipientSettings } from './recipient-settings.ts'
import { type ReportSettings, reportSchema } from './report-settings.ts'
import type { Settings } from './settings.ts'

export interface ReportConfig {
  readonly name: string
  readonly template: string
  readonly title: string | null
  /** Cron of five fields or words, in `timeZone`. */
  readonly schedule: string
  readonly catchUp: CatchUp['policy']
  readonly catchUpHours: number
  readonly timeZone: string
  /** Null for what the report's folder says; `sendWhen` and `blocks` too. */
  readonly period: PeriodKind | null
  readonly sendWhen: SendPolicy | null
  /** For data that cover its period. */
  readonly waitMinutes: number
  readonly onStaleData: StaleDataPolicy
  readonly onVolumeDrop: VolumeDropPolicy
  readonly blocks: readonly BlockName[] | null
  readonly filter: LeadFilter
  readonly locale: string
  readonly attachments: readonly string[]
  readonly stalledDays: number
  readonly topScore: number
  readonly recipients: readonly RecipientConfig[]
}

/** Who gets a report, and what of it. */
export interface RecipientConfig {
  readonly address: string
  readonly name: string | null
  readonly locale: string
  /** In which times are told. */
  readonly timeZone: string
  /** That of the report included. */
  readonly filter: LeadFilter
  /** Null for those of the report's folder. */
  readonly blocks: readonly BlockName[] | null
  readonly attachments: readonly string[]
}

/** A report that the settings do not name, as it would be if they said nothing but its name; undefined for no name. */
export function draftReport(
  name: string,
  { timeZone, locale }: { readonly timeZone: string; readonly locale: string },
): ReportConfig | undefined {
  const { data } = reportSchema.safeParse({ name })
  return data && reportFrom(data, { time_zone: timeZone, locale, recipients: [] })
}

export function reportFrom(
  report: ReportSettings,
  settings: Pick<Settings, 'time_zone' | 'locale' | 'recipients'>,
): ReportConfig {
  const own = {
    timeZone: report.time_zone ?? settings.time_zone,
    blocks: report.blocks ?? null,
    filter: reportFilter(report),
    locale: canonical(report.locale ?? settings.locale),
    attachments: report.attachments,
  }
  return {
    name: report.name,
    template: report.template ?? report.name,
    title: report.title ?? null,
    schedule: report.schedule,
    catchUp: report.catch_up,
    catchUpHours: report.catch_up_hours,
    ...own,
    period: report.period ?? null,
    sendWhen: report.send_when ?? null,
    waitMinutes: report.wait_minutes,
    onStaleData: report.on_stale_data,
    onVolumeDrop: report.on_volume_drop,
    stalledDays: report.stalled_days,
    topScore: report.top_score,
    recipients: (report.recipients ?? settings.recipients).map((recipient) => recipientFrom(recipient, own)),
  }
}

/** `pipelines` of a report is the older way to say what its filter can say too. */
function reportFilter({ pipelines, filter = {} }: ReportSettings): LeadFilter {
  const own = filterFrom(filter)
  return pipelines.length === 0 ? own : narrowFilter(filterFrom({ pipelines }), own)
}

export function addressOf(recipient: RecipientSettings): string {
  return typeof recipient === 'string' ? recipient : recipient.address
}

function recipientFrom(
  recipient: RecipientSettings,
  report: Pick<ReportConfig, 'timeZone' | 'blocks' | 'filter' | 'locale' | 'attachments'>,
): RecipientConfig {
  const given = typeof recipient === 'string' ? { address: recipient } : recipient
  return {
    address: given.address,
    name: given.name ?? null,
    locale: given.locale === undefined ? report.locale : canonical(given.locale),
    timeZone: given.time_zone ?? report.timeZone,
    filter: narrowFilter(report.filter, filterFrom(given.filter ?? {})),
    blocks: given.blocks ?? report.blocks,
    attachments: given.attachments ?? report.attachments,
  }
}

/** `de-de` -> `de-DE`, so that one locale is one issue. */
function canonical(locale: string): string {
  return new Intl.Locale(locale).toString()
}

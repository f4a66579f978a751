/**
 * Reports and their recipients as the program uses them, with everything that each recipient gets of each
 * report.
 */
import type { SendPolicy, StaleDataPolicy, VolumeDropPolicy } from '../domain/choices.ts'
import type { FilterCondition, LeadFilter, PeriodKind } from '../domain/figures.ts'
import type { BlockName } from '../report/blocks/registry.ts'
import type { CatchUp } from '../schedule/timing.ts'
import type { Settings } from './schema.ts'
import type { FilterSettings, RecipientSettings, ReportSettings } from './schema-reports.ts'
import { reportSchema } from './schema-reports.ts'

export interface ReportConfig {
  readonly name: string
  readonly template: string
  readonly title: string | null
  /** A cron expression of five fields, or words, in `timeZone`. */
  readonly schedule: string
  readonly catchUp: CatchUp['policy']
  readonly catchUpHours: number
  readonly timeZone: string
  /** The period; null where the report's folder decides, as with `sendWhen` and `blocks`. */
  readonly period: PeriodKind | null
  readonly sendWhen: SendPolicy | null
  /** The longest wait for data that cover its period. */
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

/** A recipient of a report, and the parts of it that this person gets. */
export interface RecipientConfig {
  readonly address: string
  readonly name: string | null
  readonly locale: string
  /** The zone in which times are shown. */
  readonly timeZone: string
  /** The recipient's filter and the report's together. */
  readonly filter: LeadFilter
  /** The blocks; null where the report's folder decides. */
  readonly blocks: readonly BlockName[] | null
  readonly attachments: readonly string[]
}

/** The report of a name that the settings do not have, with all defaults; undefined for an invalid name. */
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

/** Merges the filter with `pipelines`, the older setting for a part of it. */
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

/** Normalises `de-de` to `de-DE`, so that one locale makes one issue. */
function canonical(locale: string): string {
  return new Intl.Locale(locale).toString()
}

/**
 * Converts a filter of the settings. Columns and texts are sorted, so that filters for the same leads have
 * the same text.
 */

function filterFrom({ pipelines, ...columns }: FilterSettings): LeadFilter {
  const conditions = Object.entries(columns).flatMap(([field, asked]): FilterCondition[] => {
    if (asked === undefined) return []
    if (Array.isArray(asked)) return [{ field, in: asked.toSorted() }]
    return [{ field, min: asked.min ?? null, max: asked.max ?? null }]
  })
  return {
    pipelineIds: pipelines?.toSorted() ?? null,
    conditions: conditions.toSorted((a, b) => (a.field < b.field ? -1 : 1)),
  }
}

/** Writes a filter as settings on one line; null for all leads. */
export function filterText({ pipelineIds, conditions }: LeadFilter): string | null {
  const asked = [
    ...(pipelineIds === null ? [] : [`pipelines: [${pipelineIds.join(', ')}]`]),
    ...conditions.map((condition) =>
      'in' in condition
        ? `${condition.field}: [${condition.in.join(', ')}]`
        : `${condition.field}: { ${boundsText(condition)} }`,
    ),
  ]
  return asked.length === 0 ? null : asked.join(', ')
}

function boundsText({ min, max }: { readonly min: number | null; readonly max: number | null }): string {
  return [...(min === null ? [] : [`min: ${min}`]), ...(max === null ? [] : [`max: ${max}`])].join(', ')
}

/** Joins two filters, so that a lead must meet both. */
function narrowFilter(one: LeadFilter, other: LeadFilter): LeadFilter {
  const fields = new Set([...one.conditions, ...other.conditions].map(({ field }) => field))
  const conditions = [...fields].toSorted().map((field) => {
    const [first, second] = [one, other].flatMap(({ conditions }) =>
      conditions.filter((each) => each.field === field),
    )
    if (first === undefined) throw new TypeError(`no condition on ${field}`)
    return second === undefined ? first : narrowCondition(first, second)
  })
  return { pipelineIds: commonTexts(one.pipelineIds, other.pipelineIds), conditions }
}

/** Finds the setting that no lead can meet; null where there may be leads. */
export function impossibleIn({ pipelineIds, conditions }: LeadFilter): string | null {
  if (pipelineIds?.length === 0) return 'pipelines'
  const impossible = conditions.find((asked) =>
    'in' in asked ? asked.in.length === 0 : asked.min !== null && asked.max !== null && asked.min > asked.max,
  )
  return impossible?.field ?? null
}

function narrowCondition(one: FilterCondition, other: FilterCondition): FilterCondition {
  if ('in' in one && 'in' in other) return { field: one.field, in: commonTexts(one.in, other.in) ?? [] }
  if ('in' in one || 'in' in other) throw new TypeError(`${one.field} has texts and bounds`)
  const least = [one.min, other.min].filter((bound) => bound !== null)
  const most = [one.max, other.max].filter((bound) => bound !== null)
  return {
    field: one.field,
    min: least.length > 0 ? Math.max(...least) : null,
    max: most.length > 0 ? Math.min(...most) : null,
  }
}

function commonTexts(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  return one === null || other === null ? (one ?? other) : one.filter((text) => other.includes(text))
}

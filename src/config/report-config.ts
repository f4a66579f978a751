/**
 * The reports and their recipients as the program uses them. A recipient's missing settings are taken from
 * its report.
 */

import type { FilterCondition, LeadFilter } from '../domain/figures.ts'
import type { DeclaredTypes } from './declared-types.ts'
import type { Settings } from './schema.ts'
import type { FilterSettings, RecipientSettings, ReportSettings } from './schema-reports.ts'
import { reportSchema } from './schema-reports.ts'

export type ReportConfig = Readonly<ReturnType<typeof reportFrom>>

/** A recipient of a report, with the settings that apply to this recipient. */
export type RecipientConfig = Readonly<ReturnType<typeof recipientFrom>>

/**
 * Makes a report with default settings for a name that the settings do not contain. Returns undefined if the
 * name is invalid.
 */
export function draftReport(
  name: string,
  { timeZone, locale }: { readonly timeZone: string; readonly locale: string },
): ReportConfig | undefined {
  const { data } = reportSchema.safeParse({ name })
  return data && reportFrom(data, { timeZone, locale, recipients: [] })
}

export function reportFrom(
  { recipients, ...report }: ReportSettings,
  settings: Pick<Settings, 'timeZone' | 'locale' | 'recipients'>,
  types: DeclaredTypes = new Map(),
) {
  const own = {
    ...report,
    template: report.template ?? report.name,
    timeZone: report.timeZone ?? settings.timeZone,
    filter: filterFrom(report.filter ?? {}, types),
    locale: report.locale ?? settings.locale,
  }
  return {
    ...own,
    recipients: (recipients ?? settings.recipients).map((each) => recipientFrom(each, own, types)),
  }
}

export function addressOf(recipient: RecipientSettings): string {
  return typeof recipient === 'string' ? recipient : recipient.address
}

function recipientFrom(
  recipient: RecipientSettings,
  report: Pick<ReportSettings, 'blocks' | 'attachments'> & {
    readonly timeZone: string
    readonly locale: string
    readonly filter: LeadFilter
  },
  types: DeclaredTypes,
) {
  const given = typeof recipient === 'string' ? null : recipient
  return {
    address: addressOf(recipient),
    name: given?.name ?? null,
    locale: given?.locale ?? report.locale,
    /** The time zone in which the recipient sees times. */
    timeZone: given?.timeZone ?? report.timeZone,
    /** A lead must pass all filters. */
    filter: [given?.filter ?? {}, given?.owner ? { owner: [given.owner].flat() } : {}]
      .map((filter) => filterFrom(filter, types))
      .reduce(narrowFilter, report.filter),
    /** The blocks (parts of the report) that the recipient gets; null if the report's folder decides. */
    blocks: given?.blocks ?? report.blocks,
    attachments: given?.attachments ?? report.attachments,
  }
}

/**
 * Converts a filter from the settings. Sorts the fields and the texts, so that equal filters have equal JSON.
 */
function filterFrom({ pipelines, ...columns }: FilterSettings, types: DeclaredTypes): LeadFilter {
  const conditions = Object.entries(columns).flatMap(([field, asked]): FilterCondition[] => {
    if (asked === undefined) return []
    const type = types.get(field)
    const named = type === undefined ? { field } : { field, type }
    if (Array.isArray(asked)) return [{ ...named, in: asked.toSorted() }]
    return [{ ...named, min: asked.min ?? null, max: asked.max ?? null }]
  })
  return {
    pipelineIds: pipelines?.toSorted() ?? null,
    conditions: conditions.toSorted((a, b) => (a.field < b.field ? -1 : 1)),
  }
}

/** Formats a filter on one line, as in the settings; null for a filter that every lead passes. */
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

/** Combines two filters: a lead must pass both. */
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

function narrowCondition(one: FilterCondition, other: FilterCondition): FilterCondition {
  if ('in' in one && 'in' in other) return { ...one, in: commonTexts(one.in, other.in) ?? [] }
  if ('in' in one || 'in' in other) throw new TypeError(`${one.field} has texts and bounds`)
  const least = [one.min, other.min].filter((bound) => bound !== null)
  const most = [one.max, other.max].filter((bound) => bound !== null)
  return {
    ...one,
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

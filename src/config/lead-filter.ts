/**
 * Filters from settings, in one form each: columns and texts in order, so that two that ask for the same leads are
 * the same text.
 */
import type { FilterCondition, LeadFilter } from '../domain/figures.ts'
import type { FilterSettings } from './recipient-settings.ts'

export function filterFrom({ pipelines, ...columns }: FilterSettings): LeadFilter {
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

/** As it could stand in the settings, on one line; null for all leads. */
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

/** What both ask for. */
export function narrowFilter(one: LeadFilter, other: LeadFilter): LeadFilter {
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

/** What no lead can meet, as the settings call it; null where there may be leads. */
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

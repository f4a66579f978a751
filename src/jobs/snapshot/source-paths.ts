/** Lists which field of the upstream's records fills each column of the store, according to the profile. */

import type { FieldRule } from '../../upstream/profile/field-rule.ts'
import type { Profile } from '../../upstream/profile/profile.ts'
import { pathText } from '../../upstream/values/field-path.ts'

/** Columns that hold a whole record. */
const WHOLE = Object.fromEntries(
  ['lead_raw.raw', 'lead_detail.raw', 'pipeline_stat.raw', 'agent.raw', 'quarantined_record.raw'].map(
    (column) => [column, 'the whole record'],
  ),
)

/**
 * Maps `lead.company_name` to `company.name`, or to `a or b` if there are candidates, or `a + b` if fields
 * are joined.
 */
export function sourcePathsOf({ mapping }: Profile): Record<string, string> {
  const { status: pipelineStatus, name: pipelineName, ...stat } = mapping.stat
  const stages = mapping.stages
  return {
    ...pathsFor('lead', mapping.lead),
    ...pathsFor('lead_version', mapping.lead),
    ...pathsFor('pipeline', { name: pipelineName, status: pipelineStatus }),
    ...pathsFor('pipeline_stat', stat),
    ...(stages && pathsFor('pipeline_stage_stat', stages.fields, `${pathText(stages.items)}[].`)),
    ...pathsFor('agent', mapping.agent),
    ...pathsFor('agent_sample', mapping.agent),
    ...(mapping.enrichment && { 'lead_detail.enrichment': pathText(mapping.enrichment) }),
    ...(mapping.activity &&
      pathsFor('activity', mapping.activity.fields, `${pathText(mapping.activity.items)}[].`)),
    ...WHOLE,
  }
}

/** Lists the paths of one table; fields without a column do no harm, because only columns are looked up. */
function pathsFor(
  table: string,
  rules: Readonly<Record<string, FieldRule | undefined>>,
  prefix = '',
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([field, rule]) => {
      const places = rule?.from?.map(pathText).join(' or ') ?? rule?.all?.map(pathText).join(' + ')
      return places === undefined ? [] : [[`${table}.${field}`, `${prefix}${places}`]]
    }),
  )
}

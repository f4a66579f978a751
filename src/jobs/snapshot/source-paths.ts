/** Where the upstream's records have what the columns of the store hold, by the profile that maps them. */

import type { FieldRule } from '../../upstream/profile/field-rule.ts'
import type { Profile } from '../../upstream/profile/profile.ts'
import { pathText } from '../../upstream/values/field-path.ts'

/** Columns that have all that the upstream sent. */
const WHOLE = Object.fromEntries(
  ['lead_raw.raw', 'lead_detail.raw', 'pipeline_stat.raw', 'agent.raw', 'quarantined_record.raw'].map(
    (column) => [column, 'the whole record'],
  ),
)

/** `lead.company_name` -> `company.name`; `a or b` where there are candidates, `a + b` where they are joined. */
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

/** Only the columns that there are count, so fields without one do no harm. */
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

/**
 * Relations of many spans of time at once: `:spans` is a JSON list of their beginnings and ends, in order; the period
 * ends with the first of them.
 */
import type { Bounds } from './query-bounds.ts'
import type { Relation } from './relation-name.ts'

export function spanRelations({ chosen, inPipelines, version }: Bounds) {
  const pipelineThen = `(SELECT pipeline_id FROM lead_version AS state WHERE state.rowid = coalesce(
      ${version(' AND valid_from < span_to', 'DESC')},
      ${version('', 'ASC')}))`
  return {
    span: {
      reads: [],
      isMaterialized: true,
      sql: `-- spans of time, in order
    SELECT key AS place, value ->> 0 AS span_from, value ->> 1 AS span_to FROM json_each(:spans)`,
    },
    arrival: {
      reads: [...chosen, 'span'],
      sql: `-- leads created in each span
    SELECT place, lead.id AS lead_id, ${pipelineThen} AS pipeline_id FROM span CROSS JOIN lead
    WHERE created_at >= span_from AND created_at < span_to${chosen.length > 0 ? ' AND +lead.id IN (SELECT lead_id FROM chosen)' : ''}${inPipelines(pipelineThen)}`,
    },
  } as const satisfies Record<string, Relation>
}

/**
 * Writes the `report.yaml` of a new report: the blocks of an existing report, and two queries as examples.
 */

import { stringify } from 'yaml'
import { PERIOD_KINDS, SEND_POLICIES } from '../domain/choices.ts'
import { shellCommand } from '../errors.ts'
import type { ReportDefinition } from './definition.ts'

/**
 * Writes the definition of a new report.
 * @param name the name of the report, lower-case with hyphens
 * @param from the definition whose period, blocks and send policy are copied
 */
export function scaffoldReport(
  name: string,
  from: Pick<ReportDefinition, 'period' | 'blocks' | 'sendWhen'>,
): string {
  const words = name.replaceAll('-', ' ')
  // `stringify` adds quotes to names such as 2026, which YAML would read as a number.
  const title = stringify(words.charAt(0).toUpperCase() + words.slice(1)).trim()
  const sendWhen = typeof from.sendWhen === 'string' ? from.sendWhen : stringify(from.sendWhen, FLOW).trim()
  return `# All of this may be left out. What it means: docs/reference/report-definition.md
title: ${title}
period: ${from.period} # ${PERIOD_KINDS.join(', ')}
send_when: ${sendWhen} # ${SEND_POLICIES.join(', ')}, or { if_threshold: new_leads < 10 }

# From top to bottom. Take out what nobody reads.
blocks:
${withQueries(from.blocks)
  .map((block) => `  - ${block}${block === 'queries' ? ' # the tables below' : ''}\n`)
  .join('')}
${QUERIES}`
}

const FLOW = { collectionStyle: 'flow' } as const

/** Returns the blocks with the queries after the key figures, where readers notice them. */
function withQueries(blocks: readonly string[]): string[] {
  const others = blocks.filter((block) => block !== 'queries')
  const at = others.indexOf('kpis') + 1 || others.length
  return [...others.slice(0, at), 'queries', ...others.slice(at)]
}

const QUERIES = `# A table each. SQL reads what ${shellCommand('schema')} shows, and knows
#   :from, :to               the period, in UTC; :to is no more part of it
#   :prior_from, :prior_to   the period that it is compared with
#   chosen                   the ids of the leads that the report is about, after the filter of its recipient
#   :pipelines, :stalled_days, :top_score
queries:
  by-industry:
    title: New leads by industry
    note: Most first
    sql: |
      SELECT ifnull(company_industry, 'Unknown') AS industry,
        count(*) AS leads,
        avg(score) AS mean_score
      FROM lead_now
      WHERE id IN chosen AND created_at >= :from AND created_at < :to
      GROUP BY industry
      ORDER BY leads DESC
      LIMIT 10

  largest-open:
    title: Largest open leads
    sql: |
      SELECT company_name AS company, status AS stage, value_amount AS value, value_currency AS currency
      FROM lead_now
      WHERE id IN chosen AND outcome = 'open' AND value_amount IS NOT NULL
      ORDER BY value DESC
      LIMIT 10
`

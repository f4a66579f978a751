/** What the archive tells of an edition below its mail: the facts, and how each figure is made. In English. */
import type { BlockName } from '../choices.ts'
import type { FilterCondition, LeadFilter, ReportFigures } from '../figures.ts'
import type { Instant } from '../model.ts'
import type { AboutView } from './archive-pages.ts'
import { localDates } from './period.ts'
import { oneLine } from './text.ts'

/** A figure or list of a report, with the SQL that gives it. */
export interface ExplainedFigure {
  readonly block: BlockName
  readonly title: string
  readonly meaning: string
  /** Null where it is more than a number. */
  readonly value: string | null
  readonly sql: string
}

export interface AboutRequest {
  readonly figures: ReportFigures
  readonly renderedAt: Instant
  /** Version of this program. */
  readonly program: string
  readonly explained: readonly ExplainedFigure[]
}

const TEXT_LENGTH = 300

const TITLES: Readonly<Record<BlockName, string>> = {
  headline: 'Headline',
  freshness: 'Freshness',
  attention: 'Needs attention',
  kpis: 'Key figures',
  trend: 'Trend',
  funnel: 'Funnel',
  changes: 'Changes',
  top_leads: 'Top leads',
  stalled: 'Stalled leads',
  pipelines: 'Pipelines',
  sources: 'Sources',
  agents: 'Agents',
  service_stats: 'Service statistics',
  data_quality: 'Data quality',
  queries: 'Queries of the report',
}

export function composeAbout({
  figures,
  renderedAt,
  program,
  explained,
}: AboutRequest): Omit<AboutView, 'files'> {
  const { period, prior, filter, freshness } = figures
  const blocks = Map.groupBy(explained, ({ block }) => block)
  return {
    facts: [
      { name: 'Period', value: `${localDates(period)} (${period.timeZone})` },
      { name: 'Compared with', value: localDates(prior) },
      { name: 'Leads', value: leadsText(filter) },
      {
        name: 'Data as of',
        value: freshness.dataAsOf === null ? 'no complete sync' : utc(freshness.dataAsOf),
      },
      { name: 'Made', value: `${utc(renderedAt)} by leadsheet ${program}` },
    ],
    blocks: [...blocks].map(([block, all]) => ({
      title: TITLES[block],
      figures: all.map(({ title, meaning, value, sql }) => ({ title, meaning, value, sql })),
    })),
  }
}

/** `all`, or such as `pipelines eu, us; company_country Germany; score from 60` */
export function leadsText({ pipelineIds, conditions }: LeadFilter): string {
  const parts = [
    ...(pipelineIds === null ? [] : [`pipelines ${pipelineIds.join(', ')}`]),
    ...conditions.map(conditionText),
  ]
  return parts.length === 0 ? 'all' : oneLine(parts.join('; '), TEXT_LENGTH)
}

function conditionText(condition: FilterCondition): string {
  if ('in' in condition) return `${condition.field} ${condition.in.join(', ')}`
  const { field, min, max } = condition
  return [field, ...(min === null ? [] : [`from ${min}`]), ...(max === null ? [] : [`to ${max}`])].join(' ')
}

/** `2026-11-21 06:04 UTC` */
function utc(at: Instant): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}

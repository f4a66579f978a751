/** Lists all blocks by name. Each has a folder with its view and templates, and words under its name. */
import type { ATTACHED_LISTS, BlockName } from '../../domain/choices.ts'
import type { ReportFigures } from '../../domain/figures.ts'
import type { BlockContext } from '../context.ts'
import type { LocaleContext } from '../words/locale-context.ts'
import { composeAgents } from './agents/view.ts'
import { composeChanges, listChanges } from './changes/view.ts'
import { composeDataQuality } from './data-quality/view.ts'
import { composeDrivers } from './drivers/view.ts'
import { composeFreshness } from './freshness/view.ts'
import { composeFunnel } from './funnel/view.ts'
import { composeGoals } from './goals/view.ts'
import { composeHeadline } from './headline/view.ts'
import { composeKpis } from './kpis/view.ts'
import type { ListOptions, ListTable } from './lists.ts'
import { composePipelines, listPipelines } from './pipelines/view.ts'
import { composeQueries, listQuery } from './queries/view.ts'
import { composeRecord } from './record/view.ts'
import { composeServiceStats } from './service-stats/view.ts'
import { composeSources, listSources } from './sources/view.ts'
import { composeStalled, listStalled } from './stalled/view.ts'
import { composeToday, listToday } from './today/view.ts'
import { composeTopLeads, listTopLeads } from './top-leads/view.ts'
import { composeTrend } from './trend/view.ts'
import { composeUnusual } from './unusual/view.ts'

interface Block {
  /** Operators see this title. Recipients see `NAME.title` of the catalogue. */
  readonly title: string
  readonly meaning: string
  /** Returns no view if there is nothing to say. The `kind` of a view is the name of its template. */
  readonly compose: (
    figures: ReportFigures,
    locale: LocaleContext,
    context: BlockContext,
  ) => readonly { readonly kind: string }[]
  /** Composes the whole list, for an attached file with the name of the block. */
  readonly list?: (figures: ReportFigures, locale: LocaleContext, options: ListOptions) => ListTable
  /** Shown even before all leads have been read once. */
  readonly isAlwaysShown?: true
  /** Tells whether the report fails if this block fails. */
  readonly isCore?: true
}

const REGISTRY = {
  headline: {
    title: 'Headline',
    meaning: 'the period in one sentence: whether the numbers are normal, and what is not',
    compose: (...given) => [composeHeadline(...given)],
    isAlwaysShown: true,
    isCore: true,
  },
  goals: {
    title: 'Goals',
    meaning: 'how far each goal is, where it will end, and what is needed a day',
    compose: ({ insight }, locale) => composeGoals(insight?.pace ?? [], locale),
  },
  today: {
    title: 'Today',
    meaning:
      'at most five leads to act on, the most valuable first, each with the reason, and its owner if there are several',
    compose: composeToday,
    list: listToday,
  },
  kpis: {
    title: 'Key figures',
    meaning: 'four numbers, each with its normal range or its change',
    compose: (figures, locale) => [composeKpis(figures, locale)],
    isCore: true,
  },
  unusual: {
    title: 'Unusual pipelines',
    meaning: 'the pipelines whose numbers are unusual, by name',
    compose: composeUnusual,
  },
  freshness: {
    title: 'Freshness',
    meaning: 'in small type how old the data is, what is missing, and failing agents',
    compose: (...given) => [composeFreshness(...given)],
    isAlwaysShown: true,
    isCore: true,
  },
  drivers: {
    title: 'Where the difference came from',
    meaning: 'where each unusual number came from, in parts that add up',
    compose: composeDrivers,
  },
  trend: {
    title: 'Trend',
    meaning: 'new leads a day over 90 days, as a chart',
    compose: composeTrend,
  },
  funnel: {
    title: 'Funnel',
    meaning: 'the stages, each with its conversion and the days that leads spend in it',
    compose: composeFunnel,
  },
  changes: {
    title: 'Changes',
    meaning: 'the leads that were won and lost; a week or a month names only the won leads',
    compose: composeChanges,
    list: listChanges,
  },
  top_leads: {
    title: 'Top leads',
    meaning: 'the new leads with the best scores',
    compose: composeTopLeads,
    list: listTopLeads,
  },
  stalled: {
    title: 'Stalled leads',
    meaning: 'the open leads that have not changed for the longest time',
    compose: composeStalled,
    list: listStalled,
  },
  pipelines: {
    title: 'Pipelines',
    meaning: 'the pipelines side by side, if there are several',
    compose: composePipelines,
    list: listPipelines,
  },
  sources: {
    title: 'Sources',
    meaning: 'the sources of leads side by side',
    compose: composeSources,
    list: listSources,
  },
  agents: {
    title: 'Agents',
    meaning: 'the agents and their outages',
    compose: composeAgents,
  },
  service_stats: {
    title: 'Service statistics',
    meaning: "the differences between the service's own statistics and our counts",
    compose: composeServiceStats,
  },
  data_quality: {
    title: 'Data quality',
    meaning: 'quarantined records, changed fields and incomplete scans',
    compose: composeDataQuality,
  },
  record: {
    title: 'Record',
    meaning: 'how often the ranges that reports printed were right, in one line',
    compose: composeRecord,
  },
  queries: {
    title: 'Queries of the report',
    meaning: 'the tables that the report defines itself',
    compose: composeQueries,
  },
} as const satisfies {
  readonly [Name in BlockName]: Name extends (typeof ATTACHED_LISTS)[number]
    ? Block & Required<Pick<Block, 'list'>>
    : Omit<Block, 'list'>
}

/** The view that is passed to the template of a block. */
export type BlockView = ReturnType<(typeof REGISTRY)[BlockName]['compose']>[number]

export function blockOf(name: BlockName): Block {
  return REGISTRY[name]
}

export function composeBlockViews(
  name: BlockName,
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
): readonly BlockView[] {
  return REGISTRY[name].compose(figures, locale, context)
}

function isBlockName(name: string): name is BlockName {
  return Object.hasOwn(REGISTRY, name)
}

/**
 * Composes the list of a block or of one of the report's own queries.
 * @param name the name of the block or query
 * @returns undefined if there is no such list
 */
export function composeList(
  name: string,
  figures: ReportFigures,
  locale: LocaleContext,
  options: ListOptions,
): ListTable | undefined {
  const list = isBlockName(name) ? blockOf(name).list : undefined
  if (list !== undefined) return list(figures, locale, { ...options, fields: figures.fields })
  const query = figures.queries.find((each) => each.name === name)
  return query && listQuery(query, locale)
}

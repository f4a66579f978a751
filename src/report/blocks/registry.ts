/**
 * The blocks that reports are made of, a row each, in the order in which they stand unless a report says otherwise.
 * A block is the folder of its name: its view, its templates, its query where it has figures of its own. Its words
 * are in the catalogues under its name, and `NAME.title` is what recipients call it.
 */
import type { BlockQuery, BlockRow, ReportFigures } from '../../domain/figures.ts'
import type { BlockContext } from '../context.ts'
import type { LocaleContext } from '../words/locale-context.ts'
import { composeAgents } from './agents/view.ts'
import { composeAttention } from './attention/view.ts'
import { composeChanges, listChanges } from './changes/view.ts'
import { composeDataQuality } from './data-quality/view.ts'
import { composeFreshness } from './freshness/view.ts'
import { composeFunnel } from './funnel/view.ts'
import { composeHeadline } from './headline/view.ts'
import { composeKpis } from './kpis/view.ts'
import type { ListedFigures, ListOptions, ListTable } from './list-table.ts'
import { composePipelines, listPipelines } from './pipelines/view.ts'
import { composeQueries, listQuery } from './queries/view.ts'
import { composeServiceStats } from './service-stats/view.ts'
import { composeSources, listSources } from './sources/view.ts'
import { composeStalled, listStalled } from './stalled/view.ts'
import { composeTopLeads, listTopLeads } from './top-leads/view.ts'
import { composeTrend } from './trend/view.ts'

interface Block {
  /** Its name for operators: in the archive, and for the files of its list. */
  readonly title: string
  /** Its views in a report: none where it has nothing to say. The `kind` of a view is the name of its template. */
  readonly compose: (
    figures: ReportFigures,
    locale: LocaleContext,
    context: BlockContext,
  ) => readonly { readonly kind: string }[]
  /** Its whole list, for a file that goes with the mail under the name of the block. */
  readonly list?: (figures: ListedFigures, locale: LocaleContext, options: ListOptions) => ListTable
  /** Figures of its own; those of the other blocks are read and explained in `store/figures/`. */
  readonly query?: BlockQuery
  /** The rows of its query in a report of made-up figures. */
  readonly sampleRows?: readonly BlockRow[]
  /** Whether it is shown in a quiet period, in which nothing happened, and before anything was read. */
  readonly isShown: 'always' | 'unless unread' | 'unless quiet'
  /** Without it there is no report, so that its failure fails the report. */
  readonly isCore?: true
  /** Blocks without whose figures its silence means nothing. */
  readonly restsOn?: readonly string[]
  /** The data of the upstream that it shows beside leads; they may have been read too early. */
  readonly shows?: 'stats' | 'agents'
}

const REGISTRY = {
  headline: {
    title: 'Headline',
    compose: (...given) => [composeHeadline(...given)],
    isShown: 'always',
    isCore: true,
    restsOn: ['stalled', 'agents'],
  },
  freshness: {
    title: 'Freshness',
    compose: (figures, locale) => [composeFreshness(figures, locale)],
    isShown: 'always',
    isCore: true,
  },
  attention: {
    title: 'Needs attention',
    compose: (...given) => [composeAttention(...given)].filter(({ items }) => items.length > 0),
    isShown: 'unless unread',
    restsOn: ['stalled', 'agents'],
    shows: 'agents',
  },
  kpis: {
    title: 'Key figures',
    compose: (...given) => [composeKpis(...given)],
    isShown: 'unless unread',
    isCore: true,
  },
  trend: { title: 'Trend', compose: (...given) => [composeTrend(...given)], isShown: 'unless quiet' },
  funnel: {
    title: 'Funnel',
    compose: (figures, locale) => [composeFunnel(figures, locale)],
    isShown: 'unless quiet',
    shows: 'stats',
  },
  changes: {
    title: 'Changes',
    compose: (...given) => [composeChanges(...given)],
    list: listChanges,
    isShown: 'unless quiet',
  },
  top_leads: {
    title: 'Top leads',
    compose: (...given) => [composeTopLeads(...given)],
    list: listTopLeads,
    isShown: 'unless quiet',
  },
  stalled: {
    title: 'Stalled leads',
    compose: (...given) => [composeStalled(...given)],
    list: listStalled,
    isShown: 'unless quiet',
  },
  pipelines: {
    title: 'Pipelines',
    // One alone says nothing that the numbers above do not.
    compose: (figures, locale, context) =>
      figures.byPipeline.length === 1 ? [] : [composePipelines(figures, locale, context)],
    list: listPipelines,
    isShown: 'unless quiet',
  },
  sources: {
    title: 'Sources',
    compose: (...given) => [composeSources(...given)],
    list: listSources,
    isShown: 'unless quiet',
  },
  agents: {
    title: 'Agents',
    compose: (figures, locale) => [composeAgents(figures, locale)],
    isShown: 'unless quiet',
    shows: 'agents',
  },
  service_stats: {
    title: 'Service statistics',
    compose: (figures, locale) => [composeServiceStats(figures, locale)],
    isShown: 'unless quiet',
    shows: 'stats',
  },
  data_quality: {
    title: 'Data quality',
    compose: (figures, locale) => [composeDataQuality(figures, locale)],
    isShown: 'unless quiet',
  },
  queries: {
    title: 'Queries of the report',
    compose: (...given) => composeQueries(...given),
    isShown: 'unless unread',
  },
} as const satisfies Readonly<Record<string, Block>>

export type BlockName = keyof typeof REGISTRY

/** The view that the template of a block gets. */
export type BlockView = ReturnType<(typeof REGISTRY)[BlockName]['compose']>[number]

export const BLOCKS = Object.keys(REGISTRY) as BlockName[]

/** The row of a block, without the types of its own views. */
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

export function isBlockName(name: string): name is BlockName {
  return Object.hasOwn(REGISTRY, name)
}

/** Blocks whose lists can go with a mail as files; a report's own queries can too, by their names. */
export const ATTACHED_LISTS: readonly BlockName[] = BLOCKS.filter((name) => blockOf(name).list !== undefined)

/** The queries that blocks own, and what they find in a report of made-up figures. */
export const BLOCK_QUERIES: readonly {
  readonly block: string
  readonly query: BlockQuery
  readonly sampleRows: readonly BlockRow[]
}[] = BLOCKS.flatMap((block) => {
  const { query, sampleRows = [] } = blockOf(block)
  return query === undefined ? [] : [{ block, query, sampleRows }]
})

/**
 * @param name a block that has a list, or a query of the report's own
 * @returns undefined where there is no such list
 */
export function composeList(
  name: string,
  figures: ListedFigures,
  locale: LocaleContext,
  options: ListOptions,
): ListTable | undefined {
  const list = isBlockName(name) ? blockOf(name).list : undefined
  if (list !== undefined) return list(figures, locale, options)
  const query = figures.queries.find((each) => each.name === name)
  return query && listQuery(query, locale)
}

/** Lists all blocks by name. Each has a folder with its view and templates, and words under its name. */
import type { ATTACHED_LISTS, BlockName } from '../../domain/choices.ts'
import type { ReportFigures } from '../../domain/figures.ts'
import type { BlockContext } from '../context.ts'
import type { LocaleContext } from '../words/locale-context.ts'
import { composeAgents } from './agents/view.ts'
import { composeAttention } from './attention/view.ts'
import { composeChanges, listChanges } from './changes/view.ts'
import { composeDataQuality } from './data-quality/view.ts'
import { composeDrivers } from './drivers/view.ts'
import { composeFreshness } from './freshness/view.ts'
import { composeFunnel } from './funnel/view.ts'
import { composeHeadline } from './headline/view.ts'
import { composeKpis } from './kpis/view.ts'
import type { ListedFigures, ListOptions, ListTable } from './lists.ts'
import { composePace } from './pace/view.ts'
import { composePipelines, listPipelines } from './pipelines/view.ts'
import { composeQueries, listQuery } from './queries/view.ts'
import { composeServiceStats } from './service-stats/view.ts'
import { composeSources, listSources } from './sources/view.ts'
import { composeStalled, listStalled } from './stalled/view.ts'
import { composeTopLeads, listTopLeads } from './top-leads/view.ts'
import { composeTrend } from './trend/view.ts'
import { composeUrgent, listUrgent } from './urgent/view.ts'

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
  readonly list?: (figures: ListedFigures, locale: LocaleContext, options: ListOptions) => ListTable
  /** `unless unread`: all leads have been read once. `unless quiet`: the period has new or won leads too. */
  readonly isShown: 'always' | 'unless unread' | 'unless quiet'
  /** Tells whether the report fails if this block fails. */
  readonly isCore?: true
  /** If the figures of these blocks fail, this block is incomplete. */
  readonly restsOn?: readonly string[]
  /** The age of this data is checked before a report is sent. */
  readonly shows?: 'stats' | 'agents'
}

const REGISTRY = {
  headline: {
    title: 'Headline',
    meaning: 'the period in one sentence, and what it is compared with',
    compose: (...given) => [composeHeadline(...given)],
    isShown: 'always',
    isCore: true,
    restsOn: ['stalled', 'agents'],
  },
  freshness: {
    title: 'Freshness',
    meaning: 'how old the data is, and what is missing',
    compose: (figures, locale) => [composeFreshness(figures, locale)],
    isShown: 'always',
    isCore: true,
  },
  attention: {
    title: 'Needs attention',
    meaning: 'failing agents, stalled leads, quarantined records, and attachments that were too large',
    compose: (...given) => [composeAttention(...given)].filter(({ items }) => items.length > 0),
    isShown: 'unless unread',
    restsOn: ['stalled', 'agents'],
    shows: 'agents',
  },
  kpis: {
    title: 'Key figures',
    meaning: 'the headline numbers, each with its last 14 days, 12 weeks or 12 months',
    compose: (...given) => [composeKpis(...given)],
    isShown: 'unless unread',
    isCore: true,
  },
  drivers: {
    title: 'Where the difference came from',
    meaning: 'where each unusual number came from, in parts that add up',
    compose: composeDrivers,
    isShown: 'unless unread',
  },
  pace: {
    title: 'Outlook',
    meaning: 'the expected end of the numbers of the month, and how far each goal is',
    compose: ({ insight }, locale) => composePace(insight?.pace ?? [], locale),
    isShown: 'unless unread',
  },
  trend: {
    title: 'Trend',
    meaning: 'new and won leads over 90 days',
    compose: (...given) => [composeTrend(...given)],
    isShown: 'unless quiet',
  },
  funnel: {
    title: 'Funnel',
    meaning: 'the stages, each with its conversion and the days that leads spend in it',
    compose: (figures, locale) => [composeFunnel(figures, locale)],
    isShown: 'unless quiet',
    shows: 'stats',
  },
  changes: {
    title: 'Changes',
    meaning: 'the changed leads by kind of change; a week or a month names only the won leads',
    compose: (...given) => [composeChanges(...given)],
    list: listChanges,
    isShown: 'unless quiet',
  },
  top_leads: {
    title: 'Top leads',
    meaning: 'the new leads with the best scores',
    compose: (...given) => [composeTopLeads(...given)],
    list: listTopLeads,
    isShown: 'unless quiet',
  },
  urgent: {
    title: 'About to stall',
    meaning:
      'the open leads that are about to stall; how many open leads are older than nearly all winners were',
    compose: composeUrgent,
    list: listUrgent,
    isShown: 'unless quiet',
  },
  stalled: {
    title: 'Stalled leads',
    meaning: 'the open leads that have not changed for the longest time',
    compose: (...given) => [composeStalled(...given)],
    list: listStalled,
    isShown: 'unless quiet',
  },
  pipelines: {
    title: 'Pipelines',
    meaning: 'the pipelines side by side, if there are several',
    // With a single pipeline, the table would only repeat the key figures.
    compose: (figures, locale, context) =>
      figures.byPipeline.length === 1 ? [] : [composePipelines(figures, locale, context)],
    list: listPipelines,
    isShown: 'unless quiet',
  },
  sources: {
    title: 'Sources',
    meaning: 'the sources of leads side by side',
    compose: (...given) => [composeSources(...given)],
    list: listSources,
    isShown: 'unless quiet',
  },
  agents: {
    title: 'Agents',
    meaning: 'the agents and their outages',
    compose: (figures, locale) => [composeAgents(figures, locale)],
    isShown: 'unless quiet',
    shows: 'agents',
  },
  service_stats: {
    title: 'Service statistics',
    meaning: "the differences between the service's own statistics and our counts",
    compose: (figures, locale) => [composeServiceStats(figures, locale)],
    isShown: 'unless quiet',
    shows: 'stats',
  },
  data_quality: {
    title: 'Data quality',
    meaning: 'quarantined records, changed fields and incomplete scans',
    compose: (figures, locale) => [composeDataQuality(figures, locale)],
    isShown: 'unless quiet',
  },
  queries: {
    title: 'Queries of the report',
    meaning: 'the tables that the report defines itself',
    compose: composeQueries,
    isShown: 'unless unread',
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
  figures: ListedFigures,
  locale: LocaleContext,
  options: ListOptions,
): ListTable | undefined {
  const list = isBlockName(name) ? blockOf(name).list : undefined
  if (list !== undefined) return list(figures, locale, options)
  const query = figures.queries.find((each) => each.name === name)
  return query && listQuery(query, locale)
}

/** The lists of a report as tables for attached files: every row that the figures hold, not only those of the mail. */
import { ATTACHED_LISTS } from '../domain/choices.ts'
import type {
  ChangedLead,
  ChangeKind,
  Compared,
  ListedLead,
  QueryTable,
  ReportFigures,
} from '../domain/figures.ts'
import type { Ratio } from '../model.ts'
import {
  columnsByCurrency,
  type ListColumn,
  type ListTable,
  listTable,
  moneyColumns,
} from './blocks/list-table.ts'
import { namePeriod } from './words/dates.ts'
import type { Voice } from './words/locale-context.ts'
import { nameStatus } from './words/locale-context.ts'

export interface ListOptions {
  /** Such as `https://crm.example.com/leads/{id}`; null for no links. */
  readonly leadUrl: string | null
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** The figures that lists are made of. */
export type ListedFigures = Pick<
  ReportFigures,
  'kind' | 'period' | 'prior' | 'changes' | 'topLeads' | 'stalled' | 'byPipeline' | 'bySource' | 'queries'
>

type Compose = (figures: ListedFigures, voice: Voice, options: ListOptions) => ListTable

const COMPOSE = {
  top_leads: composeTopLeads,
  stalled: composeStalled,
  changes: composeChanges,
  pipelines: composePipelines,
  sources: composeSources,
} as const satisfies Record<(typeof ATTACHED_LISTS)[number], Compose>

/**
 * @param name one of the lists that any report has, or of a query of the report's own
 * @returns undefined where there is none of that name
 */
export function composeList(
  name: string,
  figures: ListedFigures,
  voice: Voice,
  options: ListOptions,
): ListTable | undefined {
  const known = ATTACHED_LISTS.find((each) => each === name)
  if (known !== undefined) return COMPOSE[known](figures, voice, options)
  const query = figures.queries.find((each) => each.name === name)
  return query && composeQuery(query, voice)
}

function composeTopLeads(figures: ListedFigures, voice: Voice, options: ListOptions): ListTable {
  const { rows, total } = figures.topLeads
  const columns = leadColumns<ListedLead>(voice, options, [])
  return listTable(voice.words.topLeads.title, columns, rows, moreThan(rows.length, total, voice), voice)
}

function composeStalled(figures: ListedFigures, voice: Voice, options: ListOptions): ListTable {
  const { rows, total } = figures.stalled
  const columns = leadColumns<(typeof rows)[number]>(voice, options, [
    { name: voice.words.lists.idleDays, cell: (lead) => lead.idleDays },
  ])
  return listTable(voice.words.stalled.title, columns, rows, moreThan(rows.length, total, voice), voice)
}

function composeChanges(figures: ListedFigures, voice: Voice, options: ListOptions): ListTable {
  const { lists, changes } = voice.words
  const { kinds } = figures.changes
  const rows = kinds.flatMap(({ kind, rows }) => rows.map((lead) => ({ ...lead, kind })))
  const total = kinds.reduce((sum, each) => sum + each.total, 0)
  const columns: ListColumn<ChangedLead & { kind: ChangeKind }>[] = [
    { name: lists.change, cell: ({ kind }) => changes.kinds[kind] },
    { name: lists.company, cell: (lead) => lead.companyName },
    { name: lists.pipeline, cell: (lead) => lead.pipelineName },
    { name: lists.fromStage, cell: ({ fromStatus }) => fromStatus && nameStatus(fromStatus, voice) },
    { name: lists.toStage, cell: ({ toStatus }) => nameStatus(toStatus, voice) },
    { name: lists.at, isInstant: true, cell: ({ at }) => at },
    ...moneyColumns<ChangedLead>(voice, ({ value }) => value),
    ...identityColumns<ChangedLead>(voice, options),
  ]
  return listTable(changes.title, columns, rows, moreThan(rows.length, total, voice), voice)
}

function composePipelines(figures: ListedFigures, voice: Voice): ListTable {
  const { lists, pipelines } = voice.words
  const rows = figures.byPipeline
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: lists.pipeline, cell: ({ name }) => name },
    { name: lists.leads, cell: ({ leads }) => leads },
    ...comparedColumns<Line>(figures, voice),
    ...winRateColumns<Line>(voice),
    ...columnsByCurrency<Line>(rows, lists.openValue, ({ openValue }) => openValue),
    { name: lists.stalled(figures.stalled.days), cell: ({ stalled }) => stalled },
    { name: lists.id, cell: ({ id }) => id },
  ]
  return listTable(pipelines.title, columns, rows, null, voice)
}

function composeSources(figures: ListedFigures, voice: Voice): ListTable {
  const { lists, sources } = voice.words
  const rows = figures.bySource
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: lists.source, cell: ({ source }) => source ?? sources.unknown },
    ...comparedColumns<Line>(figures, voice),
    ...winRateColumns<Line>(voice),
  ]
  return listTable(sources.title, columns, rows, null, voice)
}

function composeQuery({ title, columns, rows, isCut }: QueryTable, voice: Voice): ListTable {
  const more = isCut ? voice.words.query.cut(rows.length) : null
  const holdsInstants = (index: number) => {
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => cell !== null)
    return cells.length > 0 && cells.every((cell) => typeof cell === 'string' && INSTANT.test(cell))
  }
  const read = columns.map((name, index): ListColumn<QueryTable['rows'][number]> => {
    return { name, isInstant: holdsInstants(index), cell: (row) => row[index] ?? null }
  })
  return listTable(title, read, rows, more, voice)
}

/** @param first what the list is about, beside the company and where it stands */
function leadColumns<Row extends ListedLead>(
  voice: Voice,
  options: ListOptions,
  first: readonly ListColumn<Row>[],
): readonly ListColumn<Row>[] {
  const { lists } = voice.words
  return [
    { name: lists.company, cell: (lead) => lead.companyName },
    { name: lists.pipeline, cell: (lead) => lead.pipelineName },
    { name: lists.stage, cell: (lead) => nameStatus(lead.status, voice) },
    ...first,
    { name: lists.score, cell: (lead) => lead.score },
    ...moneyColumns<Row>(voice, (lead) => lead.value),
    { name: lists.contact, cell: (lead) => lead.contactName },
    { name: lists.contactTitle, cell: (lead) => lead.contactTitle },
    { name: lists.country, cell: (lead) => lead.companyCountry },
    { name: lists.domain, cell: (lead) => lead.companyDomain },
    { name: lists.about, cell: (lead) => lead.companyOneLiner },
    { name: lists.source, cell: (lead) => lead.source },
    { name: lists.createdAt, isInstant: true, cell: (lead) => lead.createdAt },
    { name: lists.changedAt, isInstant: true, cell: (lead) => lead.changedAt },
    ...identityColumns<Row>(voice, options),
  ]
}

function identityColumns<Row extends { readonly id: string }>(
  { words: { lists } }: Voice,
  { leadUrl }: ListOptions,
): readonly ListColumn<Row>[] {
  const id: ListColumn<Row> = { name: lists.id, cell: (lead) => lead.id }
  if (leadUrl === null) return [id]
  const link = (lead: Row) => leadUrl.replaceAll('{id}', encodeURIComponent(lead.id))
  return [id, { name: lists.link, cell: link }]
}

interface ComparedLine {
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
}

function comparedColumns<Row extends ComparedLine>(
  { kind, period, prior }: ListedFigures,
  { locale, words: { lists } }: Voice,
): readonly ListColumn<Row>[] {
  const [now, before] = [period, prior].map((each) => namePeriod(locale, kind, each).brief)
  return [
    { name: lists.of(lists.newLeads, now ?? ''), cell: ({ newLeads }) => newLeads.current },
    { name: lists.of(lists.newLeads, before ?? ''), cell: ({ newLeads }) => newLeads.prior },
    { name: lists.of(lists.won, now ?? ''), cell: ({ won }) => won.current },
    { name: lists.of(lists.won, before ?? ''), cell: ({ won }) => won.prior },
  ]
}

function winRateColumns<Row extends { readonly winRate: Ratio }>({
  words: { lists },
}: Voice): readonly ListColumn<Row>[] {
  const percent = ({ part, whole }: Ratio) => (whole === 0 ? null : Math.round((part / whole) * 1000) / 10)
  return [
    { name: lists.winRate, cell: ({ winRate }) => percent(winRate) },
    { name: lists.closed, cell: ({ winRate }) => winRate.whole },
  ]
}

function moreThan(shown: number, total: number, voice: Voice): string | null {
  return total > shown ? voice.words.more.some(total - shown) : null
}

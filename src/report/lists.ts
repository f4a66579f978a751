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
import type { LocaleContext } from './words/locale-context.ts'
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

type Compose = (figures: ListedFigures, locale: LocaleContext, options: ListOptions) => ListTable

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
  locale: LocaleContext,
  options: ListOptions,
): ListTable | undefined {
  const known = ATTACHED_LISTS.find((each) => each === name)
  if (known !== undefined) return COMPOSE[known](figures, locale, options)
  const query = figures.queries.find((each) => each.name === name)
  return query && composeQuery(query, locale)
}

function composeTopLeads(figures: ListedFigures, locale: LocaleContext, options: ListOptions): ListTable {
  const { rows, total } = figures.topLeads
  const columns = leadColumns<ListedLead>(locale, options, [])
  return listTable(
    locale.words('top_leads.title'),
    columns,
    rows,
    moreThan(rows.length, total, locale),
    locale,
  )
}

function composeStalled(figures: ListedFigures, locale: LocaleContext, options: ListOptions): ListTable {
  const { rows, total } = figures.stalled
  const columns = leadColumns<(typeof rows)[number]>(locale, options, [
    { name: locale.words('lists.idleDays'), cell: (lead) => lead.idleDays },
  ])
  return listTable(locale.words('stalled.title'), columns, rows, moreThan(rows.length, total, locale), locale)
}

function composeChanges(figures: ListedFigures, locale: LocaleContext, options: ListOptions): ListTable {
  const { kinds } = figures.changes
  const rows = kinds.flatMap(({ kind, rows }) => rows.map((lead) => ({ ...lead, kind })))
  const total = kinds.reduce((sum, each) => sum + each.total, 0)
  const columns: ListColumn<ChangedLead & { kind: ChangeKind }>[] = [
    { name: locale.words('lists.change'), cell: ({ kind }) => locale.words(`changes.kinds.${kind}`) },
    { name: locale.words('lists.company'), cell: (lead) => lead.companyName },
    { name: locale.words('lists.pipeline'), cell: (lead) => lead.pipelineName },
    {
      name: locale.words('lists.fromStage'),
      cell: ({ fromStatus }) => fromStatus && nameStatus(fromStatus, locale),
    },
    { name: locale.words('lists.toStage'), cell: ({ toStatus }) => nameStatus(toStatus, locale) },
    { name: locale.words('lists.at'), isInstant: true, cell: ({ at }) => at },
    ...moneyColumns<ChangedLead>(locale, ({ value }) => value),
    ...identityColumns<ChangedLead>(locale, options),
  ]
  return listTable(locale.words('changes.title'), columns, rows, moreThan(rows.length, total, locale), locale)
}

function composePipelines(figures: ListedFigures, locale: LocaleContext): ListTable {
  const rows = figures.byPipeline
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.pipeline'), cell: ({ name }) => name },
    { name: locale.words('lists.leads'), cell: ({ leads }) => leads },
    ...comparedColumns<Line>(figures, locale),
    ...winRateColumns<Line>(locale),
    ...columnsByCurrency<Line>(
      rows,
      (currency) => locale.words('lists.openValue', { currency, hasCurrency: currency !== '' }),
      ({ openValue }) => openValue,
    ),
    {
      name: locale.words('lists.stalled', { idleDays: figures.stalled.days }),
      cell: ({ stalled }) => stalled,
    },
    { name: locale.words('lists.id'), cell: ({ id }) => id },
  ]
  return listTable(locale.words('pipelines.title'), columns, rows, null, locale)
}

function composeSources(figures: ListedFigures, locale: LocaleContext): ListTable {
  const rows = figures.bySource
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.source'), cell: ({ source }) => source ?? locale.words('sources.unknown') },
    ...comparedColumns<Line>(figures, locale),
    ...winRateColumns<Line>(locale),
  ]
  return listTable(locale.words('sources.title'), columns, rows, null, locale)
}

function composeQuery({ title, columns, rows, isCut }: QueryTable, locale: LocaleContext): ListTable {
  const more = isCut ? locale.words('queries.cut', { shown: rows.length }) : null
  const holdsInstants = (index: number) => {
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => cell !== null)
    return cells.length > 0 && cells.every((cell) => typeof cell === 'string' && INSTANT.test(cell))
  }
  const read = columns.map((name, index): ListColumn<QueryTable['rows'][number]> => {
    return { name, isInstant: holdsInstants(index), cell: (row) => row[index] ?? null }
  })
  return listTable(title, read, rows, more, locale)
}

/** @param first what the list is about, beside the company and where it stands */
function leadColumns<Row extends ListedLead>(
  locale: LocaleContext,
  options: ListOptions,
  first: readonly ListColumn<Row>[],
): readonly ListColumn<Row>[] {
  return [
    { name: locale.words('lists.company'), cell: (lead) => lead.companyName },
    { name: locale.words('lists.pipeline'), cell: (lead) => lead.pipelineName },
    { name: locale.words('lists.stage'), cell: (lead) => nameStatus(lead.status, locale) },
    ...first,
    { name: locale.words('lists.score'), cell: (lead) => lead.score },
    ...moneyColumns<Row>(locale, (lead) => lead.value),
    { name: locale.words('lists.contact'), cell: (lead) => lead.contactName },
    { name: locale.words('lists.contactTitle'), cell: (lead) => lead.contactTitle },
    { name: locale.words('lists.country'), cell: (lead) => lead.companyCountry },
    { name: locale.words('lists.domain'), cell: (lead) => lead.companyDomain },
    { name: locale.words('lists.about'), cell: (lead) => lead.companyOneLiner },
    { name: locale.words('lists.source'), cell: (lead) => lead.source },
    { name: locale.words('lists.createdAt'), isInstant: true, cell: (lead) => lead.createdAt },
    { name: locale.words('lists.changedAt'), isInstant: true, cell: (lead) => lead.changedAt },
    ...identityColumns<Row>(locale, options),
  ]
}

function identityColumns<Row extends { readonly id: string }>(
  { words }: LocaleContext,
  { leadUrl }: ListOptions,
): readonly ListColumn<Row>[] {
  const id: ListColumn<Row> = { name: words('lists.id'), cell: (lead) => lead.id }
  if (leadUrl === null) return [id]
  const link = (lead: Row) => leadUrl.replaceAll('{id}', encodeURIComponent(lead.id))
  return [id, { name: words('lists.link'), cell: link }]
}

interface ComparedLine {
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
}

function comparedColumns<Row extends ComparedLine>(
  { kind, period, prior }: ListedFigures,
  { tag, words }: LocaleContext,
): readonly ListColumn<Row>[] {
  const [now, before] = [period, prior].map((each) => namePeriod(tag, kind, each).brief)
  return [
    {
      name: words('lists.of', { figure: words('lists.newLeads'), period: now ?? '' }),
      cell: ({ newLeads }) => newLeads.current,
    },
    {
      name: words('lists.of', { figure: words('lists.newLeads'), period: before ?? '' }),
      cell: ({ newLeads }) => newLeads.prior,
    },
    {
      name: words('lists.of', { figure: words('lists.won'), period: now ?? '' }),
      cell: ({ won }) => won.current,
    },
    {
      name: words('lists.of', { figure: words('lists.won'), period: before ?? '' }),
      cell: ({ won }) => won.prior,
    },
  ]
}

function winRateColumns<Row extends { readonly winRate: Ratio }>({
  words,
}: LocaleContext): readonly ListColumn<Row>[] {
  const percent = ({ part, whole }: Ratio) => (whole === 0 ? null : Math.round((part / whole) * 1000) / 10)
  return [
    { name: words('lists.winRate'), cell: ({ winRate }) => percent(winRate) },
    { name: words('lists.closed'), cell: ({ winRate }) => winRate.whole },
  ]
}

function moreThan(shown: number, total: number, locale: LocaleContext): string | null {
  return total > shown ? locale.words('truncation.some', { n: total - shown }) : null
}

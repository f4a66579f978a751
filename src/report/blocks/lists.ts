/** Composes lists: parts of the rows for a mail, and whole tables in the recipient's language for files. */
import type { ReportFigures } from '../../domain/figures.ts'
import { LISTED_FIELDS } from '../../domain/lead-fields.ts'
import type { ListedLead, PipelineLine } from '../../domain/lists.ts'
import type { Instant, Money, Ratio } from '../../domain/model.ts'
import { expectedCloseDay } from '../../domain/period.ts'
import { wallMs } from '../../schedule/zone.ts'
import { type BlockContext, coverageOf } from '../context.ts'
import { cleanLine, oneLine } from '../words/clean-text.ts'
import { type LocaleContext, nameStatus } from '../words/locale-context.ts'
import { FEW } from '../words/numbers.ts'

// The maximum length of a text in a cell. Excel allows 32,767 characters, and a few may be added before it.
const TEXT_LENGTH = 32_000

type ListCell = string | number | null

export interface ListTable {
  readonly title: string
  readonly columns: readonly { readonly name: string; readonly isInstant: boolean }[]
  /** Instants are written as `2026-11-20 09:15:00`. The last row may say that more rows exist. */
  readonly rows: readonly (readonly ListCell[])[]
}

export interface ListColumn<Row> {
  readonly name: string
  /** Tells whether the cells of the column are instants. These are converted to the recipient's time zone. */
  readonly isInstant?: boolean
  readonly cell: (row: Row) => ListCell
}

export interface ListOptions extends Pick<BlockContext, 'leadUrl'> {
  readonly fields?: ReportFigures['fields'] | undefined
}

/** `more` is the text of the last row; empty if no rows are left out. */
export function listTable<Row>(
  title: string,
  columns: readonly ListColumn<Row>[],
  rows: readonly Row[],
  more: string,
  locale: LocaleContext,
): ListTable {
  const cells = rows.map((row) => columns.map((column) => cleanCell(column, column.cell(row), locale)))
  const last = more === '' ? [] : [columns.map((_, index) => (index === 0 ? more : null))]
  return {
    title,
    columns: columns.map(({ name: heading, isInstant = false }) => {
      const name = cleanLine(heading, TEXT_LENGTH)
      return {
        name: isInstant ? locale.words('lists.inZone', { heading: name, zone: locale.timeZone }) : name,
        isInstant,
      }
    }),
    rows: [...cells, ...last],
  }
}

/** Returns one column for the amount and one for its currency. */
export function moneyColumns<Row>(
  locale: LocaleContext,
  read: (row: Row) => Money | null,
): readonly ListColumn<Row>[] {
  return [
    { name: locale.words('lists.value'), cell: (row) => read(row)?.amount ?? null },
    { name: locale.words('lists.currency'), cell: (row) => read(row)?.currency ?? null },
  ]
}

export function columnsByCurrency<Row>(
  rows: readonly Row[],
  name: (currency: string) => string,
  read: (row: Row) => readonly Money[],
): readonly ListColumn<Row>[] {
  const currencies = new Set(rows.flatMap((row) => read(row).map((money) => money.currency)))
  return [...currencies].sort().map((currency) => ({
    name: name(currency),
    cell: (row) => read(row).find((money) => money.currency === currency)?.amount ?? null,
  }))
}

/** `ownColumns` are those that only this list has. */
export function leadTable<Row extends ListedLead>(
  title: string,
  ownColumns: readonly ListColumn<Row>[],
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
  locale: LocaleContext,
  options: ListOptions,
): ListTable {
  const columns: readonly ListColumn<Row>[] = [
    { name: locale.words('lists.company'), cell: (lead) => lead.companyName },
    { name: locale.words('lists.pipeline'), cell: (lead) => lead.pipelineName },
    { name: locale.words('lists.stage'), cell: (lead) => nameStatus(lead.status, locale) },
    ...ownColumns,
    { name: locale.words('lists.score'), cell: (lead) => lead.score },
    ...moneyColumns<Row>(locale, (lead) => lead.value),
    ...LISTED_FIELDS.map((field) => ({
      name: locale.words(`lead.${field}`),
      cell: (lead: Row) =>
        field === 'expectedCloseAt' ? expectedCloseDay(lead[field], locale.timeZone) : lead[field],
    })),
    { name: locale.words('lists.createdAt'), isInstant: true, cell: (lead) => lead.createdAt },
    { name: locale.words('lists.changedAt'), isInstant: true, cell: (lead) => lead.changedAt },
    ...fieldColumns<Row>(options),
    ...identityColumns<Row>(locale, options),
  ]
  return listTable(title, columns, rows, moreThan(rows.length, total, locale), locale)
}

/** Returns a column for each declared field that the report shows: `deal_size` becomes `Deal size`. */
export function fieldColumns<Row extends { readonly id: string }>({
  fields,
}: ListOptions): ListColumn<Row>[] {
  const cellsOf = new Map(fields?.rows)
  return (fields?.columns ?? []).map(({ name, type }, index) => ({
    name: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
    isInstant: type === 'time',
    cell: ({ id }) => cellsOf.get(id)?.[index] ?? null,
  }))
}

/** Returns a column for the id of each lead, and one for its link if leads have links. */
export function identityColumns<Row extends { readonly id: string }>(
  { words }: LocaleContext,
  options: ListOptions,
): readonly ListColumn<Row>[] {
  const id: ListColumn<Row> = { name: words('lists.id'), cell: (lead) => lead.id }
  if (options.leadUrl === null) return [id]
  return [id, { name: words('lists.link'), cell: (lead) => linkTo(lead.id, options) }]
}

/** Returns the columns of new and won leads. */
export function countColumns<Row extends Pick<PipelineLine, 'newLeads' | 'won'>>({
  words,
}: LocaleContext): readonly ListColumn<Row>[] {
  return (['newLeads', 'won'] as const).map((figure) => ({
    name: words(`lists.${figure}`),
    cell: (row) => row[figure],
  }))
}

/** Returns a column for the win rate in percent, and one for the number of decided leads. */
export function winRateColumns<Row extends { readonly winRate: Ratio }>({
  words,
}: LocaleContext): readonly ListColumn<Row>[] {
  const percent = ({ part, whole }: Ratio) => (whole === 0 ? null : Math.round((part / whole) * 1000) / 10)
  return [
    { name: words('lists.winRate'), cell: ({ winRate }) => percent(winRate) },
    { name: words('lists.closed'), cell: ({ winRate }) => winRate.whole },
  ]
}

/** Formats `and 9 more`; empty if nothing is left out. */
export function moreThan(shown: number, total: number, { words }: LocaleContext): string {
  return total > shown ? words('truncation.some', { n: total - shown }) : ''
}

function cleanCell(
  { isInstant }: { readonly isInstant?: boolean },
  cell: ListCell,
  locale: LocaleContext,
): ListCell {
  if (typeof cell !== 'string') return cell
  // A cell is a text of its own, and programs that compare cells would meet the marks of isolated names.
  return isInstant
    ? localTime(cell, locale.timeZone)
    : cleanLine(cell, TEXT_LENGTH).replace(/[\u2068\u2069]/g, '')
}

/** Formats a local time: `2026-11-20 09:15:00`. */
function localTime(at: Instant, timeZone: string): string {
  return new Date(wallMs(Date.parse(at), timeZone)).toISOString().slice(0, 19).replace('T', ' ')
}

/** The most lines of a breakdown. If only one line would be left out, it is shown too. */
export const BREAKDOWN_ROWS = 5

interface LineName {
  readonly name: string
  readonly detail?: string
  readonly tones?: { readonly newLeads: string; readonly won: string }
}

/** Composes a table of the first rows, with the new leads, the won leads and the win rate of each. */
export function composeBreakdown<Row extends Pick<PipelineLine, 'newLeads' | 'won' | 'winRate'>>(
  list: 'pipelines' | 'sources',
  rows: readonly Row[],
  lineOf: (row: Row) => LineName,
  figures: ReportFigures,
  locale: LocaleContext,
  context: BlockContext,
) {
  const { words } = locale
  const [total, cell] = [rows.length, (count: number) => countCell(count, figures, locale)]
  const shown = shownOf(rows, total, BREAKDOWN_ROWS)
  return {
    title: words(`${list}.title`),
    note: '',
    columns: {
      name: words(`${list}.name`),
      newLeads: words('pipelines.newLeads'),
      won: words('pipelines.won'),
      winRate: words('pipelines.winRate'),
    },
    lines: shown.map((row) => {
      const { name, detail = '', tones } = lineOf(row)
      return {
        name,
        detail,
        newLeads: { value: cell(row.newLeads), tone: tones?.newLeads ?? 'neutral' },
        won: { value: cell(row.won), tone: tones?.won ?? 'neutral' },
        winRate: rateCell(row.winRate, locale),
      }
    }),
    more: moreOf(list, { total, shown: shown.length, stored: total }, locale, context),
  }
}

/** Formats a count of the period: `59`, or `–` if nothing of the period has been read. */
export function countCell(count: number, figures: ReportFigures, { words, numbers }: LocaleContext): string {
  return coverageOf(figures) === 'none' ? words('none') : numbers.count(count)
}

/** Formats a win rate: `23.7%`, `2 of 7` for fewer than 10 leads, `–` for none. */
export function rateCell({ part, whole }: Ratio, { words, numbers }: LocaleContext): string {
  if (whole === 0) return words('none')
  return whole < FEW ? words('counts', { part, whole }) : numbers.rate(part / whole)
}

export const NAME_LENGTH = 48

// The separator between the parts of a line. The no-break space prevents a line break before the dot.
const SEPARATOR = '\u00a0· '

/** Composes the company of a lead and its link, which the template `{{> lead}}` shows. */
export function composeLead(
  { id, companyName }: { readonly id: string; readonly companyName: string },
  options: ListOptions,
): { readonly company: string; readonly url: string } {
  return { company: oneLine(companyName, NAME_LENGTH), url: linkTo(id, options) }
}

/** Returns the address at which the lead can be opened; empty if there is none. */
function linkTo(leadId: string, { leadUrl }: ListOptions): string {
  return leadUrl === null ? '' : leadUrl.replaceAll('{id}', encodeURIComponent(leadId.toWellFormed()))
}

export function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(SEPARATOR)
}

// The maximum number of currencies named after the first one. All further currencies are only counted.
const OTHERS_NAMED = 2

/** Formats amounts as `$1.2m + €300k, £20k`; empty if there are none. */
export function formatMoneys(moneys: readonly Money[], locale: LocaleContext): string {
  const { largest, others } = splitMoneys(moneys, locale)
  return [largest, others].filter(Boolean).join(' ')
}

/** Formats `+ €300k, £20k` after the first amount. Amounts in different currencies are never added. */
export function splitMoneys(
  moneys: readonly Money[],
  { numbers, words }: LocaleContext,
): { largest: string | null; others: string | null } {
  const [first, ...rest] = moneys.filter((money) => money.amount !== 0)
  if (!first) return { largest: null, others: null }
  const named = rest.slice(0, OTHERS_NAMED).map(numbers.money)
  const unnamed = rest.length - named.length
  const others = [...named, ...(unnamed > 0 ? [words('scope.others', { n: unnamed })] : [])].join(', ')
  return { largest: numbers.money(first), others: others ? `+ ${others}` : null }
}

/** Shows one more row than `most` if it is the last, because a note about it takes as much room. */
export function shownOf<T>(rows: readonly T[], total: number, most: number): readonly T[] {
  return rows.slice(0, total === most + 1 ? most + 1 : most)
}

/**
 * Formats `and 9 more in daily-stalled.xlsx`. Does not say "attached", as a mail server may take no files. An attached
 * file has all rows that were read from the database (`stored`).
 */
export function moreOf(
  list: string,
  { total, shown, stored }: Readonly<Record<'total' | 'shown' | 'stored', number>>,
  locale: LocaleContext,
  { attached }: BlockContext,
): string {
  const { words } = locale
  const file = attached.get(list)
  if (total <= shown || file === undefined || stored <= shown) return moreThan(shown, total, locale)
  return stored < total
    ? words('truncation.partInFile', { n: total - shown, inFile: stored - shown, file })
    : words('truncation.inFile', { n: total - shown, file })
}

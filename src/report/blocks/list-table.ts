/**
 * A list of a report as the table of an attached file: headings in the reader's language, cells as what they are.
 * Times stand on the reader's clock, as they do in the mail, and their heading names the zone.
 */
import type { Instant, Money } from '../../model.ts'
import { wallMs } from '../../schedule/zone.ts'
import { oneLine } from '../words/clean-text.ts'
import type { LocaleContext } from '../words/locale-context.ts'

/** Of a cell; what Excel can hold, with room for a mark before it. */
const TEXT_LENGTH = 32_000

export type ListCell = string | number | null

export interface ListTable {
  readonly title: string
  readonly columns: readonly { readonly name: string; readonly isInstant: boolean }[]
  /** Instants as `2026-11-20 09:15:00`. The last row says that there are more, where there are. */
  readonly rows: readonly (readonly ListCell[])[]
}

export interface ListColumn<Row> {
  readonly name: string
  /** Times of a column that is told to hold them go onto the reader's clock. */
  readonly isInstant?: boolean
  readonly cell: (row: Row) => ListCell
}

/** @param more what the last row says of those that are left out; null where none are */
export function listTable<Row>(
  title: string,
  columns: readonly ListColumn<Row>[],
  rows: readonly Row[],
  more: string | null,
  locale: LocaleContext,
): ListTable {
  const cells = rows.map((row) => columns.map((column) => cleanCell(column, column.cell(row), locale)))
  const last = more === null ? [] : [columns.map((_, index) => (index === 0 ? more : null))]
  return {
    title,
    columns: columns.map(({ name: heading, isInstant = false }) => {
      const name = oneLine(heading, TEXT_LENGTH)
      return {
        name: isInstant ? locale.words('lists.inZone', { heading: name, zone: locale.timeZone }) : name,
        isInstant,
      }
    }),
    rows: [...cells, ...last],
  }
}

/** One column for the amount and one for its currency. */
export function moneyColumns<Row>(
  locale: LocaleContext,
  read: (row: Row) => Money | null,
): readonly ListColumn<Row>[] {
  return [
    { name: locale.words('lists.value'), cell: (row) => read(row)?.amount ?? null },
    { name: locale.words('lists.currency'), cell: (row) => read(row)?.currency ?? null },
  ]
}

/** A column for each currency that any row has, in order of its code. */
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

function cleanCell(
  { isInstant }: { readonly isInstant?: boolean },
  cell: ListCell,
  locale: LocaleContext,
): ListCell {
  if (typeof cell !== 'string') return cell
  return isInstant ? localTime(cell, locale.timeZone) : oneLine(cell, TEXT_LENGTH)
}

/** `2026-11-20 09:15:00` */
function localTime(at: Instant, timeZone: string): string {
  return new Date(wallMs(Date.parse(at), timeZone)).toISOString().slice(0, 19).replace('T', ' ')
}

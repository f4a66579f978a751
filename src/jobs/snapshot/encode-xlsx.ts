/**
 * Encodes rows as an Excel workbook with one sheet (ECMA-376), as a stream. Numbers and times are real Excel
 * values. Times are in UTC or local time, as the rows give them. Texts are inline strings, so that no cell
 * can be a formula. The same rows always give the same bytes.
 */
import { Readable } from 'node:stream'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Cell, Row } from '../../store/queries/snapshot-table.ts'
import { DAY_MS } from '../../time.ts'
import { harmlessText } from './encode-text.ts'

/** Excel's limit, including the heading. */
const ROWS_MAX = 1_048_576
const TEXT_MAX = 32_767
const NAME_MAX = 31
/** The number of digits that Excel keeps of a number. A number with more digits is written as text. */
const DIGITS_MAX = 15

/** Matches `2026-11-20T08:15:00.000Z`, and `2026-11-20 09:15:00` in local time. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d+)?)Z| (\d\d:\d\d:\d\d))$/
/** Excel numbers earlier days wrongly, because it counts a February 29, 1900, which never existed. */
const FIRST_DAY_MS = Date.UTC(1900, 2, 1)
const EPOCH_DAY = 25_569

const NARROW = 16
const WIDTH_OF_TIME = 20

/** The earliest time of a ZIP archive, which uses the local clock. */
const ZIP_ENTRY = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true }

/** The index of each cell format in the list `cellXfs` of STYLES. */
const STYLE = { date: 1, heading: 2 } as const

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const CONTENT_TYPES = `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SPREADSHEET}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${SPREADSHEET}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SPREADSHEET}.worksheet+xml"/></Types>`
const ROOT_RELATIONS = `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`
const BOOK_RELATIONS = `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`
const STYLES = `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs></styleSheet>`

interface Sheet {
  readonly name: string
  readonly columns: readonly {
    readonly name: string
    /** True if times in the column are written as Excel dates. The rows contain times as texts. */
    readonly isInstant: boolean
    /** The width of the column in characters; if absent, the type of the column decides it. */
    readonly width?: number
  }[]
}

/**
 * Encodes a sheet.
 * @param onCut called for each text that was cut because it was too long for a cell
 * @throws LeadsheetError export_too_large
 */
export async function* encodeXlsx(
  table: Sheet,
  chunks: Iterable<readonly Row[]>,
  onCut: () => void,
): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  for (const [path, content] of Object.entries({
    '[Content_Types].xml': CONTENT_TYPES,
    '_rels/.rels': ROOT_RELATIONS,
    'xl/workbook.xml': workbookXml(table.name),
    'xl/_rels/workbook.xml.rels': BOOK_RELATIONS,
    'xl/styles.xml': STYLES,
  }))
    zip.addBuffer(Buffer.from(content), path, ZIP_ENTRY)
  const sheet = Readable.from(sheetXml(table, chunks, onCut))
  const output = Readable.from(zip.outputStream)
  // Passes an error of the sheet on to the output, because the ZIP archive does not pass on errors of its
  // sources.
  sheet.on('error', (error) => output.destroy(error))
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', ZIP_ENTRY)
  zip.end()
  yield* output
}

function workbookXml(table: string): string {
  const name = table.replace(/[[\]:*?/\\]/g, '_').slice(0, NAME_MAX)
  return `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="${xmlText(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`
}

function* sheetXml(
  { name, columns }: Sheet,
  chunks: Iterable<readonly Row[]>,
  onCut: () => void,
): Generator<string> {
  const letters = columns.map((_, index) => columnLetters(index))
  const frozen = `<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`
  const widths = columns.map(
    (column, index) =>
      `<col min="${index + 1}" max="${index + 1}" width="${column.width ?? (column.isInstant ? WIDTH_OF_TIME : NARROW)}" customWidth="1"/>`,
  )
  const headings = columns.map(
    (column, index) => `<c r="${letters[index]}1" s="${STYLE.heading}" ${textOf(column.name, onCut)}</c>`,
  )
  yield `${XML}<worksheet xmlns="${MAIN}">${frozen}<cols>${widths.join('')}</cols><sheetData><row r="1">${headings.join('')}</row>`
  let number = 1
  for (const rows of chunks) {
    if (number + rows.length > ROWS_MAX) throw tooLarge(name)
    yield rows.map((row) => rowXml(row, ++number)).join('')
  }
  yield '</sheetData></worksheet>'

  function rowXml(row: Row, at: number): string {
    const cells = row.map((cell, index) =>
      cell === null
        ? ''
        : `<c r="${letters[index]}${at}" ${cellXml(cell, columns[index]?.isInstant === true)}</c>`,
    )
    return `<row r="${at}">${cells.join('')}</row>`
  }

  function cellXml(cell: Exclude<Cell, null>, isInstant: boolean): string {
    if (typeof cell === 'string') {
      const day = isInstant ? dayNumber(cell) : null
      return day === null ? textOf(cell, onCut) : `s="${STYLE.date}"><v>${day}</v>`
    }
    const digits = String(cell)
    const isExact =
      typeof cell === 'number' ? Number.isFinite(cell) : digits.replace('-', '').length <= DIGITS_MAX
    return isExact ? `><v>${digits}</v>` : textOf(digits, onCut)
  }
}

/** Returns the days since 1899-12-30; null if the text is no time, or one that Excel cannot represent. */
function dayNumber(text: string): number | null {
  const [, day, utc, local] = TIME.exec(text) ?? []
  const ms = Date.parse(`${day}T${utc ?? local}Z`)
  return ms >= FIRST_DAY_MS ? EPOCH_DAY + ms / DAY_MS : null
}

function textOf(text: string, onCut: () => void): string {
  let shown = harmlessText(text)
  if (shown.length > TEXT_MAX) {
    shown = `${shown.slice(0, TEXT_MAX - 1)}…`
    onCut()
  }
  return `t="inlineStr"><is><t xml:space="preserve">${xmlText(shown)}</t></is>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * Escapes a text for XML. A character that XML cannot contain is written in the form `_x0008_` (ECMA-376,
 * 22.4.2.4). A text that already looks like this form is escaped too.
 */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)
    .replace(/[\p{Cc}\uFFFE\uFFFF]/gu, (sign) =>
      sign === '\t' || sign === '\n'
        ? sign
        : `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
}

function columnLetters(index: number): string {
  const rest = Math.floor(index / 26)
  return (rest === 0 ? '' : columnLetters(rest - 1)) + String.fromCharCode(65 + (index % 26))
}

function tooLarge(table: string): LeadsheetError {
  return new LeadsheetError(
    'export_too_large',
    `${table} has more rows than an Excel sheet: ${(ROWS_MAX - 1).toLocaleString('en')} beside the heading`,
    { hint: `Export it as csv or parquet, or query a part of it: ${shellCommand('query --format csv')}.` },
  )
}

/**
 * Encodes a list as an Excel workbook with one sheet (ECMA-376). Numbers and times are real Excel values.
 * Texts are inline strings, so that no cell can be a formula. The same rows always give the same bytes.
 */
import { buffer } from 'node:stream/consumers'
import type { ListTable } from '../../report/blocks/lists.ts'
import { DAY_MS } from '../../time.ts'
import { harmlessText } from './encode-text.ts'

const NAME_MAX = 31

/** Matches `2026-11-20 09:15:00` in local time. */
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/
/** Excel numbers earlier days wrongly, because it counts a February 29, 1900, which never existed. */
const FIRST_DAY_MS = Date.UTC(1900, 2, 1)
const EPOCH_DAY = 25_569

/** The widths of columns in characters; `gap` is added to the longest text of a column. */
const WIDTH = { least: 8, most: 48, gap: 2 } as const

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

export async function encodeXlsx(table: ListTable): Promise<Buffer> {
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  for (const [path, content] of Object.entries({
    '[Content_Types].xml': CONTENT_TYPES,
    '_rels/.rels': ROOT_RELATIONS,
    'xl/workbook.xml': workbookXml(table.title),
    'xl/_rels/workbook.xml.rels': BOOK_RELATIONS,
    'xl/styles.xml': STYLES,
    'xl/worksheets/sheet1.xml': sheetXml(table),
  }))
    zip.addBuffer(Buffer.from(content), path, ZIP_ENTRY)
  zip.end()
  return buffer(zip.outputStream)
}

function workbookXml(table: string): string {
  const name = table.replace(/[[\]:*?/\\]/g, '_').slice(0, NAME_MAX)
  return `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="${xmlText(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`
}

function sheetXml({ columns, rows }: ListTable): string {
  const letters = columns.map((_, index) => columnLetters(index))
  const frozen = `<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`
  const widths = columns.map(({ name }, index) => {
    const width = widthOf([name, ...rows.map((row) => row[index] ?? null)])
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`
  })
  const headings = columns.map(
    ({ name }, index) => `<c r="${letters[index]}1" s="${STYLE.heading}" ${textXml(name)}</c>`,
  )
  const lines = rows.map((row, line) => {
    const cells = row.map((cell, index) => {
      const xml = cell === null ? null : cellXml(cell, columns[index]?.isInstant === true)
      return xml === null ? '' : `<c r="${letters[index]}${line + 2}" ${xml}</c>`
    })
    return `<row r="${line + 2}">${cells.join('')}</row>`
  })
  return `${XML}<worksheet xmlns="${MAIN}">${frozen}<cols>${widths.join('')}</cols><sheetData><row r="1">${headings.join('')}</row>${lines.join('')}</sheetData></worksheet>`
}

function widthOf(cells: readonly (string | number | null)[]): number {
  const longest = cells.reduce<number>((most, cell) => Math.max(most, String(cell ?? '').length), WIDTH.least)
  return Math.min(longest + WIDTH.gap, WIDTH.most)
}

function cellXml(cell: string | number, isInstant: boolean): string {
  if (typeof cell === 'number') return Number.isFinite(cell) ? `><v>${cell}</v>` : textXml(String(cell))
  const day = isInstant ? dayNumber(cell) : null
  return day === null ? textXml(cell) : `s="${STYLE.date}"><v>${day}</v>`
}

/** Returns the days since 1899-12-30; null if the text is no time, or one that Excel cannot represent. */
function dayNumber(text: string): number | null {
  const [, day, time] = TIME.exec(text) ?? []
  const ms = Date.parse(`${day}T${time}Z`)
  return ms >= FIRST_DAY_MS ? EPOCH_DAY + ms / DAY_MS : null
}

function textXml(text: string): string {
  return `t="inlineStr"><is><t xml:space="preserve">${xmlText(harmlessText(text))}</t></is>`
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

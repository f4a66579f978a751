/**
 * Turns a list that came as NDJSON or CSV into a JSON list, so that everything behind reads it like any other. Each
 * line becomes an object; the values of CSV are texts.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { loadPackage } from '../../packages.ts'

const NDJSON_TYPE = /^\s*(application|text)\/(x-)?(ndjson|jsonl|json-?lines|jsonlines|ldjson)\s*(;|$)/i
const CSV_TYPE = /^\s*(application|text)\/(x-)?(csv|comma-separated-values|tab-separated-values)\s*(;|$)/i
/** Types that say nothing of what is in a body. */
const NO_TYPE = /^\s*((text\/plain|application\/(octet-stream|force-download))\s*)?(;|$)/i
/** The signs that may stand between two values of CSV. */
const DELIMITERS = [',', ';', '\t', '|'] as const
/** In bytes: what is looked at to recognise rows. */
const BEGINNING = 20_000
const NAME = /^[\p{L}_#][^"<>{}[\]]{0,99}$/u

/** Thrown for rows that are cut or broken. The message quotes nothing of the body. */
export class BrokenRows extends SyntaxError {}

/**
 * @param bytes the body in UTF-8, or in the charset that spreadsheets write without naming it
 * @returns null if the body is neither NDJSON nor CSV
 * @throws BrokenRows for a body that is cut or broken: one that ends in the middle of a line must not lose it
 */
export function rowsAsJson(bytes: Buffer, headers: IncomingHttpHeaders): Buffer | null {
  const type = headers['content-type'] ?? ''
  const beginning = new TextDecoder().decode(bytes.subarray(0, BEGINNING))
  const [first = '', second = ''] = beginning.trimStart().split(/[\r\n]+/, 2)
  if (NDJSON_TYPE.test(type) || (second.trimStart().startsWith('{') && isObject(first))) return ndjson(bytes)
  const isCsv = CSV_TYPE.test(type) && !/^\s*[<[{]/.test(first)
  if (!isCsv && !NO_TYPE.test(type)) return null
  const delimiter = delimiterOf(first)
  if (!isCsv && !looksLikeCsv(first, second, delimiter)) return null
  // Without these headers, the end of the connection is the end of the body, so that a cut one looks whole.
  const isBounded = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (!isBounded && !/\n\s*$/.test(bytes.toString('latin1', bytes.length - 10)))
    throw new BrokenRows('its CSV ends in the middle of a line')
  return csv(textOf(bytes), delimiter)
}

/** The lines stay as they were sent. */
function ndjson(bytes: Buffer): Buffer {
  const lines = textOf(bytes)
    .split(/[\n\r]+/)
    .filter((line) => line.trim() !== '')
  for (const line of lines)
    if (!/^\s*\{/.test(line)) throw new BrokenRows('a line of its NDJSON is no object')
  return Buffer.from(`[${lines.join(',')}]`)
}

function csv(text: string, delimiter: string): Buffer {
  const { parse } = loadPackage('csv-parse/sync')
  try {
    const rows: unknown = parse(text, {
      delimiter,
      columns: columnNames,
      skip_empty_lines: true,
      // A quote inside of a value that is not quoted, such as 5" for inches, is a part of it.
      relax_quotes: true,
    })
    // CSV has no other way to say that there is no value.
    return Buffer.from(JSON.stringify(rows, (_, value: unknown) => (value === '' ? null : value)))
  } catch (thrown) {
    // The parser's message quotes the body, so only the number of the line is taken from it.
    const line = thrown instanceof Error ? / line (\d+)/.exec(thrown.message)?.[1] : undefined
    throw new BrokenRows(`its CSV is cut or broken${line === undefined ? '' : ` at line ${line}`}`)
  }
}

/** A column without a name is called by its place, and a second one of the same name gets a number. */
function columnNames(header: readonly string[]): string[] {
  const names: string[] = []
  for (const [index, text] of header.entries()) {
    const name = text.trim() || `column_${index + 1}`
    let unique = name
    for (let count = 2; names.includes(unique); count++) unique = `${name}_${count}`
    names.push(unique)
  }
  return names
}

/** Returns the delimiter that the header has most often outside of quotes. */
function delimiterOf(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((sign) => ({ sign, count: bare.split(sign).length }))
  return counts.reduce((most, each) => (each.count > most.count ? each : most)).sign
}

/** Returns whether two lines are a header of several names, unlike a sentence, and a row with as many values. */
function looksLikeCsv(header: string, row: string, delimiter: string): boolean {
  const names = cells(header, delimiter)
  return (
    names.length > 1 &&
    names.every((name) => NAME.test(name)) &&
    cells(row, delimiter).length === names.length
  )
}

function cells(line: string, delimiter: string): string[] {
  const bare = line.replace(/"((?:[^"]|"")*)"/g, (_, quoted: string) => quoted.replaceAll(delimiter, ' '))
  return bare.split(delimiter)
}

function isObject(line: string): boolean {
  if (!/^\s*\{.*\}\s*$/.test(line)) return false
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

/** A byte order mark is dropped. Bytes that are not UTF-8 are in the charset of Windows for Western Europe. */
function textOf(bytes: Buffer): string {
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes)
}

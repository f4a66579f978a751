/**
 * Records of well-known products for invented leads, and the places of our fields in them. The products stand in
 * `crm-shapes.txt`, whose head explains its rows.
 */
import { readFileSync } from 'node:fs'
import { LEAD_FIELDS } from '../../../src/domain/lead-fields.ts'
import { splitPath } from '../../../src/upstream/values/json.ts'
import { type Lead, leadOf } from './crm-lead.ts'

export type CrmShape = ReturnType<typeof readShapes>[number]
type Row = ReturnType<typeof readRow>
type Value = (lead: Lead) => unknown

/** A field of ours, `?` if no rule is right too, and a rank. */
const PLACE = /^(\w+)(\??)(?: \d)?$/

/** The words of a value. */
const WORDS = Object.keys(leadOf(0))

export const CRM_SHAPES = readShapes(readFileSync(new URL('crm-shapes.txt', import.meta.url), 'utf8'))

/** Returns the records of a shape. */
export function recordsOfShape({ rows }: CrmShape, count: number): unknown[] {
  return Array.from({ length: count }, (_, number) => build(rows, leadOf(number), 0))
}

/** Builds the value whose rows these are. Their paths are the same up to `depth` keys. */
function build(rows: readonly Row[], lead: Lead, depth: number): unknown {
  const own = rows.find(({ keys }) => keys.length === depth)
  const others = rows.filter((row) => row !== own)
  const parts = Map.groupBy(others, ({ keys }) => keys[depth] ?? '')
  const ofTag = parts.get('[]')
  const entries = [...parts].map(([key, part]) => [key, build(part, lead, depth + 1)] as const)
  const list = ofTag
    ? lead.tags.map((tag, tagNo) => build(ofTag, { ...lead, tag, tagNo }, depth + 1))
    : entries.map(([, value]) => value)
  const below = entries.every(([key]) => /^[\d[]/.test(key)) ? list : Object.fromEntries(entries)
  return own ? own.value({ ...lead, below }) : below
}

/** @throws Error that names the shape and the row, and says what was expected in it */
function readShapes(text: string) {
  const parts = text.split(/^== /m).slice(1)
  return parts.map((part) => {
    const [name = '', ...lines] = part.split('\n')
    const rows: Row[] = []
    for (const line of lines.filter((each) => /^[^#]/.test(each))) {
      try {
        rows.push(readRow(line))
      } catch (error) {
        throw new Error(`${name}: found ${line}: ${(error as Error).message}`, { cause: error })
      }
    }
    const right = rightPlaces(rows)
    if (!right.has('id')) throw new Error(`${name}: found no id, expected a row with it`)
    return { name, rows, right }
  })
}

function readRow(line: string) {
  const [path = '', place = '', text = ''] = line.split(/ {2,}/)
  const field = PLACE.exec(place)?.[1]
  if (place !== '-' && !LEAD_FIELDS.some(({ column }) => column === field))
    throw new Error(`expected - or a field of ours in the place of ${place}`)
  const keys = splitPath(path).flatMap((name) => name.split(/(?=\[)/))
  return { path, keys, place, value: readValue(text) }
}

/** Returns the places that are right for each field of ours, the best first; null among them if no rule is right too. */
function rightPlaces(rows: readonly Row[]): Map<string, (string | null)[]> {
  const right = new Map<string, (string | null)[]>()
  const placed = rows.filter(({ place }) => place !== '-')
  const byPlace = [...Map.groupBy(placed, ({ place }) => place)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [place, same] of byPlace) {
    const [, field = '', orNone] = PLACE.exec(place) ?? []
    const rule = same.map(({ path }) => path.replace('[]', '')).join(' + ')
    right.set(field, [...(right.get(field) ?? []), rule, ...(orNone ? [null] : [])])
  }
  return right
}

/** Reads a value, which is an expression of JavaScript but for its texts, which have values in braces. */
function readValue(text: string): Value {
  const written = text.replace(
    /"(?:[^"\\]|\\.)*"/g,
    (quoted) => `\`${quoted.slice(1, -1).replaceAll('{', '${')}\``,
  )
  const calculate = new Function(...WORDS, `return (${written})`)
  return (lead) => calculate(...WORDS.map((word) => Reflect.get(lead, word)))
}

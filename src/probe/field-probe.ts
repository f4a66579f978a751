/** Recognises the meaning of a record's fields by their names and values. All functions are pure. */
import type { LeadField } from '../domain/lead-fields.ts'
import { toText } from '../upstream/profile/field-rule.ts'
import type { FieldPath } from '../upstream/values/json.ts'
import { fieldsOf, type Leaf, pathText, readPath } from '../upstream/values/json.ts'
import { type DecimalSign, toInstant, toNumber } from '../upstream/values/scalar.ts'
import type { Confidence } from './ask.ts'
import type { FieldSign } from './candidates.ts'
import {
  FIRST_NAMES,
  FUNNEL_WORDS,
  ID_NAMES,
  LAST_NAMES,
  LATE_ID_NAMES,
  LEAD_SIGNS,
  OUTCOME_WORDS,
  RECORD_NAMES,
} from './candidates.ts'

const STATUSES_MAX = 30

/** A field rule, which says where a record contains a lead's field. It has the format of a profile. */
type RuleInput =
  | string
  | string[]
  | { all: (string | string[])[]; transform: 'join' }
  | { from: string; transform: 'domain' }
  | { from: string; decimal: 'comma' }
  | { from: string[] }

export interface FoundField {
  readonly field: LeadField['column']
  readonly rule: RuleInput
  readonly confidence: Confidence
  /** For personal data, it is only the number of records that have the field. */
  readonly evidence: string
}

interface Column {
  readonly path: FieldPath
  /** The values of the field in all records, except null and "". */
  readonly values: readonly unknown[]
  /** The number of all records, including those without the field. */
  readonly of: number
}

/** Finds the fields of the records that leads need. The id is not among them, because `pickId` chooses it. */
export function findFields(records: readonly unknown[], id: FieldPath): FoundField[] {
  const columns = columnsOf(records).filter(({ path }) => pathText(path) !== pathText(id))
  const found: FoundField[] = []
  const taken = new Set<string>()
  for (const sign of LEAD_SIGNS) {
    if (sign.field.name === 'contactName') {
      const joined = joinedName(columns)
      if (joined !== null) {
        found.push(joined)
        continue
      }
    }
    const column = bestColumn(columns, sign, taken)
    const isLikely = column !== null && sign.names.indexOf(nameOf(column.path, sign.names)) < 10
    if (column === null || (!isLikely && isConstant(column))) continue
    taken.add(pathText(column.path))
    found.push({
      field: sign.field.column,
      rule: ruleFor(column, sign),
      confidence: isLikely ? 'likely' : 'guessed',
      evidence: 'isPersonal' in sign.field ? countOf(column) : sampleOf(column),
    })
  }
  return nameOfCompany(found, columns)
}

function ruleFor({ path, values }: Column, { looks }: FieldSign): RuleInput {
  const from = pathText(path)
  if (looks === 'domain' && !isDomain(values[0])) return { from, transform: 'domain' }
  return looks === 'number' && hasDecimalComma(values) ? { from, decimal: 'comma' } : from
}

/** Returns whether a value is a number with a decimal comma alone, and none is one with a decimal point alone. */
function hasDecimalComma(values: readonly unknown[]): boolean {
  const isOnly = (one: DecimalSign, other: DecimalSign) =>
    values.some((value) => toNumber(value, one) !== null && toNumber(value, other) === null)
  return isOnly('comma', 'point') && !isOnly('point', 'comma')
}

interface FoundStage {
  readonly status: string
  readonly outcome: 'open' | 'won' | 'lost' | 'disqualified'
}

/** In the order of a usual funnel. The outcome of a status (such as won) is guessed from its words. */
export function findStages(records: readonly unknown[], path: FieldPath): FoundStage[] {
  const statuses = [...new Set(records.flatMap((record) => toText(readPath(record, path)) ?? []))]
  return statuses
    .map((status, index) => ({ status, outcome: outcomeOf(status), rank: funnelRank(status), index }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ status, outcome }) => ({ status, outcome }))
}

/**
 * Returns a column for every path that occurs in the records. Its values leave out null and "".
 * @param leavesOf yields the paths and values of a record; by default without entering lists
 */
export function columnsOf(
  records: readonly unknown[],
  leavesOf: (record: unknown) => Iterable<Leaf> = fieldsOf,
): Column[] {
  const byPath = new Map<string, { path: FieldPath; values: unknown[]; of: number }>()
  for (const record of records) {
    for (const { path, value } of leavesOf(record)) {
      const key = JSON.stringify(path)
      const column = byPath.get(key) ?? { path, values: [], of: records.length }
      if (value !== null && value !== '') column.values.push(value)
      byPath.set(key, column)
    }
  }
  return [...byPath.values()]
}

function bestColumn(columns: readonly Column[], sign: FieldSign, taken: ReadonlySet<string>): Column | null {
  const fitting = columns
    .filter(({ path }) => !taken.has(pathText(path)) && nameOf(path, sign.names) !== '')
    .filter((column) => column.values.length > 0 && looksLike(column, sign.looks))
    .sort(
      (a, b) =>
        sign.names.indexOf(nameOf(a.path, sign.names)) - sign.names.indexOf(nameOf(b.path, sign.names)) ||
        a.path.length - b.path.length,
    )
  return fitting[0] ?? null
}

/**
 * If the last field belongs to another thing (`company.name`), it is compared only with the name before it.
 */
function nameOf(path: FieldPath, names: readonly string[]): string {
  const plain = path.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ''))
  const last = plain.at(-1) ?? ''
  const two = `${plain.at(-2) ?? ''}.${last}`
  const isOfAnother =
    path.length > 1 &&
    !/^(attributes|fields|properties|data|node|doc|document|resource|item|values|payload|metadata|lead|record|custom|details|info|profile|meta|times|dates|timestamps|audit)$/.test(
      plain.at(-2) ?? '',
    )
  const candidates = isOfAnother ? [two, (plain.at(-2) ?? '') + last] : [two, last]
  return names.find((name) => candidates.includes(name)) ?? ''
}

function looksLike({ values, of }: Column, looks: FieldSign['looks']): boolean {
  const most = (test: (value: unknown) => boolean): boolean =>
    values.filter(test).length >= values.length * 0.9
  const distinct = new Set(values.map((value) => JSON.stringify(value))).size
  switch (looks) {
    case 'instant':
      return most((value) => toInstant(value) !== null && !isSmallNumber(value))
    case 'number':
      return most((value) => toNumber(value, hasDecimalComma(values) ? 'comma' : 'point') !== null)
    case 'email':
      return most((value) => typeof value === 'string' && /^[^@\s]+@[^@\s]+$/.test(value))
    case 'domain':
      return most(
        (value) => typeof value === 'string' && /^(https?:\/\/)?[\w-]+(\.[\w-]+)+(\/|$)/.test(value),
      )
    case 'currency':
      return most((value) => typeof value === 'string' && /^[A-Za-z]{3}$/.test(value))
    case 'list':
      return most((value) => Array.isArray(value) && value.every((item) => toText(item) !== null))
    case 'few':
      return (
        most((value) => toText(value) !== null) && distinct <= Math.min(STATUSES_MAX, Math.max(3, of / 2))
      )
    case 'text':
      return most((value) => toText(value) !== null)
  }
}

/** Null if the first or the last name is missing. */
function joinedName(columns: readonly Column[]): FoundField | null {
  const part = (names: readonly string[]): Column | undefined =>
    columns.find(({ path, values }) => {
      const last = (path.at(-1) ?? '').toLowerCase().replace(/[^a-z]/g, '')
      return names.includes(last) && values.some((value) => typeof value === 'string')
    })
  const first = part(FIRST_NAMES)
  const last = part(LAST_NAMES)
  if (first === undefined || last === undefined) return null
  return {
    field: 'contact_name',
    rule: { all: [pathText(first.path), pathText(last.path)], transform: 'join' },
    confidence: 'likely',
    evidence: `${countOf(first)}, in two parts`,
  }
}

/** `name` or `title` is a person's name if the records also have an e-mail address. */
function nameOfCompany(found: readonly FoundField[], columns: readonly Column[]): FoundField[] {
  const has = (field: FoundField['field']): boolean => found.some((each) => each.field === field)
  const bare = columns.find(
    ({ path, values }) => /^(name|title)$/i.test(path.at(-1) ?? '') && path.length <= 2 && values.length > 0,
  )
  if (bare === undefined || isConstant(bare) || has('company_name')) return [...found]
  const path = pathText(bare.path)
  const isPerson =
    has('contact_email') && found.some(({ field, rule }) => field === 'contact_name' && rule === path)
  if (isPerson) return [...found]
  const others = found.filter(({ field, rule }) => field !== 'contact_name' || rule !== path)
  return [...others, { field: 'company_name', rule: path, confidence: 'guessed', evidence: sampleOf(bare) }]
}

/** Values that are all the same show nothing, so only a very usual name is recognised. */
function isConstant({ values }: Column): boolean {
  return values.length > 1 && new Set(values.map((value) => JSON.stringify(value))).size === 1
}

function outcomeOf(status: string): FoundStage['outcome'] {
  return OUTCOME_WORDS.find(([, words]) => words.test(status))?.[0] ?? 'open'
}

/**
 * Returns a number that sorts statuses by their place in the funnel. An open status is ranked by a known word
 * in its name, such as "new" or "offer". Without a known word, it is in the middle. Closed statuses come
 * last.
 */
function funnelRank(status: string): number {
  const outcome = outcomeOf(status)
  if (outcome !== 'open') return 20 + ['won', 'lost', 'disqualified'].indexOf(outcome)
  const at = FUNNEL_WORDS.findIndex((words) => words.test(status))
  return at < 0 ? 5.5 : at
}

/** Returns whether a number is too small to be a time in seconds since 1970; it may be an age or a count. */
function isSmallNumber(value: unknown): boolean {
  return typeof value === 'number' && value < 500_000_000
}

function isDomain(value: unknown): boolean {
  return typeof value === 'string' && /^(?!www\.)[\w-]+(\.[\w-]+)+$/.test(value)
}

/** No value is quoted, because names of people do not belong in a settings file. */
export function countOf({ values, of }: Column): string {
  return `in ${values.length} of ${of} records`
}

export function sampleOf({ values, of }: Column): string {
  const text = JSON.stringify(values[0]) ?? ''
  const share = values.length === of ? '' : `, in ${values.length} of ${of}`
  return `${text.length > 40 ? `${text.slice(0, 39)}…` : text}${share}`
}

const NAMED_RECORDS_MIN = 10

export function pickId(records: readonly unknown[]): FieldPath | null {
  return listIds(records)[0] ?? null
}

/** Lists the fields that may be the id, the likeliest first. */
export function listIds(records: readonly unknown[]): FieldPath[] {
  return [...fieldsOf(records[0])]
    .map(({ path }) => ({ path, rank: rankOf(path), isName: isName(path) }))
    .filter(({ path }) => isUnique(records, path))
    .filter(({ path, rank }) => rank < Number.POSITIVE_INFINITY || mayBeId(records, path))
    .sort((a, b) => a.rank - b.rank || Number(b.isName) - Number(a.isName) || a.path.length - b.path.length)
    .map(({ path }) => path)
}

/** Returns whether the field is a name and not a real id. Two records may have the same name. */
export function isName(path: FieldPath): boolean {
  return path.length === 1 && RECORD_NAMES.includes(plainNameOf(path))
}

export function isUnique(records: readonly unknown[], path: FieldPath): boolean {
  const values = records.map((record) => toText(readPath(record, path)))
  return values.every((value) => value !== null) && new Set(values).size === values.length
}

function rankOf(path: FieldPath): number {
  const name = plainNameOf(path)
  const at = ID_NAMES.indexOf(name)
  // The id of something else inside the record, such as company.id, ranks after the record's own id.
  const depth = isOwnGroup(path) ? 0 : path.length - 1
  if (at >= 0) return at + depth * 20
  if (name.endsWith('id') || name.endsWith('uuid')) return 60 + depth
  const late = LATE_ID_NAMES.indexOf(name)
  return late < 0 ? Number.POSITIVE_INFINITY : 100 + late + depth * 20
}

function plainNameOf(path: FieldPath): string {
  return (path.at(-1) ?? '').toLowerCase().replace(/[^a-z]/g, '')
}

/** A single record shows nothing, because each of its values is unique. */
function mayBeId(records: readonly unknown[], path: FieldPath): boolean {
  if (isName(path)) return records.length >= NAMED_RECORDS_MIN
  return records.length > 1 && !looksLikeMeasure(records, path)
}

function isOwnGroup(path: FieldPath): boolean {
  return path.length <= 2 && /^(attributes|fields|properties|data|node)$/i.test(path[0] ?? '')
}

/** Times, amounts and long texts may differ in every record by chance, which does not show an id. */
function looksLikeMeasure(records: readonly unknown[], path: FieldPath): boolean {
  const values = records.map((record) => readPath(record, path))
  const text = pathText(path)
  return (
    /(at|date|time|amount|value|score|name|title|description|text|count|total|price)$/i.test(text) ||
    values.some(
      (value) => typeof value === 'string' && (value.length > 64 || /\s|^\d{4}-\d\d-\d\d/.test(value)),
    )
  )
}

/** Recognises the meaning of a record's fields by their names and values. All functions are pure. */
import type { LeadField } from '../domain/lead-fields.ts'
import type { StageOutcome } from '../domain/model.ts'
import { readText, toText } from '../upstream/profile/field-rule.ts'
import type { FieldPath } from '../upstream/values/json.ts'
import { fieldsOf, pathText, readPath } from '../upstream/values/json.ts'
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
import {
  type Column,
  columnsOf,
  fits,
  hasDecimalComma,
  isConstant,
  isInList,
  isOfUsers,
  shows,
} from './columns.ts'

/** A field rule, which says where a record contains a lead's field. It has the format of a profile. */
type RuleInput =
  | string
  | { all: string[]; transform: 'join' }
  | { from: string | string[]; transform: 'domain' }
  | { from: string | string[]; decimal?: 'comma' }

export interface FoundField {
  readonly field: LeadField['column']
  readonly rule: RuleInput
  readonly confidence: Confidence
  /** For personal data, it is only the number of records that have the field. */
  readonly evidence: string
}

/** Finds the fields of the records that leads need. The id is not among them, because `pickId` chooses it. */
export function findFields(records: readonly unknown[], id: FieldPath): FoundField[] {
  const columns = columnsOf(records).filter(
    ({ path, values }) => values.length > 0 && pathText(path) !== pathText(id),
  )
  const found: FoundField[] = []
  const taken = new Set<string>()
  for (const sign of LEAD_SIGNS) {
    const { column: field } = sign.field
    // A currency says nothing without its amount.
    if (field === 'value_currency' && !found.some((each) => each.field === 'value_amount')) continue
    const joined = field === 'contact_name' ? joinedName(columns) : null
    const best = joined === null ? bestColumn(columns, sign, taken) : null
    if (joined !== null) found.push(joined)
    if (best === null) continue
    const { column, isSure } = best
    taken.add(pathText(column.path))
    found.push({
      field,
      rule: ruleFor(column, sign),
      confidence: isSure ? 'likely' : 'guessed',
      evidence: 'isPersonal' in sign.field ? countOf(column) : sampleOf(column),
    })
  }
  return found
}

/** Says that a column is called so, although its values are not read; null if none is. */
export function unreadForm(records: readonly unknown[], name: FoundField['field']): string | null {
  const { names } = LEAD_SIGNS.find(({ field }) => field.column === name) ?? { names: [] }
  const found = columnsOf(records).find((each) => each.values.length > 0 && rankOfName(each, names) >= 0)
  return found ? `${pathText(found.path)} is in a form that is not read: ${sampleOf(found)}` : null
}

function ruleFor({ path, above, values }: Column, { looks }: FieldSign): RuleInput {
  const from = above === null ? pathText(path) : [pathText(path), above]
  if (looks === 'domain' && !isDomain(values[0])) return { from, transform: 'domain' }
  const isNumber = looks === 'number' || looks === 'amount'
  if (isNumber && hasDecimalComma(values)) return { from, decimal: 'comma' }
  return typeof from === 'string' ? from : { from }
}

/** The confidence is less if only the values decide, if they are all the same, or if few records have one. */
function bestColumn(
  columns: readonly Column[],
  { names, maybe, looks }: FieldSign,
  taken: ReadonlySet<string>,
): { column: Column; isSure: boolean } | null {
  // An email address is known by its look, whatever its name.
  const usual = looks === 'email' ? [...names, /./] : [...names, ...maybe]
  const candidates = columns
    .map((column) => ({ column, rank: rankOfName(column, usual) }))
    .filter(({ column, rank }) => rank >= 0 && !taken.has(pathText(column.path)))
    .filter(({ column }) => fits(column, looks, columns))
    .filter(({ column, rank }) => rank < names.length || shows(column, looks, columns))
    .filter(({ column }, _, all) => !all.some((each) => each.column.above === pathText(column.path)))
    .map((each) => ({ ...each, isSame: isConstant(each.column) }))
    .sort(
      (a, b) =>
        Number(isInList(a.column)) - Number(isInList(b.column)) ||
        Number(a.isSame) - Number(b.isSame) ||
        a.rank - b.rank ||
        Number(isOfLead(b.column)) - Number(isOfLead(a.column)) ||
        a.column.path.length - b.column.path.length,
    )
  const [best] = candidates
  if (best === undefined) return null
  const { column, rank, isSame } = best
  const isShown = rank < names.length || looks === 'job' || looks === 'person' || looks === 'region'
  return { column, isSure: isShown && !isSame && column.values.length >= column.of / 10 }
}

/** Returns the place of the field's name among the usual names; -1 if it is none of them. */
function rankOfName({ names }: Column, usual: readonly RegExp[]): number {
  return usual.findIndex((each) => names.some((name) => each.test(name)))
}

/** Returns whether a name says that it is the lead's, such as `lead_owner` beside an `owner` of the record. */
function isOfLead({ words }: Column): boolean {
  return /^(deal|lead|opp)/.test(words.at(-1) ?? '')
}

/** In the order of a usual funnel. The outcome of a status (such as won) is guessed from its words. */
export function findStages(records: readonly unknown[], from: FieldPath[]) {
  const statuses = new Set(records.flatMap((record) => readText(record, { from, transform: [] }) ?? []))
  return [...statuses]
    .sort((a, b) => funnelRank(a) - funnelRank(b))
    .map((status) => ({ status, outcome: outcomeOf(status) }))
}

/** Null if the first or the last name is missing. Both are names of the same person, who does not sell. */
function joinedName(columns: readonly Column[]): FoundField | null {
  const last = columns.find((column) => isNamed(column, LAST_NAMES) && !isOfUsers(column.words))
  const beside = columns.filter(({ path }) => last !== undefined && groupOf(path) === groupOf(last.path))
  const first =
    beside.find((column) => isNamed(column, FIRST_NAMES)) ??
    // A name of one word, beside the last name.
    beside.find(
      (column) => isNamed(column, ['name']) && !column.values.some((value) => /\s/.test(String(value))),
    )
  if (first === undefined || last === undefined) return null
  return {
    field: 'contact_name',
    rule: { all: [pathText(first.path), pathText(last.path)], transform: 'join' },
    confidence: 'likely',
    evidence: `${countOf(first)}, in two parts`,
  }
}

function isNamed({ words, values }: Column, names: readonly string[]): boolean {
  return names.includes(words.at(-1) ?? '') && values.some((value) => typeof value === 'string')
}

function groupOf(path: FieldPath): string {
  return pathText(path.slice(0, -1))
}

function outcomeOf(status: string): StageOutcome {
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

function isDomain(value: unknown): boolean {
  return typeof value === 'string' && /^(?!www\.)[\w-]+(\.[\w-]+)+$/.test(value)
}

/** No value is quoted, because names of people do not belong in a settings file. */
export function countOf({ values, of }: Pick<Column, 'values' | 'of'>): string {
  return `in ${values.length} of ${of} records`
}

export function sampleOf({ values, of }: Pick<Column, 'values' | 'of'>): string {
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
    .map(({ path }, at) => ({ path, rank: rankOf(records, path, at), isName: isName(path) }))
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

/** A first column of numbers or codes is one of the less promising ids, whatever its name. */
function rankOf(records: readonly unknown[], path: FieldPath, column: number): number {
  const name = plainNameOf(path)
  const at = ID_NAMES.indexOf(name)
  // The id of something else inside the record, such as company.id, ranks after the record's own id.
  const depth = isOwnGroup(path) ? 0 : path.length - 1
  if (at >= 0) return at + depth * 20
  if (name.endsWith('id') || name.endsWith('uuid')) return 60 + depth
  const late = LATE_ID_NAMES.indexOf(name)
  const isId = late >= 0 || (column === 0 && isCode(records, path))
  return isId ? 100 + Math.max(0, late) + depth * 20 : Number.POSITIVE_INFINITY
}

function isCode(all: readonly unknown[], path: FieldPath): boolean {
  return mayBeId(all, path) && all.every((each) => /^(?=\D*\d)[\w-]+$/.test(String(readPath(each, path))))
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

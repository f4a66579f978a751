/** The fields of many records as columns: what their names say, and what their values look like. */
import { toText } from '../upstream/profile/field-rule.ts'
import { type FieldPath, pathText, readPath, splitPath } from '../upstream/values/json.ts'
import { type DecimalSign, toInstant, toNumber } from '../upstream/values/scalar.ts'
import type { FieldSign } from './candidates.ts'

export interface Column {
  readonly path: FieldPath
  /** The path above, where other records have such a value themselves: `stage` beside `stage.name`. */
  readonly above: string | null
  /** The words of its path that say what it is, in lower-case letters: `contacts.0.email` is `contact`, `email`. */
  readonly words: readonly string[]
  /** The last two words as one, and what stays of them without words that say nothing: `leadowner` and `owner`. */
  readonly names: readonly string[]
  /** One value for each record. It is null if the record has none. */
  readonly cells: readonly unknown[]
  /** The values of the field in all records, except null and "". */
  readonly values: readonly unknown[]
  /** The number of all records, including those without the field. */
  readonly of: number
}

const isNumber = (cell: unknown) => toNumber(cell) !== null
const isScalar = (cell: unknown) => typeof cell !== 'boolean' && toText(cell) !== null

/** Returns a column for every path that occurs in the records. */
export function columnsOf(records: readonly unknown[]): Column[] {
  const paths = new Map<string, FieldPath>()
  for (const record of records) for (const path of pathsIn(record, [])) paths.set(pathText(path), path)
  const start = sharedStart([...paths.keys()])
  return [...paths].map(([text, path]) => {
    const words = wordsOf(splitPath(text.startsWith(start) ? text.slice(start.length) : text))
    const own = records.map((record) => readPath(record, path))
    const others = records.map((record) => readPath(record, path.slice(0, -1)))
    const isNumeric = own.some(isNumber)
    const isAlike = (cell: unknown) => isScalar(cell) && isNumber(cell) === isNumeric
    const isMixed = own.some(isScalar)
    const cells = own.map((cell, at) => cell ?? (isAlike(others[at]) ? others[at] : null))
    // Some upstreams write false where nothing is.
    const isFlag = cells.every((cell) => cell === null || cell === undefined || typeof cell === 'boolean')
    const isNothing = (cell: unknown) =>
      cell == null ||
      cell === '' ||
      (cell === false && !isFlag) ||
      (isMixed && Object(cell) === cell && !Array.isArray(cell))
    const known = cells.map((cell) => (isNothing(cell) ? null : cell))
    const values = known.filter((cell) => cell !== null)
    const names = [wordsOf(path), words].flatMap(namesOf)
    const above = others.some(isAlike) ? pathText(path.slice(0, -1)) : null
    return { path, above, words, names, cells: known, values, of: records.length }
  })
}

const SHARING_MIN = 5

/** Returns the start that most paths share, such as `contact.` or `person_`, which says nothing; "" if none does. */
function sharedStart(paths: readonly string[]): string {
  const starts = paths.flatMap((path) =>
    [...path.matchAll(/(?<=[._])|(?<=[a-z])(?=[A-Z])/g)].map(({ index }) => path.slice(0, index)),
  )
  const min = Math.max(SHARING_MIN, (paths.length * 2) / 3)
  const shared = [...Map.groupBy(starts, (start) => start)].filter(([, same]) => same.length >= min)
  return shared.map(([start]) => start).reduce((a, b) => (a.length > b.length ? a : b), '')
}

/** Words that a name may begin with, because the records are leads or people. */
const OF_LEADS = /^(hsanalytics|hs|deal|lead|opportunity|opp|customer|primary|person|prospect)+(?=.)/
/** A name that says whose it is, whatever the group around it. */
const CLEAR = /^(company|contact|organi[sz]ation|job|stage|pipeline)./
const OF_USERS = /owner|user|creat|updat|modif|assign|author/

function namesOf(words: readonly string[]): string[] {
  const name = words.slice(-2).join('')
  const last = words.at(-1) ?? ''
  const own = [name, name.replace(OF_LEADS, '')]
  return CLEAR.test(last) && !isOfUsers(words) ? [...own, last] : own
}

/** Returns whether a field is about people of ours, or about what they did. */
export function isOfUsers(words: readonly string[]): boolean {
  return OF_USERS.test(words.join(' '))
}

const DEPTH_MAX = 7

/**
 * Yields the paths of all values. Of a list of objects only the first is entered, or each by its name if it is a
 * list of named values; of a pair of id and name only the name; other lists are values.
 */
function* pathsIn(value: unknown, path: FieldPath): Generator<FieldPath> {
  if (typeof value !== 'object' || value === null || path.length >= DEPTH_MAX) {
    if (path.length > 0) yield path
    return
  }
  if (!Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value)) yield* pathsIn(inner, [...path, name])
    return
  }
  const [first] = value
  const at = path.at(-1) ?? ''
  const key = itemKey(value, at)
  if (isPair(value)) yield [...path, '1']
  else if (Object(first) !== first || Array.isArray(first)) yield at === 'values' ? [...path, '0'] : path
  else if (key === undefined) yield* pathsIn(first, [...path, '0'])
  else {
    for (const { [key]: name, ...rest } of value)
      if (!/[=[\]]/.test(name)) yield* pathsIn(rest, [...path.slice(0, -1), `${at}[${key}=${name}]`])
  }
}

/** Returns the key that names the items of a list, if each has a name and a value of its own. */
function itemKey(items: readonly unknown[], list: string): string | undefined {
  const keys = /custom|fields|attributes|properties/i.test(list) ? ['label', 'field', 'code', 'id'] : []
  const isNamed = (item: unknown, key: string) => typeof Reflect.get(Object(item), key) === 'string'
  const hasValue = (item: unknown) => 'value' in Object(item) || 'values' in Object(item)
  return ['name', 'key', ...keys].find((key) => items.every((item) => isNamed(item, key) && hasValue(item)))
}

/** Returns whether a list is the id and the name of another record, such as `[7, "Acme"]`. */
function isPair(list: readonly unknown[]): boolean {
  return list.length === 2 && typeof list[0] === 'number' && typeof list[1] === 'string'
}

/** Groups that only hold the fields of the record itself. */
const WRAPPERS =
  /^(attributes|fields|properties|data|node|docs?|documents?|resource|items?|values|payload|metadata|leads?|records?|custom|customfields?|details|info|profile|meta|times|dates|timestamps|audit)$/

/** Names of types, which hold the value of the property around them, as in Notion. */
const TYPES = /^(title|richtext|plaintext|select|number|start|people)$/

function wordsOf(path: FieldPath): string[] {
  const words: string[] = []
  for (const [at, name] of path.entries()) {
    const isLast = at === path.length - 1
    if (words.length > 0 && TYPES.test(plainWord(name)) && !(isLast && name === 'title')) continue
    const isInList = /^\d+$|\]$/.test(path[at - 1] ?? '')
    const custom = /\[\w+=(.*)\]$/.exec(name)?.[1]
    if (custom !== undefined) words.splice(0, words.length, plainWord(custom))
    else if (/^\d+$/.test(name)) {
      // The name in a pair of id and name: `stage_id.1` is the stage.
      if (isLast && name === '1') words.push(...words.splice(-1).map((word) => word.replace(/id$/, '')))
    } else if (isLast) {
      if (!(isInList && /^values?$/.test(name))) words.push(plainWord(name))
    } else if (!WRAPPERS.test(plainWord(name))) words.push(groupWord(name))
  }
  const [before = '', last = ''] = words.slice(-2)
  // Leaves out a word that the group says already: `email.email`, `Account_Name.name`, `company.company_name`.
  if (words.length < 2 || last === '') return words
  if (before.endsWith(last)) return words.slice(0, -1)
  return before !== '' && last.startsWith(before) ? words.toSpliced(-2, 1) : words
}

function plainWord(name: string): string {
  return name.replace(/[^a-z]|(?<=.)utc$/gi, '').toLowerCase()
}

/** Writes the name of a group as one thing: `contacts` is a contact, and `person_id` a person. */
function groupWord(name: string): string {
  const word = plainWord(name)
    .replace(/(id|list)$/, '')
    .replace(/ies$/, 'y')
  return word.replace(/(?<=ss)es$|(?<=[^sui])s$/, '')
}

/** Returns whether the field is in a list of objects, of which only the first is read. */
export function isInList({ path }: Column): boolean {
  return path.some((name, at) => name === '0' && at < path.length - 1)
}

/** Values that are all the same show nothing, so only a very usual name is recognised. */
export function isConstant({ values }: Column): boolean {
  return values.length > 1 && distinctIn(values) === 1
}

function distinctIn(values: readonly unknown[]): number {
  return new Set(values.map((value) => JSON.stringify(value))).size
}

const STATUSES_MAX = 30

type Look = FieldSign['looks']

/** Returns whether the values can be what a name says. */
export function fits(column: Column, look: Look, columns: readonly Column[]): boolean {
  const { values, of } = column
  const most = (test: (value: unknown) => boolean) => share(values, test) >= 0.9
  const isTextual = () => most((value) => toText(value) !== null)
  switch (look) {
    case 'instant':
      // A smaller number of seconds since 1970 may be an age or a count.
      return most((value) => toInstant(value) !== null && !(Number(value) < 500_000_000))
    case 'number':
    case 'amount':
      return most((value) => toNumber(value, hasDecimalComma(values) ? 'comma' : 'point') !== null)
    case 'headcount':
      // Smaller numbers alone stand for sizes, such as 3 for "51 to 200".
      return fits(column, 'number', columns) && values.some((value) => toText(value)?.length !== 1)
    case 'email':
      return most(isEmail)
    case 'domain':
      // Addresses of one host are pages about the records, and not the sites of companies.
      return most((value) => hostIn(value) !== null) && (values.length < 3 || areMany(values.map(hostIn)))
    case 'currency':
      return most((value) => typeof value === 'string' && /^[A-Za-z]{3}$/.test(value))
    case 'list':
      return most(Array.isArray) && values.flat().some((item) => toText(item) !== null)
    case 'few':
      return isTextual() && distinctIn(values) <= Math.min(STATUSES_MAX, Math.max(3, of / 2))
    case 'stage':
      return fits(column, 'few', columns) && !isGeographic(column, columns)
    case 'company':
    case 'person':
    case 'job':
    case 'region':
      return isTextual() && !most((value) => CODE.test(String(value)))
    case 'text':
      return isTextual()
  }
}

/** Returns whether the values themselves show it, whatever the name. */
export function shows(column: Column, look: Look, columns: readonly Column[]): boolean {
  switch (look) {
    case 'job':
      return share(column.values, isJob) >= JOBS_SHARE
    case 'person':
      return isOfPersons(column, columns)
    case 'company':
      return (
        areMany(column.values) && share(column.values, isJob) < JOBS_SHARE && !isOfPersons(column, columns)
      )
    case 'region':
      return isGeographic(column, columns)
    case 'amount':
      return isOfDeals(columns)
    case 'few':
      return !isConstant(column) && column.values.length >= column.of * 0.8
    case 'email':
      return isOfContacts(column)
    case 'currency':
      return true
    default:
      return !isConstant(column)
  }
}

function share(values: readonly unknown[], test: (value: unknown) => boolean): number {
  return values.length === 0 ? 0 : values.filter(test).length / values.length
}

function isEmail(value: unknown): boolean {
  return typeof value === 'string' && /^[^@\s]+@[^@\s]+$/.test(value)
}

/** Returns the host of an address or of an email address, without `www.`; null if there is none. */
function hostIn(address: unknown): string | null {
  const [, host] =
    /^(?:https?:\/\/|[^@\s/]+@)?(?:www\.)?([\w-]+(?:\.[\w-]+)+)(?:[/?:]|$)/.exec(String(address)) ?? []
  return host?.toLowerCase() ?? null
}

/** Returns whether so many values differ that they are names, and no categories. */
function areMany(values: readonly unknown[]): boolean {
  return distinctIn(values) > Math.min(values.length / 3, 10)
}

/** Matches a number or a UUID, which stands for another record. */
const CODE = /^(\d+|[\da-f]{8}-[\da-f-]{27})$/i

/** Returns whether a value is a number with a decimal comma alone, and none is one with a decimal point alone. */
export function hasDecimalComma(values: readonly unknown[]): boolean {
  const isOnly = (one: DecimalSign, other: DecimalSign) =>
    values.some((value) => toNumber(value, one) !== null && toNumber(value, other) === null)
  return isOnly('comma', 'point') && !isOnly('point', 'comma')
}

/** At least this share of the titles in a list have a usual word of a job. */
const JOBS_SHARE = 0.3
const JOB =
  /\b(manager|director|chief|head of|officer|c[efimot]o|[es]?vp|president|founder|engineer|developer|consultant|analyst|accountant|assistant|buyer|purchas\w*|procurement|representative|leiter\w*|geschäftsführer\w*|directeur|gerente|responsable)\b|^(owner|partner|agent|sales|marketing)$/i

function isJob(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 60 && JOB.test(value)
}

const PERSON =
  /^[\p{Lu}\p{Lo}][\p{L}'’.-]*(?: (?:(?:de|da|del|la|van|von|der|bin|al) )*[\p{Lu}\p{Lo}][\p{L}'’.-]*){1,3}$/u
const COMPANY =
  /[&,\d]|\b(inc|ltd|llc|gmbh|corp|corporation|co|company|group|holding|bank|university|college|school|systems|solutions|technologies|software|services|industries|partners)\b/i

/** Judges by the form of names, and by the addresses beside them, whose hosts are named after companies. */
function isOfPersons({ cells, values }: Column, columns: readonly Column[]): boolean {
  const emails = columns.filter(isOfContacts)
  const sites = columns.filter(
    ({ words, values: own }) => /(site|domain|url)$/.test(words.at(-1) ?? '') && own.every(hostIn),
  )
  if ([...sites, ...emails].some((column) => shareInside(cells, column.cells, hostIn) >= 0.3)) return false
  if (emails.some((column) => shareInside(cells, column.cells, localPart) >= 0.5)) return true
  return share(values, (value) => PERSON.test(String(value)) && !COMPANY.test(String(value))) >= 0.8
}

/** Returns whether a column has an email address in most records, each another, and not those of sellers or tools. */
function isOfContacts({ words, values, of }: Column): boolean {
  return (
    values.length >= of / 2 &&
    distinctIn(values) > values.length / 2 &&
    share(values, isEmail) >= 0.9 &&
    !isOfUsers(words) &&
    !/cc|dropbox|reply|second/.test(words.join(' '))
  )
}

function localPart(email: unknown): string | null {
  return /^[^@]+(?=@)/.exec(String(email))?.[0] ?? null
}

/** Returns the share of names of which a word is in the address of the same record, and not in that of the next. */
function shareInside(
  names: readonly unknown[],
  addresses: readonly unknown[],
  part: (address: unknown) => string | null,
): number {
  const parts = addresses.map((address) => part(address)?.toLowerCase())
  const pairs = names.flatMap((name, at) => {
    const own = parts[at]
    const next = parts[(at + 1) % parts.length] ?? ''
    return typeof name === 'string' && own !== undefined ? [{ words: wordsIn(name), own, next }] : []
  })
  const inside = pairs.filter(({ words, own, next }) =>
    words.some((word) => own.includes(word) && !next.includes(word)),
  )
  return pairs.length === 0 ? 0 : inside.length / pairs.length
}

/** Returns the longer words of a name without accents: `Chloé L. Laurent` as `chloe` and `laurent`. */
function wordsIn(name: string): string[] {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^a-z0-9]+/).filter((word) => word.length >= 3)
}

const ADDRESS = /(city|town|country|countrycode|countryid|zip|zipcode|postalcode|postcode|street)$/

/** Returns whether a state or the like stands beside another part of an address, such as a city. */
function isGeographic({ path, words }: Column, columns: readonly Column[]): boolean {
  if (!/^(state|region|province)/.test(words.at(-1) ?? '')) return false
  const group = (of: FieldPath) => pathText(of.filter((name) => !/^\d+$/.test(name)).slice(0, -1))
  const beside = columns.filter((other) => group(other.path) === group(path))
  return beside.some((other) => ADDRESS.test(other.words.at(-1) ?? ''))
}

/** Returns whether the records are deals, and a sum of money is what they are worth. */
function isOfDeals(columns: readonly Column[]): boolean {
  const names = columns.filter(({ words }) => words.length === 1).map(({ words: [name = ''] }) => name)
  const has = (word: RegExp) => names.some((name) => word.test(name))
  return has(/close|probability|stage|currency/) && !has(/employee|headcount|industry/)
}

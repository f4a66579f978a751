/**
 * Proposes a column for each field of the records that the mapping does not read, as lines that a user takes out
 * of comments. Lists of objects are entered too: by the name of each item, or else into the first item.
 */
import { type DeclaredType, TAKEN_NAMES } from '../domain/declared-fields.ts'
import { toText } from '../upstream/profile/field-rule.ts'
import { type FieldPath, pathText } from '../upstream/values/json.ts'
import { toInstant } from '../upstream/values/scalar.ts'
import { columnsOf } from './columns.ts'
import { countOf, sampleOf } from './field-probe.ts'

const PROPOSALS_MAX = 300

/**
 * @param read the paths that the mapping reads, as text
 * @returns such as `deal_size: { from: custom.Deal Size, type: number } # 1200, in 80 of 100`; personal data
 *   without an example
 */
export function proposeFields(records: readonly unknown[], read: ReadonlySet<string>): string[] {
  const columns = columnsOf(records).filter(
    ({ path, values }) => values.flat().some((value) => Object(value) !== value) && !read.has(pathText(path)),
  )
  const names = new Set<string>(TAKEN_NAMES)
  return columns.slice(0, PROPOSALS_MAX).map((column) => {
    const { path, values } = column
    const name = freeName(fieldNameOf(path), names)
    names.add(name)
    const isPersonal = PERSONAL.test(pathText(path)) || values.some(looksPersonal)
    const rule = `from: ${quotedPath(path)}, type: ${typeOf(values)}${isPersonal ? ', personal: true' : ''}`
    const evidence = isPersonal ? countOf(column) : sampleOf(column)
    return `${name}: { ${rule} } # ${evidence.replace(/\s+/g, ' ')}`
  })
}

/** Groups that say nothing about what is in them. */
const CONTAINERS =
  /^(\d+|custom_?(fields?|attributes|properties)?|attributes|properties|fields|data|values?|record|additional|extra|meta(data)?)$/

/** `customFields.Deal Size` becomes `deal_size`, `contacts.0.email` `contacts_email`. */
export function fieldNameOf(path: FieldPath): string {
  const words = path.map((step) =>
    step
      .replace(/^.*\[[^[\]=]+=([^\]]*)\]$/, '$1')
      .replace(/\[\d+\]$/, '')
      .replace(/([a-z\d])([A-Z])/g, '$1_$2')
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, ''),
  )
  const telling = words.filter((word) => word !== '' && !CONTAINERS.test(word))
  const name = (telling.length > 0 ? telling : words).filter((word) => word !== '').join('_')
  return (/^[a-z]/.test(name) ? name : `field_${name}`).slice(0, 50).replace(/(?<!_)_+$/, '')
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  for (let number = 2; ; number++) if (!taken.has(`${name}_${number}`)) return `${name}_${number}`
}

function typeOf(values: readonly unknown[]): DeclaredType {
  const are = (test: (value: unknown) => boolean): boolean => values.every(test)
  if (are((value) => typeof value === 'boolean')) return 'boolean'
  if (are(Number.isSafeInteger)) return 'integer'
  if (are(Number.isFinite)) return 'number'
  if (are((value) => typeof value === 'object')) return 'json'
  const isWritten = (value: unknown) => typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
  if (!are((value) => isWritten(value) && toInstant(value) !== null)) return 'text'
  return are((value) => String(value).length === '2026-11-20'.length) ? 'date' : 'time'
}

const PERSONAL =
  /mail|phone|mobile|fax|(first|last|full|given|family|nick|middle|sur|user|display|contact|person|owner)[ _-]?name|person|contact|owner|street|address|zip|postal|birth|gender|salutation|linkedin|twitter|facebook|skype|avatar|photo|note|comment|description|message|body|(^|[._])name$/i

function looksPersonal(value: unknown): boolean {
  const text = toText(value) ?? ''
  return (
    /\S@\S/.test(text) ||
    (/^\+?\d[\d ()/.-]{7,}\d$/.test(text) && typeof value === 'string' && toInstant(value) === null)
  )
}

function quotedPath(path: FieldPath): string {
  const text = pathText(path)
  return /^[A-Za-z_][\w.-]*( [\w.-]+)*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text)
}

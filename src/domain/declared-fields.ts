/**
 * The fields of the upstream's records that a profile declares under `fields`, beside the columns of
 * `LEAD_FIELDS`. Each becomes a typed column of the snapshot under its own stable name.
 */
import { LEAD_FIELDS } from './lead-fields.ts'

export const FIELD_TYPES = ['text', 'number', 'integer', 'boolean', 'time', 'date', 'json'] as const
export type DeclaredType = (typeof FIELD_TYPES)[number]

export interface DeclaredField {
  readonly name: string
  readonly type: DeclaredType
  /** Null if the profile gives none. */
  readonly meaning: string | null
  readonly isPersonal: boolean
  /** Tells whether each change of the value is kept. */
  readonly hasHistory: boolean
}

/** A time is RFC 3339 in UTC, a date YYYY-MM-DD, a boolean 1 or 0, and JSON is a text. */
export type FieldCell = string | number | null

/** The values of a record. `cells` are in the order of `fields`. */
export interface FieldValues {
  readonly fields: readonly DeclaredField[]
  readonly cells: readonly FieldCell[]
  /** The places in `fields` of the values that do not fit their type. Their cells are null. */
  readonly unfit: readonly number[]
}

/** The values of some fields, by the id of each lead. The cells are in the order of `columns`. */
export interface FieldTable {
  readonly columns: readonly Pick<DeclaredField, 'name' | 'type'>[]
  readonly rows: readonly (readonly [leadId: string, cells: readonly FieldCell[]])[]
}

/** A name that SQL takes without quotes, unless it is a word of SQL. */
export const FIELD_NAME = /^[a-z][a-z0-9_]{0,62}$/

/** The names that a declared field cannot have, because leads have such columns, or filters such a part. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set([
  ...LEAD_FIELDS.map(({ column }) => column),
  ...['no', 'lead_no', 'lead_id', 'first_seen_at', 'observed_at', 'deleted_at', 'run_id', 'raw'],
  ...['derived_version', 'pipeline_name', 'outcome', 'closed_at', 'pipelines'],
])

/** How a filter asks for a declared field: by texts, or by bounds; null for what no filter asks for. */
export function filterKindOf(type: DeclaredType): 'text' | 'number' | null {
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'text' || type === 'boolean' ? 'text' : null
}

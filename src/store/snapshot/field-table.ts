/** Makes the table `lead_field` of a snapshot: a typed column for each field that the profile declares. */
import type Database from 'better-sqlite3'
import type { DeclaredType } from '../../domain/declared-fields.ts'
import { quoted } from '../schema/describe.ts'

interface Field {
  readonly place: number
  readonly name: string
  readonly type: DeclaredType
  readonly meaning: string | null
  readonly is_personal: number
}

const TYPES: Readonly<
  Record<DeclaredType, { readonly column: 'TEXT' | 'REAL' | 'INTEGER'; readonly note: string }>
> = {
  text: { column: 'TEXT', note: '' },
  number: { column: 'REAL', note: '' },
  integer: { column: 'INTEGER', note: '' },
  boolean: { column: 'INTEGER', note: '1: yes, 0: no' },
  time: { column: 'TEXT', note: 'UTC' },
  date: { column: 'TEXT', note: 'date, such as 2026-11-20' },
  json: { column: 'TEXT', note: 'JSON' },
}

/** Returns the names of the columns. Without declared fields no table is made. */
export function makeFieldTable(database: Database.Database): string[] {
  const fields = database
    .prepare<[], Field>(
      'SELECT place, name, type, meaning, is_personal FROM live.declared_field WHERE position IS NOT NULL ORDER BY position',
    )
    .all()
  if (fields.length === 0) return []
  const columns = fields.map(
    (field) => `${quoted(field.name)} ${TYPES[field.type].column}, -- ${meaningOf(field)}`,
  )
  database.exec(`CREATE TABLE lead_field ( -- one row per lead: the fields that the profile declares, which lead_now has too
    ${columns.join('\n    ')}
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no)
  ) STRICT`)
  const cells = fields.map(({ place }) => `cells ->> ${place}`)
  database.exec(`INSERT INTO main.lead_field SELECT ${cells.join()}, lead_no FROM live.lead_values`)
  return fields.map(({ name }) => name)
}

function meaningOf({ type, meaning, is_personal }: Field): string {
  const parts = [
    meaning ?? 'field of the records',
    TYPES[type].note,
    is_personal === 1 ? 'personal data' : '',
  ]
  return parts.filter((part) => part !== '').join('; ')
}

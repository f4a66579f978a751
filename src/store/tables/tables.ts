/**
 * The types of the tables, for Kysely. TypeScript derives them from the CREATE TABLE statements themselves, so a
 * column is written in one place only. Each column has its own line there, which begins with its name and type.
 */
import type { Generated, GeneratedAlways, Selectable } from 'kysely'
import type { LeadColumns, LeadField } from '../../domain/lead-fields.ts'
import type { EVENTS } from './events.ts'
import type { INSIGHT } from './insight.ts'
import type { LEADS } from './leads.ts'
import type { OPERATION } from './operation.ts'
import type { PIPELINES } from './pipelines.ts'
import type { REPORTS } from './reports-and-outbox.ts'
import type { SYNC } from './sync.ts'

type Statement = (
  | typeof EVENTS
  | typeof INSIGHT
  | typeof LEADS
  | typeof OPERATION
  | typeof PIPELINES
  | typeof REPORTS
  | typeof SYNC
)[number]

type NameOf<S> = S extends `CREATE TABLE ${infer Name} (${string}` ? Name : never

/** The lines of a statement. The lines that come from `LEAD_FIELDS` are only known to be a `string`. */
type LinesOf<S, Before = never> = S extends `${infer Line}\n    ${infer Rest}`
  ? LinesOf<Rest, Before | (string extends Line ? never : Line)>
  : Before | S

type ColumnName<Line> = Line extends `${infer Name} ${string}`
  ? Name extends 'CREATE' | 'PRIMARY' | 'FOREIGN' | 'UNIQUE' | ''
    ? never
    : Name
  : never

type Choice<List> = List extends `${infer First}', '${infer Rest}` ? First | Choice<Rest> : List

/** The type of a column that is never null. A CHECK with a list of texts allows these texts only. */
type Value<Sql> = Sql extends `${string} IN ('${infer List}'))${string}`
  ? Choice<List>
  : Sql extends `${string} TEXT${string}`
    ? string
    : Sql extends `${string} BLOB${string}`
      ? Uint8Array
      : number

type Nullable<Sql> = Sql extends `${string} ${'NOT NULL' | 'PRIMARY KEY'}${string}`
  ? Value<Sql>
  : Value<Sql> | null

/** The type of a column. Its SQL ends where its comment begins. */
type Column<
  Line,
  Sql = Line extends `${infer Before} -- ${string}` ? Before : Line,
> = Sql extends `${string} GENERATED ALWAYS${string}`
  ? GeneratedAlways<Nullable<Sql>>
  : Sql extends `${string} ${'DEFAULT' | 'INTEGER PRIMARY KEY'}${string}`
    ? Generated<Nullable<Sql>>
    : Nullable<Sql>

type Created = {
  [S in Statement as NameOf<S>]: { [Line in LinesOf<S> as ColumnName<Line>]: Column<Line> }
}

/** The columns of the tracked fields: if one of them changes, the lead gets a new version. */
export type TrackedColumn = Extract<LeadField, { hasHistory: true }>['column']

/** The columns that the schema takes from `LEAD_FIELDS`. */
interface OfFields {
  lead: LeadColumns
  lead_history: Pick<LeadColumns, TrackedColumn>
}

type Stored = {
  [T in keyof Created]: T extends keyof OfFields ? Created[T] & OfFields[T] : Created[T]
}

export interface Tables extends Stored {
  /** The view of the versions of all leads. `lead_history` has no version of a lead that never changed. */
  lead_version: Omit<Stored['lead_history'], 'reached'>
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>

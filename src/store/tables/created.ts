/**
 * Derives the types of tables, for Kysely, from their CREATE TABLE statements. Each column has its own line there,
 * which begins with its name and type, and may end with a comment.
 */
import type { Generated, GeneratedAlways } from 'kysely'

/** The tables that the statements create, by name. */
export type Created<Statement> = {
  [S in Statement as NameOf<S>]: { [Line in LinesOf<S> as ColumnName<Line>]: Column<Line> }
}

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

/**
 * The types of the tables, for Kysely. TypeScript derives them from the CREATE TABLE statements themselves, so a
 * column is written in one place only.
 */
import type { Selectable } from 'kysely'
import type { LeadColumns, LeadField } from '../../domain/lead-fields.ts'
import type { Created } from './created.ts'
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

/** The columns of the tracked fields: if one of them changes, the lead gets a new version. */
export type TrackedColumn = Extract<LeadField, { hasHistory: true }>['column']

/** The columns that the schema takes from `LEAD_FIELDS`. */
interface OfFields {
  lead: LeadColumns
  lead_history: Pick<LeadColumns, TrackedColumn>
}

type Plain = Created<Statement>

type Stored = {
  [T in keyof Plain]: T extends keyof OfFields ? Plain[T] & OfFields[T] : Plain[T]
}

export interface Tables extends Stored {
  /** The view of the versions of all leads. `lead_history` has no version of a lead that never changed. */
  lead_version: Omit<Stored['lead_history'], 'reached'>
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>

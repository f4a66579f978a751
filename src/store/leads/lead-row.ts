/** The row of a lead, and in what it differs from the one that is stored. */
import { LEAD_FIELDS, type LeadColumns } from '../../domain/lead-fields.ts'
import type { Lead } from '../../model.ts'
import type { Observation } from '../db/store.ts'
import type { LeadTable } from '../tables/tables.ts'

/** Columns that say when and by which run a row was read, not what the lead is. */
const OF_READING = new Set(['first_seen_at', 'observed_at', 'run_id'])

/** Columns that stay as they were first written. */
const LASTING = new Set(['no', 'id', 'first_seen_at'])

/** Columns that hold a value of the lead as it is. `EMPTY` has them all, so that a row is made as quickly as if each were written out. */
const OWN = LEAD_FIELDS.filter(({ type }) => type !== 'instant').map(({ name, column, type }) => ({
  name,
  column,
  isList: type === 'list',
}))
const EMPTY = Object.fromEntries(OWN.map(({ column }) => [column, null])) as unknown as LeadColumns

export type StoredLead = LeadTable & { raw: string }

export interface LeadRow {
  readonly lead: LeadTable
  readonly raw: string
}

/** @param before what is stored of it; undefined where it is new */
export function rowOf(no: number, lead: Lead, before: StoredLead | undefined, seen: Observation): LeadRow {
  const updatedAt = lead.updatedAt ?? (before?.raw === lead.raw ? before.updated_at : seen.at)
  const hasSameStatus = before !== undefined && before.status === lead.status
  const row: LeadTable = {
    ...EMPTY,
    no,
    created_at: lead.createdAt ?? before?.created_at ?? seen.at,
    updated_at: updatedAt,
    status_changed_at: lead.statusChangedAt ?? (hasSameStatus ? before.status_changed_at : updatedAt),
    first_seen_at: seen.at,
    observed_at: seen.at,
    deleted_at: null,
    run_id: seen.runId,
  }
  const columns = row as unknown as Record<string, unknown>
  for (const { name, column, isList } of OWN)
    columns[column] = isList ? JSON.stringify(lead[name]) : lead[name]
  return { lead: row, raw: lead.raw }
}

/** Where nothing else is written, no index is touched that has only the others. */
export function changedColumns(before: LeadTable, row: LeadTable): string[] {
  const columns = Object.entries(row).filter(([column, value]) => Reflect.get(before, column) !== value)
  return columns.map(([column]) => column).filter((column) => !LASTING.has(column))
}

/** Whether a record says of the lead what is stored, however it is written down. */
export function saysTheSame(before: StoredLead, lead: Lead, seen: Observation): boolean {
  const { lead: row } = rowOf(before.no, datedAs(before, lead), before, seen)
  return changedColumns(before, row).every((column) => OF_READING.has(column) || column === 'deleted_at')
}

/** Not as one that is new where the upstream does not date it. */
export function datedAs(before: StoredLead, lead: Lead): Lead {
  return { ...lead, updatedAt: lead.updatedAt ?? before.updated_at }
}

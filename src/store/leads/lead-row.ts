/** Builds the row of a lead from a record of the upstream, and compares this row with the stored row. */
import { isDeepStrictEqual } from 'node:util'
import { LEAD_FIELDS, type LeadColumns } from '../../domain/lead-fields.ts'
import type { Instant, Lead } from '../../domain/model.ts'
import { isOfEvent, type Observation } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

/** The columns that say how a lead was read and stored. They contain nothing about the lead itself. */
const OF_READING = new Set(['first_seen_at', 'observed_at', 'run_id', 'derived_version'])

/** The columns that keep the value of the first write. */
const LASTING = new Set(['no', 'id', 'first_seen_at'])

const OWN = LEAD_FIELDS.filter((field) => field.type !== 'instant' || 'isPlanned' in field).map(
  ({ name, column, type }) => ({ name, column, isList: type === 'list' }),
)
/** A row in which all columns of `OWN` are null, because copying it is faster than adding columns. */
const EMPTY = Object.fromEntries(OWN.map(({ column }) => [column, null])) as unknown as LeadColumns

export type StoredLead = Row<'lead'> & { raw: string; cells: string | null; unfit: string | null }

export interface LeadRow {
  readonly lead: Row<'lead'>
  readonly raw: string
}

export function isOlder(before: StoredLead, lead: Lead): boolean {
  if (before.raw === lead.raw || lead.updatedAt === null) return false
  return before.updated_at > lead.updatedAt && !isCutToSecond(lead.updatedAt, before.updated_at)
}

/** An upstream may give milliseconds in its events and whole seconds in its list. */
export function isCutToSecond(time: Instant, exact: Instant): boolean {
  return time < exact && time === `${exact.slice(0, 19)}.000Z`
}

export function isStored(before: StoredLead, lead: Lead, observed: Observation, isRemap: boolean): boolean {
  if (before.raw !== lead.raw) return false
  if (!isRemap) return true
  return saysTheSame(before, lead, observed)
}

/**
 * Tells whether a record and the stored record have the same values in different formats, such as other names
 * first. Fields that the profile does not map count only for a lead without a time of update, because only
 * they may tell that it changed. They never count if one of the records comes from an event, because the
 * upstream may send other fields there than in the list.
 */
export function isInOtherForm(before: StoredLead, lead: Lead, observed: Observation): boolean {
  if (before.raw === lead.raw || !saysTheSame(before, lead, observed)) return false
  if (isOfEvent(before.run_id) || isOfEvent(observed.runId)) return true
  // A list gives its times always with the same precision, so another time is another state.
  if (lead.updatedAt !== null) return lead.updatedAt === before.updated_at
  return isDeepStrictEqual(JSON.parse(before.raw), JSON.parse(lead.raw))
}

/** The only version of a lead with `isDerived` is not stored, because the view `lead_version` derives it. */
export function rowOf(
  no: number,
  lead: Lead,
  before: StoredLead | undefined,
  observed: Observation,
  isDerived = false,
): LeadRow {
  const updatedAt = lead.updatedAt ?? (before?.raw === lead.raw ? before.updated_at : observed.at)
  const hasSameStatus = before !== undefined && before.status === lead.status
  const row: Row<'lead'> = {
    ...EMPTY,
    no,
    created_at: lead.createdAt ?? before?.created_at ?? observed.at,
    updated_at: updatedAt,
    status_changed_at: lead.statusChangedAt ?? (hasSameStatus ? before.status_changed_at : updatedAt),
    first_seen_at: observed.at,
    observed_at: observed.at,
    deleted_at: null,
    run_id: observed.runId,
    derived_version: isDerived ? Number(lead.statusChangedAt !== null) : null,
  }
  const columns = row as unknown as Record<string, unknown>
  for (const { name, column, isList } of OWN)
    columns[column] = isList ? JSON.stringify(lead[name]) : lead[name]
  return { lead: row, raw: lead.raw }
}

/** Lists the columns to write: only changed ones, so that indexes on other columns are not written. */
export function changedColumns(before: Row<'lead'>, row: Row<'lead'>): string[] {
  const columns = Object.keys(row).filter(
    (column) => Reflect.get(before, column) !== Reflect.get(row, column),
  )
  return columns.filter((column) => !LASTING.has(column))
}

function saysTheSame(before: StoredLead, lead: Lead, observed: Observation): boolean {
  const { lead: row } = rowOf(before.no, datedAs(before, lead), before, observed)
  return changedColumns(before, row).every((column) => OF_READING.has(column) || column === 'deleted_at')
}

/** Keeps the stored time of update if the lead has none or the same with another precision. */
export function datedAs(before: StoredLead, lead: Lead): Lead {
  const { updatedAt: at } = lead
  const { updated_at: stored } = before
  const isSame = at === null || isCutToSecond(at, stored) || isCutToSecond(stored, at)
  return isSame ? { ...lead, updatedAt: stored } : lead
}

/** Stores the last read state of each lead. Of a page, only the differences are written. */
import { sql } from 'kysely'
import type { Instant, Lead } from '../../domain/model.ts'
import { insertRows, listOf, numbersOf, textsIn } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import { type Db, isOfEvent, type Observation, type Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'
import {
  createEncoder,
  type EncodeFields,
  listFields,
  type StoredField,
  saveFieldChanges,
  type ValueChange,
} from './declared-fields.ts'
import { withLeadDays } from './lead-day.ts'
import {
  changedColumns,
  datedAs,
  isInOtherForm,
  isOlder,
  isStored,
  type LeadRow,
  rowOf,
  type StoredLead,
} from './lead-row.ts'
import {
  type Arrivals,
  canDerive,
  derivedVersion,
  saveHistory,
  storeDerivedVersions,
} from './lead-version.ts'
import { setReached } from './reached.ts'

const NO_ARRIVALS: Arrivals = { underivable: [], present: [], older: [], returned: [], derived: new Map() }

export interface SavedLead {
  readonly no: number
  readonly lead: Lead
  readonly change: 'inserted' | 'updated' | 'unchanged'
  /** An older record did not replace the stored one. */
  readonly isOlderRecord: boolean
}

/**
 * How a record replaces the stored one. `newer`: unless it is older, or the same. `remap`: the mapping has
 * changed, so all columns are compared, even if the same record is already stored. `list`: even if it is
 * older, because a complete full scan has found no other record of the lead.
 */
type MergeRule = 'newer' | 'remap' | 'list'

/** Saves each lead once. An older record changes no row, and the mark of a deleted lead that exists again is removed. */
export async function saveLeads(
  trx: Trx,
  leads: readonly Lead[],
  observed: Observation,
  rule: MergeRule = 'newer',
): Promise<SavedLead[]> {
  if (leads.length === 0) return []
  const { newest, older } = newestById(leads)
  const ids = [...newest.keys()]
  const { rows: found } = await selectStored(trx, { ids: JSON.stringify(ids) })
  const stored = new Map<string, StoredLead>(found.map((row) => [row.id, row]))
  const fields = await fieldsFor(trx, leads)
  const encode = createEncoder(fields)
  const values: Row<'lead_values'>[] = []
  const valueChanges: ValueChange[] = []
  const saved: SavedLead[] = []
  const rows: LeadRow[] = []
  const otherForms: { readonly lead_no: number; readonly raw: string }[] = []
  const arrived = { underivable: [] as Lead[], present: [] as Lead[], older, returned: [] as string[] }

  const inserted = [...newest.values()].filter((lead) => !stored.has(lead.id))
  const hasOlder = new Set(older.map(({ id }) => id))
  for (const { no, lead } of await numbered(trx, inserted)) {
    saved.push({ no, lead, change: 'inserted', isOlderRecord: false })
    const isDerived = canDerive(lead, observed) && !hasOlder.has(lead.id)
    rows.push(rowOf(no, lead, undefined, observed, isDerived))
    values.push(...valuesOf(no, lead, encode))
    if (!isDerived) arrived.underivable.push(lead)
  }
  for (const lead of newest.values()) {
    const before = stored.get(lead.id)
    if (before === undefined) continue
    const isOlderRecord = rule !== 'list' && isOlder(before, lead)
    const [own] = isOlderRecord ? [] : valuesOf(before.no, lead, encode)
    const hasSameValues = own === undefined || (own.cells === before.cells && own.unfit === before.unfit)
    const isOtherForm = !isOlderRecord && hasSameValues && isInOtherForm(before, lead, observed)
    const isSettled =
      before.deleted_at === null &&
      (isOlderRecord || isOtherForm || (hasSameValues && isStored(before, lead, observed, rule === 'remap')))
    saved.push({ no: before.no, lead, change: isSettled ? 'unchanged' : 'updated', isOlderRecord })
    if (isOlderRecord) arrived.older.push(lead)
    if (before.deleted_at !== null) arrived.returned.push(lead.id)
    // A record from the list replaces a record from an event, even if only their forms differ.
    const isRewritten = isSettled && isOtherForm && !isOfEvent(observed.runId)
    if (isRewritten && !isOfEvent(before.run_id)) {
      otherForms.push({ lead_no: before.no, raw: lead.raw })
      continue
    }
    if ((isSettled && !isRewritten) || isOlderRecord) continue
    rows.push(rowOf(before.no, isRewritten ? datedAs(before, lead) : lead, before, observed))
    if (!isRewritten) arrived.present.push(lead)
    if (own === undefined || hasSameValues) continue
    values.push(own)
    if (before.cells !== null && before.raw !== lead.raw)
      valueChanges.push({ lead, updatedAt: before.updated_at, before: before.cells, after: own.cells })
  }

  const changedIds = new Set([
    ...rows.map(({ lead }) => lead.id),
    ...arrived.older.map(({ id }) => id),
    ...arrived.returned,
  ])
  await withLeadDays(trx, [...changedIds], () => writeChanges(trx, { rows, arrived, stored }, observed))
  await insertRows(trx, 'lead_raw', otherForms, { key: ['lead_no'] })
  await insertRows(trx, 'lead_values', values, { key: ['lead_no'] })
  await saveFieldChanges(trx, valueChanges, fields, observed)
  return saved
}

/** Reads the declared fields if the leads have any. */
async function fieldsFor(trx: Trx, [first]: readonly Lead[]): Promise<StoredField[]> {
  return first === undefined || first.fields === null ? [] : listFields(trx)
}

function valuesOf(no: number, lead: Lead, encode: EncodeFields): Row<'lead_values'>[] {
  const values = encode(lead)
  return values === null ? [] : [{ lead_no: no, ...values }]
}

interface PageChanges {
  readonly rows: readonly LeadRow[]
  readonly arrived: Omit<Arrivals, 'derived'>
  readonly stored: ReadonlyMap<string, StoredLead>
}

async function writeChanges(
  trx: Trx,
  { rows, arrived, stored }: PageChanges,
  observed: Observation,
): Promise<void> {
  const derived = new Map<string, Row<'lead_version'>>()
  for (const { id } of arrived.present) {
    const version = derivedVersion(stored.get(id))
    if (version !== null) derived.set(id, version)
  }
  const others = [...rows.map(({ lead }) => lead.id), ...arrived.older.map(({ id }) => id)]
  await storeDerivedVersions(
    trx,
    others.filter((id) => !derived.has(id) && derivedVersion(stored.get(id)) !== null),
  )
  // The history of stored leads is saved before their rows, because it tells since when they have their status.
  // The history of new leads is saved after their rows, because it refers to them.
  const older = arrived.older.filter(({ id }) => stored.has(id))
  const olderOfInserted = arrived.older.filter(({ id }) => !stored.has(id))
  const statusSince = await saveHistory(trx, { ...arrived, underivable: [], older, derived }, observed)
  const changed = new Set<string>()
  for (const { lead } of rows) {
    const before = stored.get(lead.id)
    lead.status_changed_at = statusSince.get(lead.id) ?? lead.status_changed_at
    if (before) for (const column of changedColumns(before, lead)) changed.add(column)
  }
  await writeLeads(trx, rows, observed, [...changed])
  await unmarkReturned(trx, arrived.returned, observed)
  const inserted = { ...NO_ARRIVALS, underivable: arrived.underivable, older: olderOfInserted }
  await saveHistory(trx, inserted, observed)
}

/**
 * For a first load: looks nothing up, each lead may occur only once, and `lead_day` is counted at the end.
 */
export async function insertLeads(
  trx: Trx,
  leads: readonly Lead[],
  observed: Observation,
): Promise<SavedLead[]> {
  const inserted = await numbered(trx, leads)
  if (inserted.length === 0) return []
  const rows = inserted.map(({ no, lead }) => rowOf(no, lead, undefined, observed, canDerive(lead, observed)))
  await writeLeads(trx, rows, observed, [])
  const encode = createEncoder(await fieldsFor(trx, leads))
  await insertRows(
    trx,
    'lead_values',
    inserted.flatMap(({ no, lead }) => valuesOf(no, lead, encode)),
  )
  const underivable = leads.filter((lead) => !canDerive(lead, observed))
  await saveHistory(trx, { ...NO_ARRIVALS, underivable }, observed)
  await setReached(
    trx,
    underivable.map(({ id }) => id),
  )
  return inserted.map(({ no, lead }) => ({ no, lead, change: 'inserted', isOlderRecord: false }))
}

export async function findLeadNos(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const { rows } = await selectNos(db, { ids: JSON.stringify(ids) })
  return new Map(rows.map((row) => [row.id, row.no]))
}

const selectNos = statement((db, { ids }: { ids: string }) =>
  db.selectFrom('lead').where('id', 'in', textsIn(ids)).select(['id', 'no']).compile(),
)

interface FoundLead {
  readonly no: number
  readonly id: string
  readonly isDeleted: boolean
  /** The run that last wrote the row of the lead, and the time of that run's read. */
  readonly writtenBy: string
}

export async function findLead(db: Db, id: string): Promise<FoundLead | undefined> {
  const row = await db
    .selectFrom('lead')
    .where('id', '=', id)
    .select(['no', 'deleted_at', 'run_id', 'observed_at'])
    .executeTakeFirst()
  return (
    row && {
      id,
      no: row.no,
      isDeleted: row.deleted_at !== null,
      writtenBy: `${row.run_id} ${row.observed_at}`,
    }
  )
}

export async function findLastNo(db: Db): Promise<number> {
  const row = await db
    .selectFrom('lead')
    .select((eb) => eb.fn.max<number | null>('no').as('no'))
    .executeTakeFirst()
  return row?.no ?? 0
}

/** Counts how many of the leads were created since an instant. */
export async function countCreated(trx: Trx, leadNos: readonly number[], since: Instant): Promise<number> {
  if (leadNos.length === 0) return 0
  const row = await trx
    .selectFrom('lead')
    .where('no', 'in', numbersOf(leadNos))
    .where('created_at', '>=', since)
    // Without a time of creation from the upstream, it is the time of the first read.
    .whereRef('created_at', '<>', 'first_seen_at')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** Adds stored counts of leads that exist upstream. During a first load nothing is counted yet. */
export async function countLeads(db: Db): Promise<number> {
  const row = await db
    .selectFrom('lead_day')
    .select((eb) => eb.fn.sum<number | null>('leads').as('n'))
    .executeTakeFirstOrThrow()
  return row.n ?? 0
}

/** Gives new leads numbers that no lead has had. */
async function numbered(trx: Trx, leads: readonly Lead[]): Promise<{ no: number; lead: Lead }[]> {
  if (leads.length === 0) return []
  const last = await findLastNo(trx)
  return leads.map((lead, index) => ({ no: last + 1 + index, lead }))
}

/** Finds the newest record of each lead. Of several records with the same time, the last one counts. */
function newestById(leads: readonly Lead[]): { newest: Map<string, Lead>; older: Lead[] } {
  const newest = new Map<string, Lead>()
  const older: Lead[] = []
  for (const lead of leads) {
    const other = newest.get(lead.id)
    const [first, last] =
      other && (other.updatedAt ?? '') > (lead.updatedAt ?? '') ? [lead, other] : [other, lead]
    newest.set(lead.id, last)
    if (first && first.updatedAt !== null && first.updatedAt !== last.updatedAt) older.push(first)
  }
  return { newest, older }
}

const selectStored = statement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('lead')
    // Without its record, whoever deleted that, a lead is still a stored lead.
    .leftJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
    .leftJoin('lead_values', 'lead_values.lead_no', 'lead.no')
    .where('lead.id', 'in', textsIn(ids))
    .selectAll('lead')
    .select(['lead_values.cells', 'lead_values.unfit'])
    .select(sql<string>`coalesce(raw, '')`.as('raw'))
    .compile(),
)

/** Removes the mark of deleted leads that came back with an older record, as their rows are not written otherwise. */
async function unmarkReturned(trx: Trx, ids: readonly string[], observed: Observation): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('lead')
    .where('id', 'in', listOf(ids))
    .where('deleted_at', 'is not', null)
    .set({ deleted_at: null, observed_at: observed.at, run_id: observed.runId })
    .execute()
}

/** `changed` has the columns in which at least one of the leads differs from its stored row. */
async function writeLeads(
  trx: Trx,
  rows: readonly LeadRow[],
  observed: Observation,
  changed: readonly string[],
): Promise<void> {
  const leads = rows.map((row) => row.lead)
  const read = { status: null, first_seen_at: observed.at, observed_at: observed.at }
  const pipelines = [...new Set(leads.map((lead) => lead.pipeline_id))].map((id) => ({
    id,
    name: id,
    ...read,
  }))
  await insertRows(trx, 'pipeline', pipelines, { key: ['id'], update: [] })
  await insertRows(trx, 'lead', leads, { key: ['no'], update: changed })
  const raws = rows.map(({ lead, raw }) => ({ lead_no: lead.no, raw }))
  await insertRows(trx, 'lead_raw', raws, { key: ['lead_no'] })
}

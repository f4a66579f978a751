/**
 * Leads as last seen. A page of leads is compared with what is stored, and only what differs is written; what
 * that says of their past goes to `lead-version.ts`.
 */
import type { Lead } from '../model.ts'
import { saveHistory } from './lead-version.ts'
import type { Observation } from './observation.ts'
import type { Db, Trx } from './open.ts'
import { insertRows, listOf } from './sqlite.ts'
import type { LeadTable } from './tables.ts'

export interface SavedLeads {
  readonly inserted: readonly string[]
  readonly updated: readonly string[]
  readonly unchanged: readonly string[]
}

type Stored = Pick<
  LeadTable,
  'id' | 'raw' | 'status' | 'created_at' | 'updated_at' | 'status_changed_at' | 'removed_at'
> &
  Partial<LeadTable>

/** Columns that say when and by which run a row was read, not what the lead is. */
const OF_READING = new Set(['first_seen_at', 'observed_at', 'run_id'])

/**
 * Merges a page of leads by id. An older state than the stored one changes nothing; a lead that was marked
 * removed and is there again returns. Ids come back in the group that says what was done.
 * @param isRemap records that are stored as they come are compared column by column, since the mapping changed
 */
export async function saveLeads(
  trx: Trx,
  leads: readonly Lead[],
  seen: Observation,
  isRemap = false,
): Promise<SavedLeads> {
  const { newest, older } = newestById(leads)
  const stored = await readStored(trx, [...newest.keys()], isRemap)
  const saved = { inserted: [] as string[], updated: [] as string[], unchanged: [] as string[] }
  const rows: LeadTable[] = []
  const arrived = { fresh: [] as Lead[], present: [] as Lead[], late: older, returned: [] as string[] }

  for (const lead of newest.values()) {
    const before = stored.get(lead.id)
    const isLate = before !== undefined && isOlder(before, lead)
    if (isLate) arrived.late.push(lead)
    if (before?.removed_at === null && (isLate || isStored(before, lead, seen, isRemap))) {
      saved.unchanged.push(lead.id)
      continue
    }
    saved[before ? 'updated' : 'inserted'].push(lead.id)
    if (before && before.removed_at !== null) arrived.returned.push(lead.id)
    if (isLate) continue
    rows.push(rowOf(lead, before, seen))
    arrived[before ? 'present' : 'fresh'].push(lead)
  }

  await insertRows(trx, 'pipeline', pipelinesOf(rows, seen), { key: ['id'], update: [] })
  await insertRows(trx, 'lead', rows, {
    key: ['id'],
    update: Object.keys(rows[0] ?? {}).filter((column) => column !== 'id' && column !== 'first_seen_at'),
  })
  await markReturned(trx, arrived.returned, seen)
  await saveHistory(trx, arrived, seen)
  return saved
}

/** How many leads are there upstream, as far as we know. */
export async function countLeads(db: Db): Promise<number> {
  const row = await db
    .selectFrom('lead')
    .where('removed_at', 'is', null)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** Of one lead's records with the same time the last one counts. */
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

async function readStored(trx: Trx, ids: readonly string[], isRemap: boolean): Promise<Map<string, Stored>> {
  const rows = await trx
    .selectFrom('lead')
    .where('id', 'in', listOf(ids))
    .select(['id', 'raw', 'status', 'created_at', 'updated_at', 'status_changed_at', 'removed_at'])
    .$if(isRemap, (query) => query.selectAll('lead'))
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

function isOlder(before: Stored, lead: Lead): boolean {
  return before.raw !== lead.raw && lead.updatedAt !== null && before.updated_at > lead.updatedAt
}

function isStored(before: Stored, lead: Lead, seen: Observation, isRemap: boolean): boolean {
  if (before.raw !== lead.raw) return false
  if (!isRemap) return true
  const row = Object.entries(rowOf(lead, before, seen))
  return row.every(([column, value]) => OF_READING.has(column) || Reflect.get(before, column) === value)
}

/** Those that came back as an older record than the stored one have no row written. */
async function markReturned(trx: Trx, ids: readonly string[], seen: Observation): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('lead')
    .where('id', 'in', listOf(ids))
    .where('removed_at', 'is not', null)
    .set({ removed_at: null, observed_at: seen.at, run_id: seen.runId })
    .execute()
}

function rowOf(lead: Lead, before: Stored | undefined, seen: Observation): LeadTable {
  const updatedAt = lead.updatedAt ?? (before?.raw === lead.raw ? before.updated_at : seen.at)
  const hasSameStatus = before !== undefined && before.status === lead.status
  return {
    id: lead.id,
    pipeline_id: lead.pipelineId,
    status: lead.status,
    company_name: lead.companyName,
    company_domain: lead.companyDomain,
    company_industry: lead.companyIndustry,
    company_subindustry: lead.companySubindustry,
    company_employees: lead.companyEmployees,
    company_city: lead.companyCity,
    company_country: lead.companyCountry,
    company_region: lead.companyRegion,
    company_one_liner: lead.companyOneLiner,
    contact_name: lead.contactName,
    contact_title: lead.contactTitle,
    contact_email: lead.contactEmail,
    score: lead.score,
    value_amount: lead.valueAmount,
    value_currency: lead.valueCurrency,
    source: lead.source,
    agent_id: lead.agentId,
    tags: JSON.stringify(lead.tags),
    created_at: lead.createdAt ?? before?.created_at ?? seen.at,
    updated_at: updatedAt,
    status_changed_at: lead.statusChangedAt ?? (hasSameStatus ? before.status_changed_at : updatedAt),
    first_seen_at: seen.at,
    observed_at: seen.at,
    removed_at: null,
    run_id: seen.runId,
    raw: lead.raw,
  }
}

function pipelinesOf(rows: readonly LeadTable[], seen: Observation) {
  const ids = new Set(rows.map((row) => row.pipeline_id))
  return [...ids].map((id) => ({ id, name: id, status: null, first_seen_at: seen.at, observed_at: seen.at }))
}

/**
 * Leads and the history of their states. A page of leads is compared with what is stored, and only what
 * differs is written: the lead itself, and a new version where a tracked field changed.
 */
import { sql } from 'kysely'
import type { Instant, Lead } from '../model.ts'
import type { Db, Trx } from './open.ts'
import { insertRows, listOf, rowsOf } from './sqlite.ts'
import type { LeadTable, LeadVersionTable } from './tables.ts'

/** When and by which run something was read. */
export interface Observation {
  readonly runId: string
  readonly at: Instant
}

export interface SavedLeads {
  readonly inserted: readonly string[]
  readonly updated: readonly string[]
  readonly unchanged: readonly string[]
}

/** The fields whose changes make a new version; the others are kept as they were last. */
const TRACKED = ['pipeline_id', 'status', 'score', 'value_amount', 'value_currency', 'agent_id'] as const
type Tracked = Pick<LeadTable, (typeof TRACKED)[number]>

/** With the start of its last version, open or ended. */
type Stored = Tracked &
  Pick<LeadTable, 'id' | 'raw' | 'created_at' | 'updated_at' | 'status_changed_at' | 'removed_at'> &
  Partial<LeadTable> & {
    last_from: Instant | null
  }

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
  const incoming = newestById(leads)
  const stored = await readStored(trx, [...incoming.keys()], isRemap)
  const saved = { inserted: [] as string[], updated: [] as string[], unchanged: [] as string[] }
  const rows: LeadTable[] = []
  const versions: LeadVersionTable[] = []
  const ended: { lead_id: string; valid_to: Instant }[] = []

  for (const lead of incoming.values()) {
    const before = stored.get(lead.id)
    if (before && isSettled(before, lead, seen, isRemap)) {
      saved.unchanged.push(lead.id)
      continue
    }
    const row = rowOf(lead, before, seen)
    rows.push(row)
    saved[before ? 'updated' : 'inserted'].push(lead.id)
    if (before?.removed_at === null && TRACKED.every((field) => before[field] === row[field])) continue
    const validFrom = versionStart(before, row, seen)
    ended.push({ lead_id: lead.id, valid_to: validFrom })
    versions.push(versionOf(row, validFrom))
  }

  await insertRows(trx, 'pipeline', pipelinesOf(rows, seen), { key: ['id'], update: [] })
  await insertRows(trx, 'lead', rows, {
    key: ['id'],
    update: Object.keys(rows[0] ?? {}).filter((column) => column !== 'id' && column !== 'first_seen_at'),
  })
  await endVersions(trx, ended)
  await insertRows(trx, 'lead_version', versions)
  return saved
}

/** Ends the open version of each of the leads, if there is one; never before it began. */
export async function endVersions(
  trx: Trx,
  ended: readonly { lead_id: string; valid_to: Instant }[],
): Promise<void> {
  if (ended.length === 0) return
  await sql`UPDATE lead_version SET valid_to = max(ended.valid_to, lead_version.valid_from)
    FROM ${rowsOf(['lead_id', 'valid_to'], ended)} AS ended
    WHERE lead_version.lead_id = ended.lead_id AND lead_version.valid_to IS NULL`.execute(trx)
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

function newestById(leads: readonly Lead[]): Map<string, Lead> {
  const byId = new Map<string, Lead>()
  for (const lead of leads) {
    const other = byId.get(lead.id)
    if (!other || (other.updatedAt ?? '') <= (lead.updatedAt ?? '')) byId.set(lead.id, lead)
  }
  return byId
}

async function readStored(trx: Trx, ids: readonly string[], isRemap: boolean): Promise<Map<string, Stored>> {
  const rows = await trx
    .selectFrom('lead')
    .where('lead.id', 'in', listOf(ids))
    .select([
      'lead.id',
      'lead.raw',
      'lead.created_at',
      'lead.updated_at',
      'lead.status_changed_at',
      'lead.removed_at',
    ])
    .select(TRACKED.map((field) => `lead.${field}` as const))
    .select((eb) =>
      eb
        .selectFrom('lead_version')
        .whereRef('lead_version.lead_id', '=', 'lead.id')
        .select((of) => of.fn.max('lead_version.valid_from').as('last_from'))
        .as('last_from'),
    )
    .$if(isRemap, (query) => query.selectAll('lead'))
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

function isSettled(before: Stored, lead: Lead, seen: Observation, isRemap: boolean): boolean {
  if (before.removed_at !== null) return false
  if (before.raw !== lead.raw) return lead.updatedAt !== null && before.updated_at > lead.updatedAt
  if (!isRemap) return true
  const row = Object.entries(rowOf(lead, before, seen))
  return row.every(([column, value]) => OF_READING.has(column) || Reflect.get(before, column) === value)
}

/**
 * By the upstream's clock, and by ours where that does not tell: on a return, and where the state would not come
 * after the one that it follows. Always after that one, whatever the clocks say, so that each state is kept.
 */
function versionStart(before: Stored | undefined, row: LeadTable, seen: Observation): Instant {
  const told = before && before.status === row.status ? row.updated_at : row.status_changed_at
  if (!before?.last_from) return told
  const soonest = new Date(Date.parse(before.last_from) + 1).toISOString()
  if (before.removed_at === null && told >= soonest) return told
  return [soonest, seen.at, before.removed_at ?? ''].reduce((latest, at) => (at > latest ? at : latest))
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

function versionOf(row: LeadTable, validFrom: Instant): LeadVersionTable {
  return {
    lead_id: row.id,
    valid_from: validFrom,
    valid_to: null,
    observed_at: row.observed_at,
    run_id: row.run_id,
    pipeline_id: row.pipeline_id,
    status: row.status,
    score: row.score,
    value_amount: row.value_amount,
    value_currency: row.value_currency,
    agent_id: row.agent_id,
  }
}

function pipelinesOf(rows: readonly LeadTable[], seen: Observation) {
  const ids = new Set(rows.map((row) => row.pipeline_id))
  return [...ids].map((id) => ({ id, name: id, status: null, first_seen_at: seen.at, observed_at: seen.at }))
}

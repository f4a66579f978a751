/** Reads leads for the API: a single lead, a page of leads, or a count. `simulation.ts` writes the leads. */
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { LeadStatus, WireActivity, WireLead, WireLeadDetail } from '../../contract/lead.ts'
import type { ActivityRow, LeadRow, ServiceDatabase, ServiceTables } from './database.ts'
import { instantOf } from './database.ts'

export interface LeadFilters {
  readonly pipelineId?: string | undefined
  readonly statuses?: readonly LeadStatus[] | undefined
  readonly updatedSince?: number | undefined
  readonly createdSince?: number | undefined
  readonly minScore?: number | undefined
  /** A search text. All of its words must occur in the names and addresses of company and contact. */
  readonly q?: string | undefined
}

export type LeadSortKey = 'created_at' | 'updated_at' | 'score' | 'id'

export interface LeadOrder {
  readonly key: LeadSortKey
  readonly descending: boolean
}

/** The position at which a page of the list ends. It consists of two values of the page's last lead. */
export interface LeadPosition {
  /** The value by which the list is sorted; unused when sorting by id. A missing score counts as -1. */
  readonly value: number
  /** The id of the lead, which orders leads with equal values. */
  readonly id: string
}

/** Keyset paging: leads that are added or deleted before the position do not shift the page. */
export function listLeads(
  db: ServiceDatabase,
  filters: LeadFilters,
  order: LeadOrder,
  after: LeadPosition | null,
  limit: number,
): Promise<LeadRow[]> {
  const direction = order.descending ? 'desc' : 'asc'
  let query = db
    .selectFrom('lead')
    .selectAll()
    .where((eb) => matches(eb, filters))
  if (after !== null) query = query.where(comesAfter(order, after))
  if (order.key !== 'id') query = query.orderBy(sortExpression(order.key), direction)
  return query.orderBy('id', direction).limit(limit).execute()
}

export async function countLeads(db: ServiceDatabase, filters: LeadFilters): Promise<number> {
  const row = await db
    .selectFrom('lead')
    .select((eb) => eb.fn.countAll<number>().as('leads'))
    .where((eb) => matches(eb, filters))
    .executeTakeFirstOrThrow()
  return row.leads
}

export function positionOf(lead: LeadRow, order: LeadOrder): LeadPosition {
  return { value: order.key === 'id' ? 0 : (lead[order.key] ?? -1), id: lead.id }
}

export async function findLead(db: ServiceDatabase, id: string): Promise<WireLeadDetail | undefined> {
  const lead = await db.selectFrom('lead').selectAll().where('id', '=', id).executeTakeFirst()
  if (lead === undefined) return undefined
  const activity = await db
    .selectFrom('activity')
    .selectAll()
    .where('lead_id', '=', id)
    .orderBy('id')
    .execute()
  return {
    ...toWireLead(lead),
    enrichment: lead.enrichment === null ? null : JSON.parse(lead.enrichment),
    activity: activity.map(toWireActivity),
  }
}

export function toWireLead(row: LeadRow): WireLead {
  return {
    id: row.id,
    pipeline_id: row.pipeline_id,
    status: row.status,
    company: {
      name: row.company_name,
      domain: row.company_domain,
      industry: row.industry,
      subindustry: row.subindustry,
      employees: row.employees,
      city: row.city,
      country: row.country,
      region: row.region,
      one_liner: row.one_liner,
    },
    contact:
      row.contact_name === null
        ? null
        : { name: row.contact_name, title: row.contact_title, email: row.contact_email },
    score: row.score,
    value:
      row.value_amount === null || row.value_currency === null
        ? null
        : { amount: row.value_amount, currency: row.value_currency },
    source: row.source,
    owner: row.owner,
    agent_id: row.agent_id,
    tags: JSON.parse(row.tags),
    created_at: instantOf(row.created_at),
    updated_at: instantOf(row.updated_at),
    status_changed_at: instantOf(row.status_changed_at),
    expected_close_at: row.expected_close_at === null ? null : instantOf(row.expected_close_at),
  }
}

function toWireActivity(row: ActivityRow): WireActivity {
  const { type, agent_id, summary, from_status, to_status } = row
  return { id: `act_${row.id}`, type, at: instantOf(row.at), agent_id, summary, from_status, to_status }
}

function matches(eb: ExpressionBuilder<ServiceTables, 'lead'>, filters: LeadFilters): Expression<SqlBool> {
  const { pipelineId, statuses, updatedSince, createdSince, minScore, q } = filters
  const all: Expression<SqlBool>[] = fold(q ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => sql<SqlBool>`instr(search_text, ${word}) > 0`)
  if (pipelineId !== undefined) all.push(eb('pipeline_id', '=', pipelineId))
  if (statuses !== undefined) all.push(eb('status', 'in', statuses))
  if (updatedSince !== undefined) all.push(eb('updated_at', '>=', updatedSince))
  if (createdSince !== undefined) all.push(eb('created_at', '>=', createdSince))
  if (minScore !== undefined) all.push(eb('score', '>=', minScore))
  return eb.and(all)
}

function comesAfter(order: LeadOrder, { value, id }: LeadPosition): Expression<SqlBool> {
  const place = order.key === 'id' ? sql`id` : sql`(${sortExpression(order.key)}, id)`
  const reached = order.key === 'id' ? sql`${id}` : sql`(${value}, ${id})`
  return order.descending ? sql<SqlBool>`${place} < ${reached}` : sql<SqlBool>`${place} > ${reached}`
}

/** SQLite uses an index for sorting only if the index has exactly this expression. */
function sortExpression(key: Exclude<LeadSortKey, 'id'>): Expression<number> {
  return key === 'score' ? sql<number>`ifnull(score, -1)` : sql.ref<number>(key)
}

/** Lower case without accents, so that `Zoe` finds `Zoë`, in stored text and search words alike. */
function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The names and addresses of company and contact, which the query `q` searches. */
export function searchText(lead: {
  readonly company_name: string
  readonly company_domain: string | null
  readonly contact_name: string | null
  readonly contact_email: string | null
}): string {
  const { company_name, company_domain, contact_name, contact_email } = lead
  return fold([company_name, company_domain, contact_name, contact_email].filter(Boolean).join('\n'))
}

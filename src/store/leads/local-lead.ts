/** Reads the leads of the local copy for people: the list, and a lead with its enrichment, history and activity. */
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

const LISTED = [
  'id',
  'pipeline_id',
  'status',
  'score',
  'value_amount',
  'value_currency',
  'owner',
  'agent_id',
  'updated_at',
  'company_name',
  'company_country',
  'contact_name',
] as const

export type LocalLeadLine = Pick<Row<'lead'>, (typeof LISTED)[number]>

/** Lists the leads that exist upstream, last changed first. `total` also counts those beyond `limit`. */
export async function listLocalLeads(
  db: Db,
  filter: {
    readonly pipelineId?: string | undefined
    readonly statuses?: readonly string[] | undefined
    readonly minScore?: number | undefined
  },
  limit: number | null,
): Promise<{ leads: LocalLeadLine[]; total: number }> {
  const { pipelineId, statuses, minScore } = filter
  const matching = db
    .selectFrom('lead')
    .where('deleted_at', 'is', null)
    .$if(pipelineId !== undefined, (query) => query.where('pipeline_id', '=', pipelineId ?? ''))
    .$if(statuses !== undefined, (query) => query.where('status', 'in', listOf(statuses ?? [])))
    .$if(minScore !== undefined, (query) => query.where('score', '>=', minScore ?? 0))
  const leads = await matching
    .select(LISTED)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .$if(limit !== null, (query) => query.limit(limit ?? 0))
    .execute()
  const { n } = await matching.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return { leads, total: n }
}

export type LocalLead = NonNullable<Awaited<ReturnType<typeof readLocalLead>>>

/** Returns undefined where no sync has read the lead. `enrichment` is JSON as sent; null where no details were read. */
export async function readLocalLead(db: Db, id: string) {
  const row = await db.selectFrom('lead').where('id', '=', id).selectAll().executeTakeFirst()
  if (row === undefined) return undefined
  const { derived_version: _, ...lead } = row
  const detail = await db
    .selectFrom('lead_detail')
    .where('lead_id', '=', id)
    .select('enrichment')
    .executeTakeFirst()
  const versions = await db
    .selectFrom('lead_version')
    .where('lead_id', '=', id)
    .select(['status', 'score', 'value_amount', 'value_currency', 'valid_from', 'valid_to'])
    .orderBy('valid_from')
    .execute()
  const activity = await db
    .selectFrom('activity')
    .where('lead_id', '=', id)
    .select(['at', 'type', 'from_status', 'to_status', 'agent_id', 'summary'])
    .orderBy('at')
    .orderBy('id')
    .execute()
  return { lead, enrichment: detail?.enrichment ?? null, versions, activity }
}

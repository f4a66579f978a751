/** A lead in the local copy: its row, its enrichment, its versions and its activity. */
import type { Selectable } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'
import type { LeadTable, LeadTables } from '../tables/lead-tables.ts'

export interface LocalLead {
  readonly lead: Selectable<LeadTable>
  /** JSON as the upstream sent it; null where no details were read. */
  readonly enrichment: string | null
  /** The known versions, oldest first. */
  readonly versions: readonly LocalVersion[]
  readonly activity: readonly Pick<
    Selectable<LeadTables['activity']>,
    'at' | 'type' | 'from_status' | 'to_status' | 'agent_id' | 'summary'
  >[]
}

export interface LocalVersion {
  readonly status: string
  readonly score: number | null
  readonly value_amount: number | null
  readonly value_currency: string | null
  readonly valid_from: Instant
  /** Is null for the present version. */
  readonly valid_to: Instant | null
}

/**
 * Reads a lead.
 * @returns undefined where no sync has read it
 */
export async function readLocalLead(db: Db, id: string): Promise<LocalLead | undefined> {
  const lead = await db.selectFrom('lead').where('id', '=', id).selectAll().executeTakeFirst()
  if (lead === undefined) return undefined
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

/** The states that were seen of leads, as the rows of the store have them: versions, and touches between them. */
import type { Instant } from '../../model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import type { LeadTouchTable, LeadVersionTable } from '../tables/history-tables.ts'
import { type Absence, hasSameTracked, type LeadState } from './lead-history.ts'

export interface KnownHistory {
  readonly versions: readonly LeadVersionTable[]
  readonly touches: readonly LeadTouchTable[]
  readonly absences: readonly Absence[]
}

/** By lead, in the order of time; one that has no history yet has an empty one. */
export async function readHistories(db: Db, ids: readonly string[]): Promise<Map<string, KnownHistory>> {
  const known = new Map(
    ids.map((id) => [
      id,
      { versions: [] as LeadVersionTable[], touches: [] as LeadTouchTable[], absences: [] as Absence[] },
    ]),
  )
  const versions = await db
    .selectFrom('lead_version')
    .where('lead_id', 'in', listOf(ids))
    .selectAll()
    .orderBy('lead_id')
    .orderBy('valid_from')
    .execute()
  for (const row of versions) known.get(row.lead_id)?.versions.push(row)
  const touches = await db
    .selectFrom('lead_touch')
    .where('lead_id', 'in', listOf(ids))
    .selectAll()
    .orderBy('lead_id')
    .orderBy('changed_at')
    .execute()
  for (const row of touches) known.get(row.lead_id)?.touches.push(row)
  const absences = await db
    .selectFrom('lead_deletion')
    .where('lead_id', 'in', listOf(ids))
    .select(['lead_id', 'deleted_since as from', 'returned_at as to'])
    .orderBy('lead_id')
    .orderBy('deleted_since')
    .execute()
  for (const { lead_id, ...absence } of absences) known.get(lead_id)?.absences.push(absence)
  return known
}

/** The states behind the rows: one that an absence parts has a row a part, and a touch has the fields of its time. */
export function statesOf({ versions, touches }: KnownHistory): LeadState[] {
  const states: LeadState[] = []
  const waiting = [...touches]
  const takeTouches = (until: Instant | null): void => {
    for (let touch = waiting[0]; touch && (until === null || touch.changed_at <= until); touch = waiting[0]) {
      const { lead_id, ...times } = touch
      const before = states.at(-1)
      if (before) states.push({ ...before, ...times })
      waiting.shift()
    }
  }
  let last: LeadVersionTable | undefined
  for (const row of versions) {
    if (last && last.changed_at === row.changed_at && hasSameTracked(last, row)) continue
    takeTouches(row.changed_at)
    const { lead_id, valid_from, valid_to, ...state } = row
    states.push(state)
    last = row
  }
  takeTouches(null)
  return states
}

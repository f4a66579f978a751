/** The stages that the upstream's leads pass; figures read them to know what is open, won or lost. */
import type { Stage } from '../../model.ts'
import { insertRows } from '../db/rows.ts'
import type { Trx } from '../db/store.ts'

/** Replaces the list by this one. */
export async function saveStages(trx: Trx, stages: readonly Stage[]): Promise<void> {
  await trx.deleteFrom('stage').execute()
  const rows = stages.map((stage) => ({
    status: stage.status,
    position: stage.position,
    outcome: stage.outcome,
    in_funnel: stage.inFunnel ? 1 : 0,
    is_qualified: stage.isQualified ? 1 : 0,
  }))
  await insertRows(trx, 'stage', rows)
}

/** The stages of the profile. Which of them are in the funnel decides how far each lead has come. */
import { CompiledQuery } from 'kysely'
import type { Stage } from '../../domain/model.ts'
import { insertRows } from '../db/rows.ts'
import type { Trx } from '../db/store.ts'
import { COUNT_ALL_DAYS } from './lead-day.ts'
import { SET_REACHED } from './reached.ts'

/**
 * Replaces the list of stages, by which figures know which statuses are open, won or lost. If the funnel has changed,
 * sets anew how far each state of a lead has come, and counts `lead_day` anew.
 */
export async function saveStages(trx: Trx, stages: readonly Stage[]): Promise<void> {
  const before = await trx.deleteFrom('stage').returningAll().execute()
  const rows = stages.map((stage) => ({
    status: stage.status,
    position: stage.position,
    outcome: stage.outcome,
    in_funnel: stage.inFunnel ? 1 : 0,
    is_qualified: stage.isQualified ? 1 : 0,
  }))
  await insertRows(trx, 'stage', rows)
  if (funnelOf(rows) === funnelOf(before)) return
  await trx.executeQuery(CompiledQuery.raw(SET_REACHED))
  await trx.deleteFrom('lead_day').execute()
  await trx.executeQuery(CompiledQuery.raw(COUNT_ALL_DAYS))
}

function funnelOf(stages: readonly { status: string; position: number; in_funnel: number }[]): string {
  const funnel = stages
    .filter((stage) => stage.in_funnel === 1)
    .map((stage) => [stage.position, stage.status])
  return JSON.stringify(funnel.toSorted())
}

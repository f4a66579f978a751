/**
 * The moves of leads from status to status, drawn from the states that were seen and from the histories of activity
 * that the upstream tells. A move that both tell of stands once, as the activity has it, which knows the steps
 * between two sightings.
 */
import type { Instant } from '../model.ts'
import type { StageMoveTable } from './history-tables.ts'
import { type Step, stepsOf } from './lead-history.ts'
import { readHistories, statesOf } from './lead-state.ts'
import type { Trx } from './open.ts'
import { insertRows, listOf } from './sqlite.ts'

const DAY_MS = 86_400_000

/** To be called after the activity of leads was written; their versions bring their moves up to date themselves. */
export async function refreshStageMoves(trx: Trx, leadIds: readonly string[]): Promise<void> {
  const histories = await readHistories(trx, leadIds)
  await saveStageMoves(trx, new Map([...histories].map(([id, known]) => [id, stepsOf(statesOf(known))])))
}

/** @param steps by lead */
export async function saveStageMoves(trx: Trx, steps: ReadonlyMap<string, readonly Step[]>): Promise<void> {
  if (steps.size === 0) return
  const rows = [...steps].flatMap(([id, some]) => movesOf(some).map((move) => ({ lead_id: id, ...move })))
  await trx
    .deleteFrom('stage_move')
    .where('lead_id', 'in', listOf([...steps.keys()]))
    .execute()
  await insertRows(trx, 'stage_move', rows)
}

export type StageMove = Omit<StageMoveTable, 'lead_id'>

export function movesOf(steps: readonly Step[]): StageMove[] {
  const moves: StageMove[] = []
  let entered = steps[0]
  for (const step of steps) {
    if (!entered || step.state.status === entered.state.status) continue
    moves.push({
      moved_at: step.from,
      to_status: step.state.status,
      from_status: entered.state.status,
      pipeline_id: step.state.pipeline_id,
      entered_at: entered.from,
      days_before: daysBetween(entered.from, step.from),
      source: 'version',
      observed_at: step.state.observed_at,
    })
    entered = step
  }
  return moves
}

function daysBetween(from: Instant, to: Instant): number {
  return Math.round(((Date.parse(to) - Date.parse(from)) / DAY_MS) * 10_000) / 10_000
}

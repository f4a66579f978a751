/**
 * The moves of leads between statuses, derived from the states that were read and from the upstream's
 * activity. If both show a move, it is stored once, with the data of the activity. The moves before the first
 * read are known only from the activity. If a lead moved several times between two reads, only the activity
 * shows all of these moves.
 */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { replaceRows, textsIn } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'
import { withLeadDays } from './lead-day.ts'
import type { Step } from './lead-history.ts'
import { lastUpdateOf, readHistories, statesOf, stepsOf } from './lead-history.ts'

const DAY_MS = 86_400_000
/**
 * The upstream may give a move one time in the lead and another time in the activity. Two times with at most
 * this difference count as the same move.
 */
const SAME_MOVE_MS = 60_000

/** An entry of a lead's activity that sets the status. `from_status` is null for the lead's creation. */
export interface StatusActivity {
  readonly at: Instant
  readonly from_status: string | null
  readonly to_status: string
  readonly first_seen_at: Instant
}

type StageMove = Omit<Row<'stage_move'>, 'lead_id'>

/**
 * Derives the moves of leads again. Call this function after the activity of the leads was written. When the
 * leads themselves change, no call is needed, because saving their history derives the moves too.
 */
export async function refreshStageMoves(trx: Trx, leadIds: readonly string[]): Promise<void> {
  const histories = await readHistories(trx, leadIds)
  const steps = new Map([...histories].map(([id, known]) => [id, stepsOf(statesOf(known))]))
  await withLeadDays(trx, leadIds, () => saveStageMoves(trx, steps))
}

/**
 * Saves the moves of leads.
 * @param steps all steps of each lead
 */
export async function saveStageMoves(trx: Trx, steps: ReadonlyMap<string, readonly Step[]>): Promise<void> {
  if (steps.size === 0) return
  const ids = JSON.stringify([...steps.keys()])
  const { rows: stored } = await selectMoves(trx, { ids })
  const activities = Map.groupBy((await selectActivities(trx, { ids })).rows, (row) => row.lead_id)
  const wanted = [...steps].flatMap(([id, some]) =>
    movesOf(some, activities.get(id) ?? []).map((move) => ({ lead_id: id, ...move })),
  )
  await replaceRows(trx, 'stage_move', ['lead_id', 'moved_at', 'to_status'], { stored, wanted })
}

const selectMoves = statement((db, { ids }: { ids: string }) =>
  db.selectFrom('stage_move').where('lead_id', 'in', textsIn(ids)).selectAll().compile(),
)

const selectActivities = statement((db, { ids }: { ids: string }) =>
  sql<StatusActivity & { lead_id: string }>`
    SELECT lead_id, at, from_status, to_status, first_seen_at FROM activity
    WHERE lead_id IN ${textsIn(ids)} AND to_status IS NOT NULL AND from_status IS DISTINCT FROM to_status
    ORDER BY at, id`.compile(db),
)

/**
 * Returns the parts of a history from which moves are derived, as a text. While this text and the activity
 * are unchanged, the moves are unchanged too.
 */
export function moveTraits(steps: readonly Step[]): string {
  const traits = steps.map((step, index) => {
    const before = steps[index - 1]
    const { status, pipeline_id, status_changed_at } = step.state
    if (before?.state.status === status && before.state.pipeline_id === pipeline_id) return []
    const lastUpdate = before && step.from !== status_changed_at ? lastUpdateOf(before) : null
    return [status, pipeline_id, step.from, lastUpdate]
  })
  return JSON.stringify(traits.flat())
}

interface StatusChange {
  readonly at: Instant
  readonly from: string | null
  readonly to: string
  readonly source: 'version' | 'activity'
  readonly observedAt: Instant
}

/**
 * Derives the moves of a lead.
 * @param activities in order of time
 */
export function movesOf(steps: readonly Step[], activities: readonly StatusActivity[]): StageMove[] {
  const moves: StageMove[] = []
  let before: StatusChange | undefined
  for (const event of eventsOf(steps, activities)) {
    if (event.to === before?.to) continue
    const from = event.from ?? before?.to
    if (from !== undefined && from !== event.to) {
      const entered = before?.to === from ? before.at : null
      moves.push({
        moved_at: event.at,
        to_status: event.to,
        from_status: from,
        pipeline_id: pipelineAt(steps, event.at),
        entered_at: entered,
        days_before: entered === null ? null : daysBetween(entered, event.at),
        source: event.source,
        observed_at: event.observedAt,
      })
    }
    before = event
  }
  return moves
}

/** Merges the activities with the status changes that no activity reports. The result is in order of time. */
function eventsOf(steps: readonly Step[], activities: readonly StatusActivity[]): StatusChange[] {
  const events: StatusChange[] = []
  const left = [...activities]
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]
    if (before?.state.status === step.state.status) continue
    const activity = left.length > 0 ? findActivityOf(left, step, before) : undefined
    if (activity) left.splice(left.indexOf(activity), 1)
    const observedAt = step.state.observed_at
    events.push(
      activity
        ? eventOf(activity, observedAt)
        : { at: step.from, from: null, to: step.state.status, source: 'version', observedAt },
    )
  }
  events.push(...left.map((activity) => eventOf(activity, activity.first_seen_at)))
  return chained(events.sort((a, b) => compare(a.at, b.at) || compare(a.source, b.source)))
}

/**
 * Orders events of the same instant. An event that moves a lead out of a status comes after the event that
 * moved the lead into this status, if there is one.
 */
function chained(events: readonly StatusChange[]): StatusChange[] {
  const waiting = [...events]
  const chain: StatusChange[] = []
  for (let first = waiting[0]; first; first = waiting[0]) {
    const { at } = first
    const status = chain.at(-1)?.to ?? null
    const next = waiting.findIndex((event) => event.at === at && event.from === status)
    chain.push(...waiting.splice(Math.max(next, 0), 1))
  }
  return chain
}

/**
 * Finds the activity with which a step's status began. If the upstream gives the status a time, this is an
 * activity at nearly that time. Otherwise it is the last activity since the previous read, but only if that
 * activity led to the status.
 */
function findActivityOf(
  activities: readonly StatusActivity[],
  { state, from }: Step,
  before: Step | undefined,
): StatusActivity | undefined {
  const until = shift(from, SAME_MOVE_MS)
  if (from === state.status_changed_at) {
    const since = shift(from, -SAME_MOVE_MS)
    return activities.find(({ at, to_status }) => to_status === state.status && at >= since && at <= until)
  }
  const lastUpdate = before ? lastUpdateOf(before) : ''
  const last = activities.findLast(({ at }) => at > lastUpdate && at <= until)
  return last?.to_status === state.status ? last : undefined
}

function eventOf(activity: StatusActivity, observedAt: Instant): StatusChange {
  return {
    at: activity.at,
    from: activity.from_status,
    to: activity.to_status,
    source: 'activity',
    observedAt: observedAt < activity.first_seen_at ? observedAt : activity.first_seen_at,
  }
}

function pipelineAt(steps: readonly Step[], at: Instant): string {
  return (steps.findLast((step) => step.from <= at) ?? steps[0])?.state.pipeline_id ?? ''
}

function daysBetween(from: Instant, to: Instant): number {
  return Math.round(((Date.parse(to) - Date.parse(from)) / DAY_MS) * 10_000) / 10_000
}

function shift(at: Instant, ms: number): Instant {
  return new Date(Date.parse(at) + ms).toISOString()
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

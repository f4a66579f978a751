/**
 * The past of a store's leads, computed in plain TypeScript with all rows in memory. Tests compare the SQL of
 * the figures with it. It is slow and simple on purpose.
 */
import type { Money } from '../../../src/domain/model.ts'
import type { Db } from '../../../src/store/db/store.ts'

/** A lead as it was at an instant. */
export interface PastLead {
  readonly id: string
  readonly pipelineId: string
  readonly source: string | null
  readonly createdAt: string
  /** The beginning of its first known state. */
  readonly firstAt: string
  /** True if its moves tell all its statuses since its creation. */
  readonly isTraced: boolean
  /** The status; null before the first known state. */
  readonly status: string | null
  /** The status as lists show it: before the first known state by the moves, or else the present one. */
  readonly shownStatus: string
  readonly outcome: 'open' | 'won' | 'lost' | 'disqualified'
  /** The instant at which the lead came into its status. */
  readonly since: string
  readonly score: number | null
  readonly value: Money | null
  /** The instant of its last change of any kind. */
  readonly changedAt: string
  /** True if the lead was read as it was then: its state had begun, and was not first read after a later update. */
  readonly isKnown: boolean
  /** The highest position in the funnel of its statuses so far; null if its earlier statuses are not known. */
  readonly reached: number | null
}

const MINUTE_MS = 60_000

export interface Past {
  /** When all leads, also deleted ones, were created and first known. */
  readonly leads: readonly Pick<PastLead, 'id' | 'pipelineId' | 'createdAt' | 'firstAt' | 'isTraced'>[]
  /** Returns the leads that existed just before an instant. */
  at(instant: string): PastLead[]
}

export async function loadPast(db: Db): Promise<Past> {
  const leads = await db.selectFrom('lead').selectAll().execute()
  const byLead = <R extends { readonly lead_id: string }>(rows: readonly R[]) =>
    Map.groupBy(rows, (row) => row.lead_id)
  const versions = byLead(await db.selectFrom('lead_version').selectAll().orderBy('valid_from').execute())
  const minorUpdates = byLead(await db.selectFrom('lead_minor_update').selectAll().execute())
  const absences = byLead(await db.selectFrom('lead_deletion').selectAll().execute())
  const activities = byLead(await db.selectFrom('activity').selectAll().execute())
  const moves = byLead(await db.selectFrom('stage_move').selectAll().orderBy('moved_at').execute())
  const stages = new Map(
    (await db.selectFrom('stage').selectAll().execute()).map((stage) => [stage.status, stage]),
  )

  const isDeleted = (id: string, instant: string): boolean =>
    (absences.get(id) ?? []).some(
      (gone) => gone.deleted_since < instant && (gone.returned_at === null || gone.returned_at >= instant),
    )

  const firstStatus = [...stages.values()]
    .filter((stage) => stage.in_funnel === 1)
    .sort((a, b) => a.position - b.position)[0]?.status
  function isTraced(lead: (typeof leads)[number]): boolean {
    const known = moves.get(lead.id) ?? []
    const begun = known.map((move) => Date.parse(move.entered_at ?? lead.created_at))
    return (
      known.length > 0 &&
      Math.min(...begun) <= Date.parse(lead.created_at) + MINUTE_MS &&
      known.every((move) => move.entered_at !== null || move.from_status === firstStatus)
    )
  }

  function pastOf(lead: (typeof leads)[number], instant: string): PastLead[] {
    const states = versions.get(lead.id) ?? []
    const known = states.filter((state) => state.valid_from < instant)
    const state = known.at(-1) ?? states[0]
    if (!state || isDeleted(lead.id, instant) || (known.length === 0 && lead.created_at >= instant)) return []
    const stay = known.slice(known.findLastIndex((each) => each.status !== state.status) + 1)
    const read = [...states, ...(minorUpdates.get(lead.id) ?? [])].map((each) => each.changed_at)
    const told = (activities.get(lead.id) ?? []).map((each) => each.at)
    const firstAt = states[0]?.valid_from ?? ''
    const isWhole = Date.parse(firstAt) - Date.parse(lead.created_at) <= MINUTE_MS || isTraced(lead)
    const moved = (moves.get(lead.id) ?? []).filter((move) => move.moved_at <= (state.valid_from ?? ''))
    const positions = [
      ...known.map((each) => each.status),
      ...moved.flatMap((move) => [move.from_status, move.to_status]),
    ]
      .map((each) => stages.get(each ?? ''))
      .flatMap((stage) => (stage?.in_funnel === 1 ? stage.position : []))
    const status = known.length > 0 ? state.status : null
    return [
      {
        id: lead.id,
        pipelineId: state.pipeline_id,
        source: lead.source,
        createdAt: lead.created_at,
        firstAt,
        isTraced: isTraced(lead),
        status,
        shownStatus:
          status ??
          (moves.get(lead.id) ?? []).findLast((move) => move.moved_at < instant)?.to_status ??
          lead.status,
        outcome: stages.get(status ?? '')?.outcome ?? 'open',
        // A lead that was deleted and came back may have come into its status while it was deleted.
        since:
          lead.status_changed_at < instant
            ? lead.status_changed_at
            : ((moves.get(lead.id) ?? []).find((move) => move.moved_at >= instant)?.entered_at ??
              stay[0]?.valid_from ??
              lead.created_at),
        score: state.score,
        value:
          state.value_amount === null || state.value_currency === null
            ? null
            : { amount: state.value_amount, currency: state.value_currency },
        isKnown: known.length > 0 && state.changed_at < instant,
        reached: known.length > 0 && isWhole ? Math.max(0, ...positions) : null,
        changedAt: [...read, ...told].filter((at) => at < instant).reduce((a, b) => (a > b ? a : b), ''),
      },
    ]
  }

  return {
    leads: leads.flatMap((lead) => {
      const first = versions.get(lead.id)?.[0]
      return first
        ? {
            id: lead.id,
            pipelineId: first.pipeline_id,
            createdAt: lead.created_at,
            firstAt: first.valid_from,
            isTraced: isTraced(lead),
          }
        : []
    }),
    at: (instant) => leads.flatMap((lead) => pastOf(lead, instant)),
  }
}

/** Adds up values by currency. The currency with the most values comes first. */
export function sumOf(values: readonly (Money | null)[]): Money[] {
  const known = values.filter((value) => value !== null)
  return [...Map.groupBy(known, ({ currency }) => currency)]
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .map(([currency, all]) => {
      return { amount: Math.round(all.reduce((sum, { amount }) => sum + amount, 0) * 100) / 100, currency }
    })
}

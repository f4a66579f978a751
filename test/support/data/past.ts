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
  readonly country: string | null
  readonly createdAt: string
  /** The status; null before the first known state. */
  readonly status: string | null
  /** The status, also known from moves before the first known state. */
  readonly activityStatus: string | null
  readonly outcome: 'open' | 'won' | 'lost' | 'disqualified'
  /** The instant at which the lead came into its status. */
  readonly since: string
  readonly score: number | null
  readonly value: Money | null
  /** The instant of its last change of any kind. */
  readonly changedAt: string
  /** The instant of its next change, if one is known. */
  readonly nextAt: string | null
  /**
   * True if nothing can have changed between the two: a sync has read the lead in between, or its activity
   * names the next change.
   */
  readonly isChangeKnown: boolean
}

export interface Past {
  /** Returns the leads that existed just before an instant. */
  at(instant: string): PastLead[]
  /** Returns all statuses that a lead is known to have come into before an instant. */
  statusesOf(id: string, before: string): string[]
  /** Returns the stays in a status that ended at or after `from` and before `to`. */
  staysEnded(from: string, to: string): { leadId: string; status: string; days: number }[]
}

export async function loadPast(db: Db): Promise<Past> {
  const leads = await db.selectFrom('lead').selectAll().execute()
  const versions = Map.groupBy(
    await db.selectFrom('lead_version').selectAll().orderBy('valid_from').execute(),
    (row) => row.lead_id,
  )
  const minorUpdates = Map.groupBy(
    await db.selectFrom('lead_minor_update').selectAll().execute(),
    (row) => row.lead_id,
  )
  const absences = Map.groupBy(
    await db.selectFrom('lead_deletion').selectAll().execute(),
    (row) => row.lead_id,
  )
  const activities = Map.groupBy(await db.selectFrom('activity').selectAll().execute(), (row) => row.lead_id)
  const runs = (await db.selectFrom('sync_run').select('leads_as_of').execute()).flatMap(
    (run) => run.leads_as_of ?? [],
  )
  const moves = Map.groupBy(await db.selectFrom('stage_move').selectAll().execute(), (row) => row.lead_id)
  const stages = new Map(
    (await db.selectFrom('stage').selectAll().execute()).map((stage) => [stage.status, stage]),
  )

  const isDeleted = (id: string, instant: string): boolean =>
    (absences.get(id) ?? []).some(
      (gone) => gone.deleted_since < instant && (gone.returned_at === null || gone.returned_at >= instant),
    )

  function pastOf(lead: (typeof leads)[number], instant: string): PastLead[] {
    const states = versions.get(lead.id) ?? []
    const known = states.filter((state) => state.valid_from < instant)
    const state = known.at(-1) ?? states[0]
    if (!state || isDeleted(lead.id, instant) || (known.length === 0 && lead.created_at >= instant)) return []
    const stay = known.slice(known.findLastIndex((each) => each.status !== state.status) + 1)
    const read = [...states, ...(minorUpdates.get(lead.id) ?? [])].map((each) => each.changed_at)
    const told = (activities.get(lead.id) ?? []).map((each) => each.at)
    const nextAt = read.filter((at) => at >= instant).toSorted()[0] ?? null
    const status = known.length > 0 ? state.status : null
    return [
      {
        id: lead.id,
        pipelineId: state.pipeline_id,
        source: lead.source,
        country: lead.company_country,
        createdAt: lead.created_at,
        status,
        activityStatus:
          (moves.get(lead.id) ?? [])
            .filter((move) => move.moved_at < instant)
            .toSorted((a, b) => (a.moved_at < b.moved_at ? -1 : 1))
            .at(-1)?.to_status ?? status,
        outcome: stages.get(status ?? '')?.outcome ?? 'open',
        since: stay[0]?.valid_from ?? lead.created_at,
        score: state.score,
        value:
          state.value_amount === null || state.value_currency === null
            ? null
            : { amount: state.value_amount, currency: state.value_currency },
        nextAt,
        isChangeKnown:
          nextAt === null ||
          told.includes(nextAt) ||
          (states.some((each) => each.changed_at < instant) &&
            runs.some((asOf) => asOf >= instant && asOf <= nextAt)),
        changedAt: [...read, ...told]
          .filter((at) => at < instant)
          .reduce((a, b) => (a > b ? a : b), lead.created_at),
      },
    ]
  }

  return {
    at: (instant) => leads.flatMap((lead) => pastOf(lead, instant)),
    statusesOf: (id, before) => [
      ...(versions.get(id) ?? []).filter((state) => state.valid_from < before).map((state) => state.status),
      ...(moves.get(id) ?? []).filter((move) => move.moved_at < before).map((move) => move.to_status),
      ...(moves.get(id) ?? []).flatMap(({ entered_at, from_status }) =>
        from_status !== null && (entered_at ?? '') < before ? [from_status] : [],
      ),
    ],
    staysEnded: (from, to) =>
      [...moves.values()].flat().flatMap(({ lead_id, moved_at, from_status, days_before }) => {
        if (from_status === null || days_before === null || moved_at < from || moved_at >= to) return []
        return [{ leadId: lead_id, status: from_status, days: days_before }]
      }),
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

/**
 * Computes the history of a lead from the states in which the lead was read, with pure functions. The result
 * does not depend on the order in which the states arrived. The states are ordered by the upstream's clock,
 * or by ours if the upstream gives no time.
 */

import { fieldsWith } from '../../domain/lead-fields.ts'
import type { Instant } from '../../domain/model.ts'
import { isAmong, textsIn } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Db } from '../db/store.ts'
import type { Row, TrackedColumn } from '../tables/tables.ts'

/** The tracked fields: if one of them changes, the lead gets a new version. */
export const TRACKED = fieldsWith('hasHistory')

export type LeadState = Pick<
  Row<'lead_version'>,
  'changed_at' | 'status_changed_at' | 'observed_at' | 'run_id' | TrackedColumn
>

interface Span {
  readonly from: Instant
  readonly to: Instant | null
}

/** A span by our clock in which a lead was deleted upstream; `to` is null if it still is. */
export type Deletion = Span

/** A state and the time at which it began. Spans in which the lead was deleted are not taken out yet. */
export interface Step {
  readonly state: LeadState
  readonly from: Instant
  readonly minorUpdates: readonly LeadState[]
}

type LeadVersion = LeadState & Pick<Row<'lead_version'>, 'valid_from' | 'valid_to'>

export function hasSameTracked(one: LeadState, other: LeadState): boolean {
  return TRACKED.every(({ column }) => one[column] === other[column])
}

/**
 * Each step begins with a change of a tracked field. `states` are in order of `changed_at`, then of reading.
 */
export function stepsOf(states: readonly LeadState[]): Step[] {
  const steps: { state: LeadState; from: Instant; minorUpdates: LeadState[] }[] = []
  for (const [index, state] of states.entries()) {
    const last = steps.at(-1)
    if (last && hasSameTracked(last.state, state)) last.minorUpdates.push(state)
    else steps.push({ state, from: beginOf(state, last, states[index + 1]), minorUpdates: [] })
  }
  return steps
}

/** Returns each step without the spans of deletions. The versions are in order and never overlap. */
export function historyOf(steps: readonly Step[], deletions: readonly Deletion[]): LeadVersion[] {
  return steps.flatMap(({ state, from }, index) => {
    const to = steps[index + 1]?.from ?? null
    return spansOf(from, to, deletions).map((span) => ({
      ...state,
      valid_from: span.from,
      valid_to: span.to,
    }))
  })
}

/**
 * Returns when a state began. This is the time of the change of status if the status is new, otherwise the
 * time of the update. If an update has the same time as the update before, the state begins when it was read,
 * if that was before the next update. A state begins at least a millisecond after the previous state.
 */
function beginOf(state: LeadState, before: Step | undefined, next: LeadState | undefined): Instant {
  const { changed_at, status_changed_at, observed_at } = state
  const isStatusDated = status_changed_at !== null && status_changed_at <= changed_at
  if (!before) return isStatusDated ? status_changed_at : changed_at
  const lastUpdate = lastUpdateOf(before)
  const isOfSameTime = changed_at === lastUpdate
  const isMove = state.status !== before.state.status
  let at = isMove && isStatusDated && status_changed_at > lastUpdate ? status_changed_at : changed_at
  if (isOfSameTime && (!next || observed_at < next.changed_at)) at = observed_at
  return at > before.from ? at : after(before.from)
}

/** The update time that the upstream gave last. */
export function lastUpdateOf(step: Step): Instant {
  return step.minorUpdates.at(-1)?.changed_at ?? step.state.changed_at
}

/**
 * Returns the spans of a state in which its lead existed. If no part is left outside the deletions, returns an empty
 * span at the beginning.
 */
function spansOf(from: Instant, to: Instant | null, deletions: readonly Deletion[]): Span[] {
  const spans: Span[] = []
  let start: Instant | null = from
  for (const deletion of deletions) {
    if (start === null || (to !== null && deletion.from >= to)) break
    if (deletion.to !== null && deletion.to <= start) continue
    if (deletion.from > start) spans.push({ from: start, to: deletion.from })
    start = deletion.to
  }
  if (start !== null && (to === null || start < to)) spans.push({ from: start, to })
  return spans.length > 0 ? spans : [{ from, to: from }]
}

function after(at: Instant): Instant {
  return new Date(Date.parse(at) + 1).toISOString()
}

export interface KnownHistory {
  readonly versions: readonly Row<'lead_version'>[]
  readonly minorUpdates: readonly Row<'lead_minor_update'>[]
  readonly deletions: readonly Deletion[]
}

/** Reads the histories of leads, each in order of time. A lead without a stored history gets an empty one. */
export async function readHistories(db: Db, ids: readonly string[]): Promise<Map<string, KnownHistory>> {
  const wanted = { ids: JSON.stringify(ids) }
  const byLead = <T extends { lead_id: string }>({ rows }: { rows: T[] }) =>
    Map.groupBy(rows, (row) => row.lead_id)
  const versions = byLead(await selectVersions(db, wanted))
  const minorUpdates = byLead(await selectMinorUpdates(db, wanted))
  const deletions = byLead(await selectDeletions(db, wanted))
  const historyOf = (id: string): KnownHistory => ({
    versions: versions.get(id) ?? [],
    minorUpdates: minorUpdates.get(id) ?? [],
    deletions: deletions.get(id) ?? [],
  })
  return new Map(ids.map((id) => [id, historyOf(id)]))
}

const selectVersions = statement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('lead_version')
    .where(isAmong(db, 'lead_id', ids))
    .selectAll()
    .orderBy('lead_id')
    .orderBy('valid_from')
    .compile(),
)

const selectMinorUpdates = statement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('lead_minor_update')
    .where('lead_id', 'in', textsIn(ids))
    .selectAll()
    .orderBy('lead_id')
    .orderBy('changed_at')
    .compile(),
)

const selectDeletions = statement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('lead_deletion')
    .where('lead_id', 'in', textsIn(ids))
    .select(['lead_id', 'deleted_since as from', 'returned_at as to'])
    .orderBy('lead_id')
    .orderBy('deleted_since')
    .compile(),
)

/** A deletion splits a state into rows. A minor update takes the tracked fields from the state before it. */
export function statesOf({ versions, minorUpdates }: KnownHistory): LeadState[] {
  const states: LeadState[] = []
  const waiting = [...minorUpdates]
  const takeUpdates = (until: Instant | null): void => {
    for (
      let update = waiting[0];
      update && (until === null || update.changed_at <= until);
      update = waiting[0]
    ) {
      const { lead_id, ...times } = update
      const before = states.at(-1)
      if (before) states.push({ ...before, ...times })
      waiting.shift()
    }
  }
  let last: Row<'lead_version'> | undefined
  for (const row of versions) {
    if (last && last.changed_at === row.changed_at && hasSameTracked(last, row)) continue
    takeUpdates(row.changed_at)
    const { lead_id, valid_from, valid_to, ...state } = row
    states.push(state)
    last = row
  }
  takeUpdates(null)
  return states
}

/**
 * Saves the history of leads. If a lead has not changed since its first read, its only version is not stored
 * but derived: the view `lead_version` takes it from the row in `lead`. When a lead changes, its history is
 * read and rebuilt with the new records, and only the differences are written.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Instant, Lead } from '../../domain/model.ts'
import { insertRows, listOf, replaceRows, textsIn } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Observation, Trx } from '../db/store.ts'
import type { Row, TrackedColumn } from '../tables/tables.ts'
import { withLeadDays } from './lead-day.ts'
import {
  hasSameTracked,
  historyOf,
  type KnownHistory,
  type LeadState,
  readHistories,
  type Step,
  statesOf,
  stepsOf,
  TRACKED,
} from './lead-history.ts'
import { moveTraits, saveStageMoves } from './stage-move.ts'

export interface Arrivals {
  /** New leads whose first version must be stored, because it cannot be derived from the row in `lead`. */
  readonly underivable: readonly Lead[]
  /** Each lead occurs once. */
  readonly present: readonly Lead[]
  /** Older than the row in `lead`, which stays unchanged. */
  readonly older: readonly Lead[]
  /** The ids of leads that were marked as deleted and exist again, whether or not their fields changed. */
  readonly returned: readonly string[]
  /** The versions of leads in `present` that were derived from the rows before the page was written. */
  readonly derived: ReadonlyMap<string, Row<'lead_version'>>
}

const NO_HISTORY: KnownHistory = { versions: [], minorUpdates: [], deletions: [] }

/** The minor updates (of no tracked field) that are kept for each lead. */
const MINOR_UPDATES_KEPT = 16

/**
 * Saves the history of a page of leads. Call this function after the rows of `underivable` leads were written to
 * `lead`.
 * @returns since when a lead has its status, for leads of which the upstream does not say so, and those that were
 * set back. The caller writes it to the row of the lead
 */
export async function saveHistory(
  trx: Trx,
  arrived: Arrivals,
  observed: Observation,
): Promise<ReadonlyMap<string, Instant>> {
  await insertRows(
    trx,
    'lead_history',
    arrived.underivable.flatMap((lead) => versionsOf(lead.id, stepsOf([stateOf(lead, observed)]), [])),
  )
  await endDeletions(trx, arrived.returned, observed)
  const present = new Map(arrived.present.map((lead) => [lead.id, lead]))
  const older = Map.groupBy(arrived.older, (lead) => lead.id)
  const ids = new Set([...present.keys(), ...older.keys(), ...arrived.returned])
  const statusSince = new Map<string, Instant>()
  if (ids.size === 0) return statusSince

  const changes: Change[] = []
  const moved = new Map<string, Step[]>()
  const histories = await readHistories(
    trx,
    [...ids].filter((id) => !arrived.derived.has(id)),
  )
  for (const id of ids) {
    const known = histories.get(id) ?? NO_HISTORY
    // If the version of a lead was derived, the lead has no other history. The version is stored below, with
    // its end.
    const derived = arrived.derived.get(id)
    const states = statesOf(derived === undefined ? known : { ...known, versions: [derived] })
    const traits = moveTraits(stepsOf(states))
    for (const lead of older.get(id) ?? []) addOlder(states, lead, observed)
    const lead = present.get(id)
    if (lead) addPresent(states, lead, observed)
    const steps = stepsOf(states)
    const begun = lead && steps[beginOfStatus(steps, lead.status)]
    if (begun?.state.status_changed_at === null) statusSince.set(id, begun.from)
    changes.push({ id, known, steps })
    if (moveTraits(steps) !== traits) moved.set(id, steps)
  }
  await writeChanges(trx, changes)
  await saveStageMoves(trx, moved)
  return statusSince
}

/**
 * Tells whether the first version of a lead can be derived from its row. A derived version begins at the time
 * of the status. If the upstream gives the status a later time than the update, the version must begin with
 * the update, and so it cannot be derived.
 */
export function canDerive({ updatedAt, statusChangedAt }: Lead, observed: Observation): boolean {
  return statusChangedAt === null || statusChangedAt <= (updatedAt ?? observed.at)
}

/** Returns the version that `lead_version` derives from the row of a lead; null if it derives none. */
export function derivedVersion(row: Row<'lead'> | undefined): Row<'lead_version'> | null {
  if (row === undefined || row.derived_version === null) return null
  return {
    lead_id: row.id,
    valid_from: row.status_changed_at,
    valid_to: null,
    changed_at: row.updated_at,
    status_changed_at: row.derived_version === 1 ? row.status_changed_at : null,
    observed_at: row.first_seen_at,
    ...trackedOf(({ column }) => row[column]),
    run_id: row.run_id,
  }
}

/** Must run before the rows or the history change, except for leads in `derived` of `saveHistory`. */
export async function storeDerivedVersions(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const wanted = { ids: JSON.stringify(ids) }
  await insertDerived(trx, wanted)
  await clearDerived(trx, wanted)
}

const insertDerived = statement((db, { ids }: { ids: string }) =>
  sql`INSERT INTO lead_history SELECT *, -1 FROM lead_version WHERE lead_id IN ${derivedOf(ids)}`.compile(db),
)

const clearDerived = statement((db, { ids }: { ids: string }) =>
  sql`UPDATE lead SET derived_version = NULL WHERE id IN ${derivedOf(ids)}`.compile(db),
)

function derivedOf(ids: string): RawBuilder<unknown> {
  return sql`(SELECT id FROM lead WHERE id IN ${textsIn(ids)} AND derived_version IS NOT NULL)`
}

/** Ends the open versions. A deletion begins no earlier than the last return of its lead. */
export async function recordDeletions(
  trx: Trx,
  ids: readonly string[],
  observed: Observation,
): Promise<void> {
  await withLeadDays(trx, ids, () => endVersions(trx, ids, observed))
}

async function endVersions(trx: Trx, ids: readonly string[], observed: Observation): Promise<void> {
  if (ids.length === 0) return
  await storeDerivedVersions(trx, ids)
  await sql`INSERT INTO lead_deletion (lead_id, deleted_since, run_id)
    SELECT value, max(${observed.at}, coalesce((SELECT max(returned_at) FROM lead_deletion WHERE lead_id = value), '')), ${observed.runId}
    FROM json_each(${JSON.stringify(ids)})`.execute(trx)
  await sql`UPDATE lead_history SET valid_to = max(deletion.deleted_since, lead_history.valid_from)
    FROM lead_deletion AS deletion WHERE deletion.lead_id = lead_history.lead_id AND deletion.returned_at IS NULL
      AND lead_history.valid_to IS NULL AND lead_history.lead_id IN ${listOf(ids)}`.execute(trx)
}

/** A deletion lasts at least a millisecond, even after a clock was set back, as queries would miss it. */
async function endDeletions(trx: Trx, ids: readonly string[], observed: Observation): Promise<void> {
  if (ids.length === 0) return
  await sql`UPDATE lead_deletion
    SET returned_at = max(${observed.at}, strftime('%Y-%m-%dT%H:%M:%fZ', deleted_since, '+0.001 seconds'))
    WHERE returned_at IS NULL AND lead_id IN ${listOf(ids)}`.execute(trx)
}

/** If the upstream moved the lead's time back, the new state gets the time at which it was read. */
function addPresent(states: LeadState[], lead: Lead, observed: Observation): void {
  let state = stateOf(lead, observed)
  if (lead.updatedAt !== null && isBeforeLast(state, states)) {
    moveBack(states, state)
    undateStatus(states, state)
    if (isBeforeLast(state, states)) state = { ...state, changed_at: observed.at, status_changed_at: null }
  }
  const last = states.at(-1)
  const isSame = last !== undefined && hasSameTracked(last, state)
  if (last && last.changed_at >= state.changed_at) {
    if (!isSame) states.push({ ...state, changed_at: last.changed_at })
  } else if (!isSame || lead.updatedAt !== null) states.push(state)
}

function isBeforeLast(state: LeadState, states: readonly LeadState[]): boolean {
  return state.changed_at < (states.at(-1)?.changed_at ?? '')
}

/**
 * Puts right what the time of the present state contradicts, in three steps.
 * 1. A state cannot have begun after it was read, so a state with such a date begins when it was read.
 * 2. The present state may be among the earlier ones, because its record seemed to arrive late. If it was
 *    read after all others, it is the last one, and begins when it was read.
 * 3. If the last state is the present one, it takes over the earlier time, unless another state has that
 *    time or a later one.
 */
function moveBack(states: LeadState[], present: LeadState): void {
  for (const [index, state] of states.entries()) {
    if (state.changed_at > state.observed_at) states[index] = { ...state, changed_at: state.observed_at }
  }
  states.sort((a, b) => (a.changed_at < b.changed_at ? -1 : a.changed_at > b.changed_at ? 1 : 0))
  const isPresent = (state: LeadState): boolean => hasSameTracked(state, present)
  const place = states.findIndex((state) => state.changed_at === present.changed_at && isPresent(state))
  const late = states[place]
  const others = states.toSpliced(place, 1)
  if (late && place < others.length && others.every((other) => other.observed_at < late.observed_at)) {
    states.splice(0, states.length, ...others, {
      ...late,
      changed_at: late.observed_at,
      status_changed_at: null,
    })
  }
  const begin = states.findLastIndex((state) => !isPresent(state)) + 1
  const [first, ...more] = states.slice(begin)
  const before = states[begin - 1]
  if (!first || (before && before.changed_at >= present.changed_at)) return
  const { changed_at, status_changed_at } = present
  const redated = first.changed_at > changed_at ? { ...first, changed_at, status_changed_at } : first
  states.splice(begin, states.length, redated, ...more.filter((state) => state.changed_at <= changed_at))
}

/** Removes the time of a status that was set back to an earlier time than the history of its lead allows. */
function undateStatus(states: LeadState[], present: LeadState): void {
  const steps = stepsOf(states)
  const begin = beginOfStatus(steps, present.status)
  const step = steps[begin]
  if (begin === 0 || !step || (present.status_changed_at ?? step.from) >= step.from) return
  const undated = { ...step.state, changed_at: step.from, status_changed_at: null }
  states.splice(states.indexOf(step.state), 1, undated)
}

function beginOfStatus(steps: readonly Step[], status: string): number {
  return steps.findLastIndex(({ state }) => state.status !== status) + 1
}

/** Inserts an older state in the order of time, unless the same is already known at that instant. */
function addOlder(states: LeadState[], lead: Lead, observed: Observation): void {
  const state = stateOf(lead, observed)
  if (states.some((other) => other.changed_at === state.changed_at && hasSameTracked(other, state))) return
  const place = states.findIndex((other) => other.changed_at > state.changed_at)
  states.splice(place === -1 ? states.length : place, 0, state)
}

function stateOf(lead: Lead, observed: Observation): LeadState {
  return {
    changed_at: lead.updatedAt ?? observed.at,
    status_changed_at: lead.statusChangedAt,
    observed_at: observed.at,
    run_id: observed.runId,
    ...trackedOf(({ name }) => lead[name]),
  }
}

function trackedOf(read: (field: (typeof TRACKED)[number]) => unknown): Pick<LeadState, TrackedColumn> {
  const columns: Partial<Record<TrackedColumn, unknown>> = {}
  for (const field of TRACKED) columns[field.column] = read(field)
  // Because `TRACKED` has a field for each of these columns, all of them are set.
  return columns as Pick<LeadState, TrackedColumn>
}

function versionsOf(id: string, steps: readonly Step[], deletions: KnownHistory['deletions']) {
  return historyOf(steps, deletions).map((version) => ({ lead_id: id, ...version }))
}

function minorUpdatesOf(id: string, steps: readonly Step[]): Row<'lead_minor_update'>[] {
  const minorUpdates = steps.flatMap((step) => step.minorUpdates).slice(-MINOR_UPDATES_KEPT)
  return minorUpdates.map(({ changed_at, status_changed_at, observed_at, run_id }) => ({
    lead_id: id,
    changed_at,
    status_changed_at,
    observed_at,
    run_id,
  }))
}

/** The stored history of a lead, and its steps by now. */
interface Change {
  readonly id: string
  readonly known: KnownHistory
  readonly steps: readonly Step[]
}

async function writeChanges(trx: Trx, changes: readonly Change[]): Promise<void> {
  await replaceRows(trx, 'lead_history', ['lead_id', 'valid_from'], {
    stored: changes.flatMap(({ known }) => known.versions),
    wanted: changes.flatMap(({ id, known, steps }) => versionsOf(id, steps, known.deletions)),
  })
  await replaceRows(trx, 'lead_minor_update', ['lead_id', 'changed_at'], {
    stored: changes.flatMap(({ known }) => known.minorUpdates),
    wanted: changes.flatMap(({ id, steps }) => minorUpdatesOf(id, steps)),
  })
}

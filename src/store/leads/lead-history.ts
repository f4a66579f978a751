/**
 * What a lead has been, as a pure function of the states that were seen of it: in whatever order they arrive,
 * the history is the same. The upstream's clock orders them; ours only where that does not tell.
 */

import { sql } from 'kysely'
import { fieldsWith } from '../../domain/lead-fields.ts'
import type { Instant } from '../../model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import type { LeadTouchTable, LeadVersionTable, TrackedColumn } from '../tables/lead-tables.ts'

/** Fields whose changes make a new version. */
export const TRACKED = fieldsWith('hasHistory')

/** A lead as it was read once. */
export type LeadState = Pick<
  LeadVersionTable,
  'changed_at' | 'status_changed_at' | 'observed_at' | 'run_id' | TrackedColumn
>

/** A span in which a lead was gone upstream, by our clock; to null while it is. */
export interface Absence {
  readonly from: Instant
  readonly to: Instant | null
}

/** A state and when it began, whether the lead was there then or not. */
export interface Step {
  readonly state: LeadState
  readonly from: Instant
  /** The states after it that changed nothing tracked. */
  readonly touches: readonly LeadState[]
}

export type LeadVersion = LeadState & Pick<LeadVersionTable, 'valid_from' | 'valid_to'>

export function hasSameTracked(one: LeadState, other: LeadState): boolean {
  return TRACKED.every(({ column }) => one[column] === other[column])
}

/** @param states in the order of their `changed_at`; those of one instant in the order in which they were read */
export function stepsOf(states: readonly LeadState[]): Step[] {
  const steps: { state: LeadState; from: Instant; touches: LeadState[] }[] = []
  for (const [index, state] of states.entries()) {
    const last = steps.at(-1)
    if (last && hasSameTracked(last.state, state)) last.touches.push(state)
    else steps.push({ state, from: beginOf(state, last, states[index + 1]), touches: [] })
  }
  return steps
}

/** The versions of a lead: each step without the absences, in order and never overlapping. */
export function historyOf(steps: readonly Step[], absences: readonly Absence[]): LeadVersion[] {
  return steps.flatMap(({ state, from }, index) => {
    const to = steps[index + 1]?.from ?? null
    return spansOf(from, to, absences).map((span) => ({ ...state, valid_from: span.from, valid_to: span.to }))
  })
}

/**
 * A state begins with its last change of status where that is what is new, and otherwise with its update.
 * What the upstream dates before a state that was seen later cannot be; each begins after the one before.
 */
function beginOf(state: LeadState, before: Step | undefined, next: LeadState | undefined): Instant {
  const { changed_at, status_changed_at, observed_at } = state
  const isStatusDated = status_changed_at !== null && status_changed_at <= changed_at
  if (!before) return isStatusDated ? status_changed_at : changed_at
  const seenBefore = lastSightingOf(before)
  const isOfSameTime = changed_at === seenBefore
  const isMove = state.status !== before.state.status
  let told = isMove && isStatusDated && status_changed_at > seenBefore ? status_changed_at : changed_at
  if (isOfSameTime && (!next || observed_at < next.changed_at)) told = observed_at
  return told > before.from ? told : after(before.from)
}

/** When the lead was last known to be in that state: its latest update in it. */
export function lastSightingOf(step: Step): Instant {
  return step.touches.at(-1)?.changed_at ?? step.state.changed_at
}

/** The parts of a span that lie outside the absences; an empty one at its start where nothing is left. */
function spansOf(from: Instant, to: Instant | null, absences: readonly Absence[]): Absence[] {
  const spans: Absence[] = []
  let start: Instant | null = from
  for (const gone of absences) {
    if (start === null || (to !== null && gone.from >= to)) break
    if (gone.to !== null && gone.to <= start) continue
    if (gone.from > start) spans.push({ from: start, to: gone.from })
    start = gone.to
  }
  if (start !== null && (to === null || start < to)) spans.push({ from: start, to })
  return spans.length > 0 ? spans : [{ from, to: from }]
}

function after(at: Instant): Instant {
  return new Date(Date.parse(at) + 1).toISOString()
}

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

/*
 * Leads as they were at a past moment. The tracked fields are those of then; the others are only known as they are
 * now.
 */

export interface PastLead {
  readonly id: string
  readonly pipeline_id: string
  readonly status: string
  readonly score: number | null
  readonly value_amount: number | null
  readonly value_currency: string | null
  readonly agent_id: string | null
  /** Since when it was in that state. */
  readonly valid_from: Instant
  readonly company_name: string | null
  readonly company_country: string | null
  readonly contact_name: string | null
}

export interface PastFilter {
  readonly pipelineId?: string | undefined
  readonly statuses?: readonly string[] | undefined
  readonly minScore?: number | undefined
}

/**
 * The leads that were there, last changed first, and how many there were in all.
 * @param limit null for all of them
 */
export async function listLeadsAsOf(
  db: Db,
  at: Instant,
  { pipelineId, statuses, minScore }: PastFilter,
  limit: number | null,
): Promise<{ leads: PastLead[]; total: number }> {
  const then = sql`(version.valid_to IS NULL OR version.valid_to > ${at})
    ${pipelineId === undefined ? sql`` : sql`AND version.pipeline_id = ${pipelineId}`}
    ${statuses === undefined ? sql`` : sql`AND version.status IN ${listOf(statuses)}`}
    ${minScore === undefined ? sql`` : sql`AND version.score >= ${minScore}`}`
  const { rows: leads } = await sql<PastLead>`
    SELECT lead.id, version.pipeline_id, version.status, version.score, version.value_amount, version.value_currency,
      version.agent_id, version.valid_from, lead.company_name, lead.company_country, lead.contact_name
    FROM lead_version AS version JOIN lead ON lead.id = version.lead_id
    WHERE version.valid_from <= ${at} AND ${then}
    ORDER BY version.valid_from DESC, version.lead_id LIMIT ${limit ?? -1}`.execute(db)
  // The plus keeps SQLite from looking up most rows of the table one by one, through the index.
  const { rows: counted } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM lead_version AS version WHERE +version.valid_from <= ${at} AND ${then}`.execute(
    db,
  )
  return { leads, total: counted[0]?.n ?? 0 }
}

/** Leads that were there then, by their creation, and whose state then is not known. */
export async function countUnknownAsOf(db: Db, at: Instant): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM lead
    WHERE first_seen_at > ${at} AND created_at <= ${at} AND NOT EXISTS (
      SELECT 1 FROM lead_version AS version WHERE version.lead_id = lead.id AND version.valid_from <= ${at})`.execute(
    db,
  )
  return rows[0]?.n ?? 0
}

/** From when on any state of a lead is known, and when the first sync began; null where there was none. */
export async function findHistoryStart(
  db: Db,
): Promise<{ firstState: Instant | null; firstSync: Instant | null }> {
  const { rows } = await sql<{ firstState: Instant | null; firstSync: Instant | null }>`
    SELECT (SELECT min(valid_from) FROM lead_version) AS "firstState",
      (SELECT min(started_at) FROM sync_run) AS "firstSync"`.execute(db)
  return rows[0] ?? { firstState: null, firstSync: null }
}

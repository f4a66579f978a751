// @both-stores
import { expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { saveLeads } from '../../../src/store/leads/lead.ts'
import { historyOf, type LeadState, stepsOf } from '../../../src/store/leads/lead-history.ts'
import { movesOf } from '../../../src/store/leads/stage-move.ts'
import { BLANK_STATE } from '../../support/data/blank-lead.ts'
import { countCases, pick, random, SEED_OF_TODAY, shuffled } from '../../support/random.ts'
import { deleteLeads, IN_POSTGRES, lead, openEmptyStore } from '../../support/store.ts'

const SEED = SEED_OF_TODAY
const SCENARIOS = countCases(IN_POSTGRES ? 1 : 3, 20)
const ORDERS = countCases(6, 50)
const START = Date.parse('2026-11-01T00:00:00Z')
const DAY_MS = 86_400_000

type Draw = () => number

/**
 * Returns the states of a lead over time: changes back and forth, updates without a change, moves with and
 * without their time.
 */
function changesOf(draw: Draw): Partial<Lead>[] {
  const changes: Partial<Lead>[] = []
  let at = START
  let status = 'new'
  let statusChangedAt: string | null = null
  for (let count = 3 + Math.floor(draw() * 8); count > 0; count--) {
    const before = at
    at += 1 + Math.floor(draw() * 2 * DAY_MS)
    if (draw() < 0.5) {
      status = pick(draw, ['new', 'contacted', 'won'])
      statusChangedAt = draw() < 0.7 ? instant(before + Math.ceil(draw() * (at - before))) : null
    }
    const score = pick(draw, [null, 40, 80])
    changes.push({ status, statusChangedAt, score, updatedAt: instant(at), companyName: `Name of ${at}` })
  }
  return changes
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

/** Reads everything stored about a lead's history, except the times of reading. */
async function readStored({ db }: Store, id: string): Promise<object> {
  const versions = db.selectFrom('lead_version').where('lead_id', '=', id).selectAll().orderBy('valid_from')
  const updates = db.selectFrom('lead_minor_update').where('lead_id', '=', id).select('changed_at')
  const moves = db.selectFrom('stage_move').where('lead_id', '=', id).selectAll().orderBy('moved_at')
  return {
    // In PostgreSQL the order of arrival is a column, which is left out.
    versions: (await versions.execute()).map(({ lead_id, observed_at, run_id, ...version }) => ({
      ...version,
      rowid: undefined,
    })),
    minorUpdates: (await updates.execute()).map((update) => update.changed_at).sort(),
    moves: (await moves.execute()).map(({ lead_id, observed_at, ...move }) => move),
  }
}

/** Computes the same with the pure functions, from all states at once. */
function expectedOf(states: readonly LeadState[], gone: { from: string; to: string }): object {
  const steps = stepsOf(states)
  return {
    versions: historyOf(steps, [gone]).map(({ observed_at, run_id, ...version }) => version),
    minorUpdates: steps.flatMap((step) => step.minorUpdates.map((update) => update.changed_at)),
    moves: movesOf(steps, []).map(({ observed_at, ...move }) => move),
  }
}

/** Returns the state of a lead of which nothing else is known than what {@link changesOf} tells. */
function stateOf({ updatedAt, statusChangedAt, pipelineId, status, score }: Lead): LeadState {
  return {
    ...BLANK_STATE,
    changed_at: updatedAt ?? '',
    status_changed_at: statusChangedAt,
    observed_at: '',
    run_id: '',
    pipeline_id: pipelineId,
    status,
    score,
  }
}

it(`the history of a lead is the same in ${SCENARIOS * ORDERS} random orders of arrival, with flips, repeats, removal and return (SEED=${SEED})`, async () => {
  await using store = await openEmptyStore()
  const draw = random(SEED)
  for (let scenario = 0; scenario < SCENARIOS; scenario++) {
    const changes = changesOf(draw)
    const gone = {
      from: instant(START + draw() * 8 * DAY_MS),
      to: instant(START + (8 + draw() * 4) * DAY_MS),
    }
    const ids = Array.from({ length: ORDERS }, (_, order) => `lead-${scenario}-${order}`)
    const arrivals = ids.map((id) => {
      const states = changes.map((change) => lead(id, change))
      const first = shuffled([...states, ...states], draw)
      return { first, again: shuffled([...states, ...states.slice(0, 2)], draw) }
    })
    const firstReadAt = new Map<string, string>()
    let at = START + 30 * DAY_MS
    const read = async (pages: readonly Lead[][], readAt?: string): Promise<void> => {
      const observed = { runId: 'run', at: readAt ?? instant(at++) }
      const page = pages.flatMap((leads) => leads.splice(0, draw() < 0.3 ? 2 : 1))
      for (const { raw } of page) if (!firstReadAt.has(raw)) firstReadAt.set(raw, observed.at)
      await store.write((trx) => saveLeads(trx, page, observed))
    }

    // A random part of the states arrives before the removal, and the others after the return.
    const halves = arrivals.map(({ first }) => first.splice(0, 1 + Math.floor(draw() * changes.length)))
    while (halves.some((leads) => leads.length > 0)) await read(halves)
    await deleteLeads(store, ids, gone.from)
    const rest = arrivals.map(({ first, again }) => [...first, ...again])
    await read(rest, gone.to)
    while (rest.some((leads) => leads.length > 0)) await read(rest)

    const expected = expectedOf(
      changes.map((change) => stateOf(lead('', change))),
      gone,
    )
    for (const id of ids) expect(await readStored(store, id), id).toEqual(expected)
    const versions = store.db.selectFrom('lead_version').where('lead_id', 'in', ids).selectAll()
    for (const version of await versions.execute()) {
      const change = changes.find((some) => some.updatedAt === version.changed_at)
      expect(version.observed_at).toBe(firstReadAt.get(lead(version.lead_id, change).raw))
    }
    const latest = changes.at(-1)
    const columns = ['status', 'score', 'updated_at', 'deleted_at'] as const
    const rows = store.db.selectFrom('lead').where('id', 'in', ids).select(columns).distinct()
    expect(await rows.execute()).toEqual([
      { status: latest?.status, score: latest?.score, updated_at: latest?.updatedAt, deleted_at: null },
    ])
  }
  expect(await findViolations(store.db, instant(START + 60 * DAY_MS), 'all')).toEqual([])
})

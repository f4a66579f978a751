/** The simulation over its store: how far it has come, and playing it on. */
import { setImmediate as breathe } from 'node:timers/promises'
import type { ServiceDatabase } from '../store/database.ts'
import { listPipelines } from '../store/pipeline-stats.ts'
import {
  insertSimulation,
  listDueLeads,
  listTakenCompanies,
  readSimulation,
  type SimulationState,
  writeChanges,
} from '../store/simulation.ts'
import type { PipelineRow } from '../store/tables.ts'
import { DAY_MS, startOfDay } from './calendar.ts'
import { READY_PIPELINES } from './characters.ts'
import type { Company } from './companies.ts'
import { createPool, type Pool } from './pool.ts'
import { simulate } from './simulate.ts'
import { createWorld, type World } from './world.ts'

export interface Life {
  readonly world: World
  /** The instant up to which everything has happened and is in the store. */
  until(): number
  /**
   * Plays on to an instant, a stretch at a time with a breath between, each stretch in one transaction.
   * Does nothing when that instant has been reached already.
   */
  advance(to: number, options: AdvanceOptions): Promise<void>
}

export interface AdvanceOptions {
  /** The longest stretch: what one block of the event loop plays. */
  readonly stretchMs: number
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /** Ends it after the stretch in hand. */
  readonly signal?: AbortSignal | undefined
}

export interface LifeOptions {
  readonly seed: number
  readonly companies: readonly Company[]
  /** How far back a new history starts. */
  readonly historyDays: number
  readonly now: number
}

/** Goes on with the history in the store, whatever its seed; starts one if there is none. */
export async function openLife(db: ServiceDatabase, options: LifeOptions): Promise<Life> {
  const state = (await readSimulation(db)) ?? (await begin(db, options))
  const world = createWorld(state, options.companies)
  const pools = new Map<string, Pool>()
  let until = state.simulatedUntil
  let last = Promise.resolve()

  async function playStretch(to: number): Promise<void> {
    const due = await listDueLeads(db, to)
    const searched = []
    for (const pipeline of await listPipelines(db, 'active')) {
      const pool =
        pools.get(pipeline.id) ?? createPool(world, pipeline, await listTakenCompanies(db, pipeline.id))
      pools.set(pipeline.id, pool)
      searched.push({ pipeline, pool })
    }
    try {
      await writeChanges(db, simulate(world, due, searched, until, to), until, to)
    } catch (error) {
      // The pools have been drawn from, but nothing was written.
      pools.clear()
      throw error
    }
    until = to
  }

  async function play(to: number, { stretchMs, onProgress, signal }: AdvanceOptions): Promise<void> {
    const from = until
    while (until < to && signal?.aborted !== true) {
      await playStretch(Math.min(to, until + stretchMs))
      onProgress?.(until - from, to - from)
      await breathe()
    }
  }

  return {
    world,
    until: () => until,
    advance: (to, advanceOptions) => {
      const turn = last.then(() => play(to, advanceOptions))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

async function begin(db: ServiceDatabase, { seed, historyDays, now }: LifeOptions): Promise<SimulationState> {
  const epochAt = startOfDay(now) - historyDays * DAY_MS
  const pipelines = READY_PIPELINES.map(
    ({ id, name, criteria }): PipelineRow => ({
      id,
      name,
      criteria: JSON.stringify(criteria),
      status: 'active',
      created_at: epochAt,
      updated_at: epochAt,
    }),
  )
  const state = { seed, epochAt, madeAt: now, simulatedUntil: epochAt }
  await insertSimulation(db, state, pipelines)
  return state
}

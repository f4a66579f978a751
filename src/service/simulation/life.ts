/**
 * Runs the simulation on its database. It knows up to what time the history is simulated, and continues from
 * there.
 */
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
import type { Scenario } from './scenario.ts'
import { simulate } from './simulate.ts'
import { createPool, createWorld, type Pool, type World } from './world.ts'

export interface Life {
  readonly world: World
  /**
   * Returns the instant up to which everything has been simulated and is in the database, in milliseconds
   * since 1970.
   */
  until(): number
  /**
   * Simulates up to an instant in stretches, each in one transaction, with a pause between them. Does nothing
   * if the simulation has already reached that instant.
   */
  advance(to: number, options: AdvanceOptions): Promise<void>
}

interface AdvanceOptions {
  /** The maximum length of a stretch. The event loop is blocked while a stretch is simulated. */
  readonly stretchMs: number
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /** Stops the simulation after the current stretch. */
  readonly signal?: AbortSignal | undefined
}

interface LifeOptions {
  readonly seed: number
  readonly companies: readonly Company[]
  /** How many days back a new history starts. */
  readonly historyDays: number
  /** The scenario of a new history. A history in the database keeps its own. */
  readonly scenario?: Scenario | undefined
  readonly now: number
}

/** Continues the history in the database, which keeps its own seed, or starts a new one if there is none. */
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
      // The pools are wrong after a failed write, because companies were taken from them but not stored as
      // leads.
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

async function begin(db: ServiceDatabase, options: LifeOptions): Promise<SimulationState> {
  const { seed, now, scenario = null } = options
  const historyDays = scenario?.history_days ?? options.historyDays
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
  const state = { seed, epochAt, madeAt: now, simulatedUntil: epochAt, scenario }
  await insertSimulation(db, state, pipelines)
  return state
}

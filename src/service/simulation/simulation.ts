/** Continues the simulation strictly in order of time, so that interruptions do not change the result. */
import { setImmediate as breathe } from 'node:timers/promises'
import type { LeadRow, PipelineRow, ServiceDatabase } from '../store/database.ts'
import { searchText } from '../store/lead.ts'
import { listPipelines } from '../store/pipeline-stats.ts'
import type { Changes, SimulationState } from '../store/simulation.ts'
import {
  insertSimulation,
  listDueLeads,
  listTakenCompanies,
  noChanges,
  readSimulation,
  recordDiscovery,
  recordEvent,
  writeChanges,
} from '../store/simulation.ts'
import { DAY_MS, startOfDay } from './calendar.ts'
import { pickOwner, READY_PIPELINES } from './characters.ts'
import type { Company } from './companies.ts'
import type { Discovery } from './fate.ts'
import { listDiscoveries } from './fate.ts'
import { lineFor } from './lead-details.ts'
import { idFor, randomFor } from './random.ts'
import { planFirstStep, takeStep } from './steps.ts'
import type { Pool, World } from './world.ts'
import { createPool, createWorld } from './world.ts'

export interface Simulation {
  readonly world: World
  /** All changes up to this instant (milliseconds since 1970) are simulated and in the database. */
  until(): number
  /** Each part is one transaction, followed by a short pause. Does nothing for an instant already reached. */
  advance(to: number, options: AdvanceOptions): Promise<void>
}

interface AdvanceOptions {
  /** The maximum simulated time of one part. The event loop is blocked while a part is simulated. */
  readonly stretchMs: number
  readonly onProgress?: ((done: number, total: number) => void) | undefined
  /** Stops the simulation after the current part. */
  readonly signal?: AbortSignal | undefined
}

interface SimulationOptions {
  readonly seed: number
  readonly companies: readonly Company[]
  /** The length of a new history in days. */
  readonly historyDays: number
  readonly now: number
}

/** Continues the history in the database with its stored seed, or starts a new history. */
export async function openSimulation(db: ServiceDatabase, options: SimulationOptions): Promise<Simulation> {
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
      // The pools lack the companies that were taken but not stored as leads. The pools are therefore made
      // again.
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

async function begin(db: ServiceDatabase, options: SimulationOptions): Promise<SimulationState> {
  const { seed, now, historyDays } = options
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

interface Searched {
  readonly pipeline: PipelineRow
  readonly pool: Pool
}

interface Occurrence {
  readonly at: number
  /** The text that decides the order of occurrences in the same millisecond. */
  readonly key: string
  readonly happen: () => void
}

/** Below this share of companies that match and are not yet taken, discoveries become ever rarer. */
const SCARCE_SHARE = 0.35

/**
 * Simulates the time after `from` and up to `to`.
 * @param due the leads whose next step is at or before `to`; this function changes them
 * @param searched the pipelines with their pools, from which this function takes companies
 * @returns the changes with `from < at <= to`
 */
function simulate(
  world: World,
  due: readonly LeadRow[],
  searched: readonly Searched[],
  from: number,
  to: number,
): Changes {
  const changes = noChanges()
  /** The occurrences to come, in reverse order, so that the next one is at the end. */
  const coming: Occurrence[] = []
  const queue = (lead: LeadRow): void => {
    if (lead.next_at === null || lead.next_at > to) return
    const happen = (): void => {
      takeStep(world, changes, lead)
      queue(lead)
    }
    insert(coming, { at: lead.next_at, key: lead.id, happen })
  }
  for (const lead of due) queue(lead)
  for (const one of searched) {
    for (const discovery of listDiscoveries(world, one.pipeline, from, to)) {
      const happen = (): void => {
        const lead = discover(world, changes, one, discovery)
        if (lead !== null) queue(lead)
      }
      insert(coming, { at: discovery.at, key: one.pipeline.id, happen })
    }
  }
  for (const occurrence of listIncidentOccurrences(world, changes, from, to)) insert(coming, occurrence)
  for (let next = coming.pop(); next !== undefined; next = coming.pop()) next.happen()
  return changes
}

/** Inserts an occurrence before those that happen earlier. */
function insert(coming: Occurrence[], occurrence: Occurrence): void {
  coming.push(occurrence)
  coming.sort((a, b) => b.at - a.at || (a.key < b.key ? 1 : a.key > b.key ? -1 : 0))
}

/** Makes a lead of the next company. Returns null if there is none, or if the search was in vain. */
function discover(
  world: World,
  changes: Changes,
  { pipeline, pool }: Searched,
  found: Discovery,
): LeadRow | null {
  if (pipeline.status !== 'active') return null
  if (pool.remaining() === 0) {
    complete(changes, pipeline, found.at)
    return null
  }
  const random = randomFor(world.seed, 'found', pipeline.id, found.at)
  if (!random.chance(pool.remainingShare() / SCARCE_SHARE)) return null
  const company = pool.take()
  const lead = newLead(world, company, found)
  recordDiscovery(changes, lead, lineFor('discovered', random, { source: found.source }))
  planFirstStep(world, lead, company)
  if (pool.remaining() === 0) complete(changes, pipeline, found.at)
  return lead
}

function complete(changes: Changes, pipeline: PipelineRow, at: number): void {
  pipeline.status = 'completed'
  pipeline.updated_at = at
  changes.pipelines.set(pipeline.id, pipeline)
  const data = { pipeline_id: pipeline.id, name: pipeline.name, status: pipeline.status }
  recordEvent(changes, at, { type: 'pipeline.updated', data })
}

function newLead(world: World, company: Company, found: Discovery): LeadRow {
  const names = { company_name: company.name, company_domain: company.domain }
  const id = idFor('ld', world.seed, found.pipelineId, company.id)
  const nobody = { contact_name: null, contact_title: null, contact_email: null }
  return {
    id,
    pipeline_id: found.pipelineId,
    company_id: company.id,
    status: 'discovered',
    ...names,
    industry: company.industry,
    subindustry: company.subindustry,
    employees: company.employees,
    city: company.city,
    country: company.country,
    region: company.region,
    one_liner: company.oneLiner,
    ...nobody,
    score: null,
    value_amount: null,
    value_currency: null,
    source: found.source,
    owner: pickOwner(world.seed, id),
    agent_id: found.agentId,
    tags: JSON.stringify(company.tags.slice(0, 6)),
    enrichment: null,
    search_text: searchText({ ...names, ...nobody }),
    created_at: found.at,
    updated_at: found.at,
    status_changed_at: found.at,
    expected_close_at: null,
    next_step: null,
    next_at: null,
    next_agent_id: null,
    next_task_at: null,
    step_count: 0,
  }
}

/** Lists the starts, errors and ends of incidents. Only those after `from` and up to `to` are listed. */
function listIncidentOccurrences(
  world: World,
  changes: Changes,
  from: number,
  to: number,
): readonly Occurrence[] {
  const all: Occurrence[] = []
  for (let day = startOfDay(from) - DAY_MS; day <= to; day += DAY_MS) {
    const incident = day < world.epochAt ? undefined : world.incidents.startingOn(day)
    if (incident === undefined) continue
    const { agentId, status, startedAt, endsAt, errors } = incident
    const tell = (at: number, now: 'failing' | 'paused' | 'idle', message: string | null): void =>
      recordEvent(changes, at, {
        type: 'agent.status_changed',
        data: { agent_id: agentId, status: now, message },
      })
    const begin = (): void => {
      changes.incidents.push({ agent_id: agentId, status, started_at: startedAt, ends_at: endsAt })
      tell(startedAt, status, errors[0]?.message ?? null)
    }
    all.push({ at: startedAt, key: `${agentId} 1`, happen: begin })
    for (const { at, message } of errors) {
      const happen = (): void => void changes.agentErrors.push({ agent_id: agentId, at, message })
      all.push({ at, key: `${agentId} 2`, happen })
    }
    all.push({ at: endsAt, key: `${agentId} 3`, happen: () => tell(endsAt, 'idle', null) })
  }
  return all.filter((occurrence) => occurrence.at > from && occurrence.at <= to)
}

/**
 * Simulates a stretch of time strictly in order, so that a history is the same whether it is simulated in one
 * stretch or in many.
 */
import { searchText } from '../store/lead.ts'
import type { LeadRow, PipelineRow } from '../store/tables.ts'
import { DAY_MS, startOfDay } from './calendar.ts'
import { type Changes, noChanges, recordDiscovery, recordEvent } from './changes.ts'
import type { Company } from './companies.ts'
import { type Discovery, listDiscoveries } from './discovery.ts'
import { lineFor } from './lead-details.ts'
import { createHeap, idFor, type Random, randomFor } from './random.ts'
import { discoveryFactor, drawNear, listCountries } from './scenario.ts'
import { planFirstStep, takeStep } from './steps.ts'
import type { Pool, World } from './world.ts'

export interface Searched {
  readonly pipeline: PipelineRow
  readonly pool: Pool
}

interface Occurrence {
  readonly at: number
  /** A text that orders things which happen in the same millisecond. */
  readonly key: string
  readonly happen: () => void
}

/**
 * If less than this share of a pipeline's companies is left, the pipeline discovers new companies ever more
 * rarely.
 */
const SCARCE_SHARE = 0.35

/**
 * Simulates one stretch.
 * @param due the leads whose next step is at or before `to`; this function changes them
 * @param searched the pipelines with their pools, from which this function takes companies
 * @returns the changes with `from < at <= to`
 */
export function simulate(
  world: World,
  due: readonly LeadRow[],
  searched: readonly Searched[],
  from: number,
  to: number,
): Changes {
  const changes = noChanges()
  const heap = createHeap<Occurrence>((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
  const queue = (lead: LeadRow): void => {
    if (lead.next_at === null || lead.next_at > to) return
    heap.push({
      at: lead.next_at,
      key: lead.id,
      happen: () => {
        takeStep(world, changes, lead)
        queue(lead)
      },
    })
  }
  for (const lead of due) queue(lead)
  for (const one of searched) {
    for (const discovery of listDiscoveries(world, one.pipeline, from, to)) {
      const happen = (): void => {
        for (const lead of discover(world, changes, one, discovery)) queue(lead)
      }
      heap.push({ at: discovery.at, key: one.pipeline.id, happen })
    }
  }
  for (const occurrence of listIncidentOccurrences(world, changes, from, to)) heap.push(occurrence)
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) next.happen()
  return changes
}

function discover(
  world: World,
  changes: Changes,
  { pipeline, pool }: Searched,
  found: Discovery,
): readonly LeadRow[] {
  if (pipeline.status !== 'active') return []
  if (pool.remaining() === 0) {
    complete(changes, pipeline, found.at)
    return []
  }
  const random = randomFor(world.seed, 'found', pipeline.id, found.at)
  if (!random.chance(pool.remainingShare() / SCARCE_SHARE)) return []
  const leads = takeCompanies(world, pool, found, random).map((company) => {
    const lead = newLead(world, company, found)
    recordDiscovery(changes, lead, lineFor('discovered', random, { source: found.source }))
    planFirstStep(world, lead, company)
    return lead
  })
  if (pool.remaining() === 0) complete(changes, pipeline, found.at)
  return leads
}

/** Takes the next company, or as many of its country as the scenario wants. */
function takeCompanies(world: World, pool: Pool, found: Discovery, random: Random): readonly Company[] {
  const { scenario, epochAt } = world
  const countries = scenario === null ? [] : listCountries(scenario)
  if (scenario === null || countries.length === 0) return [pool.take()]
  // The country is drawn before the company, because a company that is left out stays in the pool.
  let drawn = random.unit()
  for (const country of countries) {
    drawn -= pool.shareOf(country)
    if (drawn >= 0) continue
    const count = drawNear(discoveryFactor({ scenario, epochAt }, found, country), random)
    return Array.from({ length: count }, () => pool.take((company) => company.country === country))
  }
  return [pool.take((company) => company.country === null || !countries.includes(company.country))]
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
  const nobody = { contact_name: null, contact_title: null, contact_email: null }
  return {
    id: idFor('ld', world.seed, found.pipelineId, company.id),
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
    agent_id: found.agentId,
    tags: JSON.stringify(company.tags.slice(0, 6)),
    enrichment: null,
    search_text: searchText({ ...names, ...nobody }),
    created_at: found.at,
    updated_at: found.at,
    status_changed_at: found.at,
    next_step: null,
    next_at: null,
    next_agent_id: null,
    next_task_at: null,
    step_count: 0,
  }
}

/** Lists the start of an incident, each of its errors, and its end, as far as they are within the stretch. */
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

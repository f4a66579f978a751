/** The inputs of the simulation that are not in the database: the seed, the companies, and the incidents. */

import { criteriaSchema } from '../../contract/pipeline.ts'
import type { SimulationState } from '../store/simulation.ts'
import type { PipelineRow } from '../store/tables.ts'
import type { Company } from './companies.ts'
import type { IncidentCalendar } from './incidents.ts'
import { createIncidentCalendar, NO_INCIDENTS } from './incidents.ts'
import { isTargeted } from './lead-details.ts'
import { randomFor } from './random.ts'
import type { Scenario } from './scenario.ts'

export interface World {
  readonly seed: number
  /** The midnight (UTC) at which the history starts. */
  readonly epochAt: number
  readonly companies: ReadonlyMap<number, Company>
  readonly incidents: IncidentCalendar
  /** Null for the usual history, in which trends and incidents happen. */
  readonly scenario: Scenario | null
}

export function createWorld(
  { seed, epochAt, madeAt, scenario }: Omit<SimulationState, 'simulatedUntil'>,
  companies: readonly Company[],
): World {
  return {
    seed,
    epochAt,
    companies: new Map((scenario === null ? companies : repeat(companies)).map((one) => [one.id, one])),
    incidents: scenario === null ? createIncidentCalendar(seed, madeAt) : NO_INCIDENTS,
    scenario,
  }
}

/** The scenarios last for years, in which each company is found anew this often. */
const COMPANY_COPIES = 12

function repeat(companies: readonly Company[]): readonly Company[] {
  return Array.from({ length: COMPANY_COPIES }, (_, copy) =>
    companies.map((company) => ({ ...company, id: company.id + copy * 10_000_000 })),
  ).flat()
}

/* The companies that a pipeline can still discover, in the order of their discovery. */

export interface Pool {
  /** Returns how many companies can still be taken. The number is lower if the criteria set a limit. */
  remaining(): number
  /** Returns the share of the matching companies that is still left, from 0 to 1. */
  remainingShare(): number
  /**
   * Takes the next company.
   * @param isWanted takes the next one for which this is true
   * @throws RangeError if no such company is left
   */
  take(isWanted?: (company: Company) => boolean): Company
  /** Returns the share of a country in the companies that are left, from 0 to 1. */
  shareOf(country: string): number
}

/**
 * The number of employees up to which companies are used. A well-known company would not look like a new
 * lead, and people might take its invented contact for a real person.
 */
const EMPLOYEES_MAX = 50

function isLittleKnown({ employees, state }: Company): boolean {
  return (state === 'active' || state === 'inactive') && (employees ?? 0) <= EMPLOYEES_MAX
}

/**
 * Creates the pool of a pipeline.
 * @param taken the ids of the companies that the pipeline already had as leads, deleted leads included
 */
export function createPool(world: World, pipeline: PipelineRow, taken: ReadonlySet<number>): Pool {
  const criteria = criteriaSchema.parse(JSON.parse(pipeline.criteria))
  const targeted = [...world.companies.values()].filter(
    (company) => isLittleKnown(company) && isTargeted(company, criteria),
  )
  const candidates = targeted
    .filter((company) => !taken.has(company.id))
    .map((company) => ({ company, rank: randomFor(world.seed, 'rank', pipeline.id, company.id).unit() }))
    .sort((a, b) => b.rank - a.rank)
    .map((ranked) => ranked.company)
  let mayTake = Math.max(0, (criteria.limit ?? Number.POSITIVE_INFINITY) - taken.size)
  return {
    remaining: () => Math.min(mayTake, candidates.length),
    remainingShare: () => (targeted.length === 0 ? 0 : candidates.length / targeted.length),
    shareOf: (country) =>
      candidates.filter((company) => company.country === country).length / candidates.length,
    take: (isWanted) => {
      const place = isWanted === undefined ? candidates.length - 1 : candidates.findLastIndex(isWanted)
      const company = mayTake > 0 && place >= 0 ? candidates.splice(place, 1)[0] : undefined
      if (company === undefined) throw new RangeError(`pipeline ${pipeline.id} has nothing left to discover`)
      mayTake -= 1
      return company
    },
  }
}

/** The inputs of the simulation beside the database: the seed, the companies, and the incidents. */
import type { SimulationState } from '../store/simulation.ts'
import type { Company } from './companies.ts'
import { createIncidentCalendar, type IncidentCalendar } from './incidents.ts'

export interface World {
  readonly seed: number
  /** The midnight (UTC) at which the history starts. */
  readonly epochAt: number
  readonly companies: ReadonlyMap<number, Company>
  readonly incidents: IncidentCalendar
}

export function createWorld(
  { seed, epochAt, madeAt }: Pick<SimulationState, 'seed' | 'epochAt' | 'madeAt'>,
  companies: readonly Company[],
): World {
  return {
    seed,
    epochAt,
    companies: new Map(companies.map((company) => [company.id, company])),
    incidents: createIncidentCalendar(seed, madeAt),
  }
}

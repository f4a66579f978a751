/** The pipelines that stand ready from the start, and how each pipeline fares: its size, pace and luck. */
import { type Criteria, criteriaSchema } from '../../contract/pipeline.ts'
import { randomFor } from './random.ts'

/** How a pipeline does. Rates are those of an average lead; each lead's score shifts its own. */
export interface Character {
  /** New leads on an average working day, half-way through the first 90 days. */
  readonly leadsPerDay: number
  /** How much more at the end of the first 90 days than at their start: 0.3 is 30 % more. */
  readonly growth: number
  /** A lead that scores at least this is qualified. */
  readonly qualifyingScore: number
  readonly replyRate: number
  /** How the reply rate moves over the first 90 days: -0.2 ends a fifth lower than it started. */
  readonly replyDrift: number
  readonly meetingRate: number
  readonly winRate: number
  /** Times that people take to decide, against the usual. */
  readonly pace: number
  /** Deal sizes against the usual. */
  readonly dealSize: number
}

export interface ReadyPipeline {
  readonly id: string
  readonly name: string
  readonly criteria: Criteria
  readonly character: Character
}

export const READY_PIPELINES: readonly ReadyPipeline[] = [
  {
    id: 'pl_american_business',
    name: 'North America B2B',
    criteria: criteria({
      regions: ['North America'],
      industries: ['B2B', 'Industrials', 'Real Estate and Construction'],
    }),
    character: {
      leadsPerDay: 15.5,
      growth: 0.35,
      qualifyingScore: 60,
      replyRate: 0.31,
      replyDrift: 0.1,
      meetingRate: 0.38,
      winRate: 0.4,
      pace: 1,
      dealSize: 1,
    },
  },
  {
    id: 'pl_fintech',
    name: 'Fintech worldwide',
    criteria: criteria({ industries: ['Fintech'] }),
    character: {
      leadsPerDay: 3.8,
      growth: 0.15,
      qualifyingScore: 63,
      replyRate: 0.34,
      replyDrift: -0.3,
      meetingRate: 0.36,
      winRate: 0.3,
      pace: 1.2,
      dealSize: 1.6,
    },
  },
  {
    id: 'pl_healthcare',
    name: 'Healthcare and bio',
    criteria: criteria({ industries: ['Healthcare'] }),
    character: {
      leadsPerDay: 4.6,
      growth: 0.05,
      qualifyingScore: 60,
      replyRate: 0.38,
      replyDrift: 0,
      meetingRate: 0.42,
      winRate: 0.4,
      pace: 1.3,
      dealSize: 1.25,
    },
  },
  {
    id: 'pl_emea',
    name: 'EMEA',
    criteria: criteria({ regions: ['Europe', 'Middle East and North Africa', 'Africa'] }),
    character: {
      leadsPerDay: 3.3,
      growth: 0.45,
      qualifyingScore: 59,
      replyRate: 0.44,
      replyDrift: 0.15,
      meetingRate: 0.46,
      winRate: 0.42,
      pace: 0.85,
      dealSize: 0.8,
    },
  },
]

/** A ready pipeline's own character; for one that a client made, a middling one that follows from its id. */
export function characterOf(pipelineId: string): Character {
  const ready = READY_PIPELINES.find((pipeline) => pipeline.id === pipelineId)
  if (ready !== undefined) return ready.character
  const random = randomFor('character', pipelineId)
  return {
    leadsPerDay: random.between(8, 16),
    growth: random.between(0, 0.3),
    qualifyingScore: random.whole(58, 62),
    replyRate: random.between(0.3, 0.42),
    replyDrift: random.between(-0.15, 0.15),
    meetingRate: random.between(0.36, 0.46),
    winRate: random.between(0.28, 0.42),
    pace: random.between(0.85, 1.2),
    dealSize: random.between(0.8, 1.4),
  }
}

function criteria(given: Partial<Criteria>): Criteria {
  return criteriaSchema.parse(given)
}

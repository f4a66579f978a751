/** When and by which run something was read, as every row that a sync writes has it. */
import type { Instant } from '../model.ts'

export interface Observation {
  readonly runId: string
  readonly at: Instant
}

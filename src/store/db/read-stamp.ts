/** When and by which run something was read, as every row that is read from the upstream has it. */
import type { Instant } from '../../model.ts'

export interface Observation {
  readonly runId: string
  readonly at: Instant
}

const OF_EVENT = 'event:'

/** What is read since an event told of it is of no run of a sync: `event:20261121T061500Z`. */
export function observedByEvent(at: Instant): Observation {
  return { runId: `${OF_EVENT}${at.replace(/[-:]|\.\d+/g, '')}`, at }
}

export function isOfEvent(runId: string): boolean {
  return runId.startsWith(OF_EVENT)
}

/** The agents that there are, and those that went away lately. */
import type { Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'

export interface ListedAgent {
  readonly id: string
  readonly name: string
  readonly kind: string | null
  /** The upstream's word. */
  readonly status: string
  readonly statusChangedAt: Instant | null
  readonly taskType: string | null
  /** The name of the pipeline, or its id where none is known. */
  readonly taskPipeline: string | null
  /** 0 to 1. */
  readonly taskProgress: number | null
  readonly lastSeenAt: Instant | null
  readonly tasks24h: number | null
  readonly errors24h: number | null
  readonly lastErrorAt: Instant | null
  readonly lastErrorMessage: string | null
  /** When it was last among those that were read. */
  readonly observedAt: Instant
  readonly deletedSince: Instant | null
}

/**
 * In order of name.
 * @param missingSince agents that went away before are left out
 */
export async function listAgents(db: Db, missingSince: Instant): Promise<ListedAgent[]> {
  return db
    .selectFrom('agent')
    .leftJoin('pipeline', 'pipeline.id', 'agent.task_pipeline_id')
    .where((eb) => eb.or([eb('deleted_since', 'is', null), eb('deleted_since', '>=', missingSince)]))
    .select([
      ...([
        'agent.id',
        'agent.name',
        'agent.kind',
        'agent.status',
        'agent.observed_at as observedAt',
      ] as const),
      ...(['status_changed_at as statusChangedAt', 'deleted_since as deletedSince'] as const),
      ...(['task_type as taskType', 'task_progress as taskProgress', 'last_seen_at as lastSeenAt'] as const),
      ...(['tasks_24h as tasks24h', 'errors_24h as errors24h'] as const),
      ...(['last_error_at as lastErrorAt', 'last_error_message as lastErrorMessage'] as const),
    ])
    .select((eb) => eb.fn.coalesce('pipeline.name', 'task_pipeline_id').as('taskPipeline'))
    .orderBy('agent.name')
    .orderBy('agent.id')
    .execute()
}

/**
 * The queues of the workers, what a job of each says, and how many of one key there may be. The ledgers stay the truth:
 * a job only says what to look after, and done twice it does nothing twice.
 */

/** What a job says; all of it goes through JSON. */
export interface QueueData {
  /** A minute has begun: what has come due is noted. */
  readonly clock: Nothing
  /** A scheduled run of a schedule that runs under the lease may be due. */
  readonly scheduled_run: { readonly lease: string }
  /** Leads whose details are to be read for a sync. */
  readonly detail: { readonly runId: string; readonly batch: number }
  /** A message that waits. */
  readonly message: { readonly messageId: string }
  /** Messages may wait. */
  readonly messages: Nothing
  /** Something may be to be told to operators. */
  readonly notices: Nothing
  /** Leads that events told of may wait. */
  readonly events: Nothing
}

export type QueueName = keyof QueueData

export type Nothing = Readonly<Record<string, never>>

export interface QueueKind {
  /**
   * `once`: while a job of a key waits or runs, another is not sent. `lane`: one of a key may wait behind one that
   * runs, so that what comes after its last look is looked after too; two of a key never run beside each other.
   */
  readonly keys: 'once' | 'lane'
}

export const QUEUES = {
  clock: { keys: 'lane' },
  scheduled_run: { keys: 'lane' },
  detail: { keys: 'once' },
  message: { keys: 'once' },
  messages: { keys: 'lane' },
  notices: { keys: 'lane' },
  events: { keys: 'lane' },
} as const satisfies Readonly<Record<QueueName, QueueKind>>

export const QUEUE_NAMES = Object.keys(QUEUES) as readonly QueueName[]

/** Where jobs are put that were tried too often, with the queue that each came from. */
export const DEAD_LETTERS = 'dead'

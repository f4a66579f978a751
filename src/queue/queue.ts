/**
 * The queue between the parts of the daemon: what kinds of jobs there are, and what a driver has to do. `in-process.ts`
 * is the driver of one process, `pg-boss.ts` that of several workers. The store says what is to be done; a job only says
 * what to look after, so that one that is lost, late or done twice costs nothing but time.
 */

/** The data of each kind of job; all of it goes through JSON. */
export interface JobData {
  /** A scheduled run under this lease may be due. */
  readonly 'scheduled-run': { readonly lease: string }
  /** The details of a batch of leads are to be read for a sync. */
  readonly details: { readonly runId: string; readonly batch: number }
  /** A message waits to be sent. */
  readonly message: { readonly messageId: string }
  /** Messages may wait to be sent. */
  readonly outbox: Nothing
  /** Findings of the checks may be news to operators. */
  readonly alerts: Nothing
  /** Leads that events told of may wait. */
  readonly events: Nothing
  /** A snapshot may be due. */
  readonly snapshot: Nothing
  /** Messages were sent, and the archive may have to say so. */
  readonly sent: Nothing
  /** The settings may have changed. */
  readonly reload: Nothing
}

export type JobKind = keyof JobData

type Nothing = Readonly<Record<string, never>>

/** Kinds whose jobs say nothing but that it is time to look. */
export type TaskKind = 'outbox' | 'alerts' | 'events' | 'snapshot' | 'sent' | 'reload'

/**
 * How many jobs of one key there may be. `once`: a job is not added while one of its key waits or runs. `serial`: one
 * job may wait behind the one that runs, so that it looks after what came too late for that; two never run beside each
 * other.
 */
export const KEYS = {
  'scheduled-run': 'serial',
  details: 'once',
  message: 'once',
  outbox: 'serial',
  alerts: 'serial',
  events: 'serial',
  snapshot: 'serial',
  sent: 'serial',
  reload: 'serial',
} as const satisfies Readonly<Record<JobKind, 'once' | 'serial'>>

/** Tasks that each process does for itself, also where the other jobs are shared. */
export const OWN_TASKS: readonly JobKind[] = ['snapshot', 'sent', 'reload']

export interface Job<T> {
  readonly id: string
  readonly data: T
  /** 1 for the first time. */
  readonly attempt: number
  /** Aborted when the work has to stop, also because another worker has the job by now. */
  readonly signal: AbortSignal
}

export interface NewJob<K extends JobKind> {
  readonly data: JobData[K]
  /** See {@link KEYS}. */
  readonly key: string
  /** How long the job waits at least. The driver of one process drops such a job: the next minute looks again. */
  readonly afterSeconds?: number
}

export type DoJob<K extends JobKind> = (job: Job<JobData[K]>) => Promise<void>

export interface WorkOptions {
  /** How many jobs of the kind this process does at once. */
  readonly concurrency: number
  /** Ends the work: jobs in hand are aborted, and none is taken any more. */
  readonly signal: AbortSignal
}

export interface Working {
  isBusy(): boolean
  /** Resolves when this process has no job of the kind in hand. */
  idle(): Promise<void>
}

export interface Queue extends AsyncDisposable {
  /** Adds those jobs whose keys leave room for them. */
  enqueue<K extends JobKind>(kind: K, jobs: readonly NewJob<K>[]): Promise<void>
  /** Adds the job of a task, and never throws. */
  wake(kind: TaskKind): void
  work<K extends JobKind>(kind: K, options: WorkOptions, doJob: DoJob<K>): Working
}

/**
 * The queue between the parts of the daemon: the kinds of jobs and the interface of a driver
 * (`in-process.ts` for one process, `pg-boss.ts` for several workers). The store decides what is to be done
 * and a job only says where to look, so a job that is lost, late or done twice costs only time.
 */

/** The data of each kind of job; it must survive JSON. */
export interface JobData {
  /** A scheduled run under this lease may be due. */
  readonly 'scheduled-run': { readonly lease: string }
  /** The details of a batch of leads are to be read for a sync. */
  readonly details: { readonly runId: string; readonly batch: number }
  /** A message waits to be sent. */
  readonly message: { readonly messageId: string }
  /** Messages may wait to be sent. */
  readonly outbox: Nothing
  /** The checks may have new findings for operators. */
  readonly alerts: Nothing
  /** Leads from events may wait to be read. */
  readonly events: Nothing
  /** A snapshot may be due. */
  readonly snapshot: Nothing
  /** Messages were sent, so the archive may have to change. */
  readonly sent: Nothing
  /** The settings may have changed. */
  readonly reload: Nothing
}

export type JobKind = keyof JobData

type Nothing = Readonly<Record<string, never>>

/** Kinds whose jobs carry no data: they only wake a task. */
export type TaskKind = 'outbox' | 'alerts' | 'events' | 'snapshot' | 'sent' | 'reload'

/**
 * Tells how many jobs may share a key. `once`: no job is added while one with its key waits or runs.
 * `serial`: one job may wait while another runs, so that it sees what came too late for the running one;
 * two never run at the same time.
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

/** Tasks that each process runs for itself, even if other jobs are shared. */
export const OWN_TASKS: readonly JobKind[] = ['snapshot', 'sent', 'reload']

export interface Job<T> {
  readonly id: string
  readonly data: T
  /** The number of the attempt, 1 for the first. */
  readonly attempt: number
  /** This signal is aborted when the work must stop, for example because another worker now has the job. */
  readonly signal: AbortSignal
}

export interface NewJob<K extends JobKind> {
  readonly data: JobData[K]
  /** The key of the job; see {@link KEYS}. */
  readonly key: string
  /**
   * The minimum wait before the job runs. The in-process driver drops such a job, because the next tick
   * looks again.
   */
  readonly afterSeconds?: number
}

export type DoJob<K extends JobKind> = (job: Job<JobData[K]>) => Promise<void>

export interface WorkOptions {
  /** The number of jobs of the kind that this process runs at once. */
  readonly concurrency: number
  /** Ends the work: running jobs are aborted, and no more are taken. */
  readonly signal: AbortSignal
}

export interface Working {
  isBusy(): boolean
  /** Resolves when this process runs no job of the kind. */
  idle(): Promise<void>
}

export interface Queue extends AsyncDisposable {
  /** Adds the jobs whose keys allow it. */
  enqueue<K extends JobKind>(kind: K, jobs: readonly NewJob<K>[]): Promise<void>
  /** Adds the job of a task; never throws. */
  wake(kind: TaskKind): void
  work<K extends JobKind>(kind: K, options: WorkOptions, doJob: DoJob<K>): Working
}

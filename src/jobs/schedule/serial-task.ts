/**
 * A task of the daemon that is done one at a time, in this process or among all workers, as its queue has it. What one
 * task waits for holds up no other.
 */

import type { Log } from '../../log.ts'
import { openInProcessQueue } from '../../queue/in-process.ts'
import type { Queue, TaskKind, Working } from '../../queue/queue.ts'
import { logFailure } from './job-failure.ts'

export interface SerialTask {
  /** Has the work done now, or once more when that in hand is over; nothing before it is opened, or after its end. */
  wake(): void
  /** @param signal ends it */
  open(signal: AbortSignal): void
  isBusy(): boolean
  /** Resolves when this process has nothing of it in hand. */
  idle(): Promise<void>
}

export function createSerialTask(
  queue: Queue,
  kind: TaskKind,
  work: (signal: AbortSignal) => Promise<void>,
): SerialTask {
  let opened: { readonly signal: AbortSignal; readonly working: Working } | null = null
  return {
    wake: () => {
      if (opened !== null && !opened.signal.aborted) queue.wake(kind)
    },
    open: (signal) => {
      const working = queue.work(kind, { concurrency: 1, signal }, (job) => work(job.signal))
      opened = { signal, working }
    },
    isBusy: () => opened?.working.isBusy() ?? false,
    idle: async () => opened?.working.idle(),
  }
}

/** A queue for the tasks of this process alone, which logs what they throw. */
export function openOwnQueue(log: Log): Queue {
  return openInProcessQueue((thrown) => logFailure(log, thrown))
}

/** @param tasks a task that wakes others stands before them */
export function combineTasks(tasks: readonly SerialTask[]): SerialTask {
  return {
    wake: () => {
      for (const task of tasks) task.wake()
    },
    open: (signal) => {
      for (const task of tasks) task.open(signal)
    },
    isBusy: () => tasks.some((task) => task.isBusy()),
    async idle() {
      for (const task of tasks) await task.idle()
    },
  }
}

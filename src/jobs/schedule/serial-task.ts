/**
 * A serial task of the daemon, such as sending messages. The task never runs twice at the same time in this
 * process. If the queue is shared, it never runs in two workers at the same time either. Different tasks do
 * not wait for each other.
 */

import type { Log } from '../../log.ts'
import { openInProcessQueue, type Queue, type TaskKind, type Working } from '../../queue/queue.ts'
import { logFailure } from './job-failure.ts'

export interface SerialTask {
  /** Starts the task, or lets it run once more afterwards. Does nothing before `open` or after the signal. */
  wake(): void
  open(signal: AbortSignal): void
  isBusy(): boolean
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

export function openOwnQueue(log: Log): Queue {
  return openInProcessQueue((thrown) => logFailure(log, thrown))
}

/**
 * Combines several tasks into one.
 * @param tasks the tasks; a task that wakes another task must come before it, because `idle` awaits the tasks
 *   in this order
 */
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

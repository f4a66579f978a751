/** The queue and the tasks of a daemon that a test starts. */
import { createSerialTask, openOwnQueue } from '../../../src/jobs/schedule/serial-task.ts'
import type { Log } from '../../../src/log.ts'
import { SILENT } from '../syncing.ts'

/** @param post called in place of sending messages and alerts */
export function openTasks(post: () => Promise<void> = async () => undefined, log: Log = SILENT) {
  const queue = openOwnQueue(log)
  return {
    queue,
    post: createSerialTask(queue, 'alerts', post),
    events: createSerialTask(queue, 'events', async () => undefined),
  }
}

/** What the daemon does when a snapshot is due by itself. */

import type { Schedule, ScheduleSettings } from '../schedule/schedule.ts'
import { type PublishDeps, publishSnapshot } from './publish.ts'

/** Where the snapshot has due times of its own, whatever syncs bring. */
export function snapshotSchedule(publishing: PublishDeps, settings: ScheduleSettings): Schedule {
  return {
    ...settings,
    // Not `snapshot`, which the making of one takes by itself.
    leaseName: 'snapshot-schedule',
    runsAtFirstSight: false,
    async run(_due, _lease, signal) {
      const { bytes, leadsAsOf } = await publishSnapshot(publishing, signal)
      return { state: 'done', message: `${bytes} bytes, leads as of ${leadsAsOf}` }
    },
  }
}

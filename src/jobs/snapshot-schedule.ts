/** What the daemon does when a snapshot is due by itself. */
import { type PublishDeps, publishSnapshot } from './publish.ts'
import type { Schedule } from './schedule.ts'

/** Where the snapshot has due times of its own, whatever syncs bring. */
export function snapshotSchedule(
  publishing: PublishDeps,
  settings: { readonly cron: string; readonly timeZone: string },
): Schedule {
  return {
    ...settings,
    name: 'snapshot',
    runsAtFirstSight: false,
    async run(_slot, signal) {
      const { bytes, leadsAsOf } = await publishSnapshot(publishing, signal)
      return { state: 'done', message: `${bytes} bytes, leads as of ${leadsAsOf}` }
    },
  }
}

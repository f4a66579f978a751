/** Looks for all that may be wrong; a detector that fails takes no other with it. */
import type { Log } from '../log.ts'
import type { Sighting, Trouble } from './notice.ts'
import type { Reason } from './notice-reasons.ts'
import { logFailure } from './schedule/job-failure.ts'
import { WATCH_EVENTS } from './troubles/events.ts'
import { WATCH_LEADS } from './troubles/leads.ts'
import { WATCH_CLOCK, WATCH_DISK, WATCH_JOBS, WATCH_SNAPSHOT } from './troubles/machine.ts'
import { WATCH_MAIL } from './troubles/mail.ts'
import { WATCH_QUEUE } from './troubles/queue.ts'
import { WATCH_REPORTS } from './troubles/report.ts'
import { createRuleWatch } from './troubles/rules.ts'
import { WATCH_SETTINGS } from './troubles/settings.ts'
import { WATCH_SYNC } from './troubles/sync.ts'
import type { Watch, Watched } from './troubles/watch.ts'

/** Made once: some of them remember what they saw. */
export function createWatches(): readonly Watch[] {
  return [
    ...[WATCH_SYNC, WATCH_EVENTS, WATCH_LEADS, WATCH_REPORTS, WATCH_MAIL],
    ...[WATCH_DISK, WATCH_SNAPSHOT, WATCH_CLOCK, WATCH_JOBS, WATCH_QUEUE, WATCH_SETTINGS],
    createRuleWatch(),
  ]
}

export async function findTroubles(
  watches: readonly Watch[],
  watched: Watched,
  log: Log,
  now: Date,
): Promise<Sighting> {
  const troubles: Trouble[] = []
  const unknown = new Set<Reason>()
  for (const { reasons, find } of watches) {
    try {
      const found = await find(watched, now)
      troubles.push(...(found ?? []))
      if (found === null) for (const reason of reasons) unknown.add(reason)
    } catch (thrown) {
      for (const reason of reasons) unknown.add(reason)
      logFailure(log, thrown, { watched: reasons.join(', ') })
    }
  }
  return { troubles, unknown }
}

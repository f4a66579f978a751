/** What health is judged by, as the settings have it. */
import type { Config } from '../config/config.ts'
import { LeadsheetError } from '../errors.ts'
import type { Installation } from '../jobs/health/installation.ts'
import type { Store } from '../store/db/store.ts'
import type { Resource } from '../store/sync/last-read.ts'
import { hasEndpoint } from '../upstream/client/address.ts'
import { eventWayOf } from './event-way.ts'
import { pathsIn } from './installation.ts'
import { type ConfiguredSchedule, schedulesOf } from './schedules.ts'
import { profileOf } from './upstream.ts'

export function installationOf(
  config: Config,
  store: Store,
): Installation & { readonly schedules: readonly ConfiguredSchedule[] } {
  return {
    store,
    schedules: schedulesOf(config),
    resources: ['leads', ...besideLeads(config)],
    snapshotAfterSync: config.snapshot.when === 'after_sync' ? pathsIn(config.dataDir).snapshot : null,
    events: eventWayOf(config),
  }
}

/** None for a profile that is none: what the copy holds of leads can be judged without it. */
function besideLeads(config: Config): Resource[] {
  try {
    const profile = profileOf(config)
    return (['stats', 'agents'] as const).filter((resource) => hasEndpoint(profile, resource))
  } catch (thrown) {
    if (thrown instanceof LeadsheetError) return []
    throw thrown
  }
}

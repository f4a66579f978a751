/** What health is judged by, as the settings have it. */
import type { Config } from '../config/config.ts'
import type { Installation } from '../jobs/health/installation.ts'
import { hasEndpoint } from '../source/address.ts'
import type { Store } from '../store/open.ts'
import { pathsIn } from './installation.ts'
import { type ConfiguredSchedule, schedulesOf } from './schedules.ts'
import { profileOf } from './upstream.ts'

/** @throws LeadsheetError config_invalid for a profile that is none */
export function installationOf(
  config: Config,
  store: Store,
): Installation & { readonly schedules: readonly ConfiguredSchedule[] } {
  const profile = profileOf(config)
  return {
    store,
    schedules: schedulesOf(config),
    resources: [
      'leads',
      ...(['stats', 'agents'] as const).filter((resource) => hasEndpoint(profile, resource)),
    ],
    snapshotAfterSync: config.snapshot.when === 'after_sync' ? pathsIn(config.dataDir).snapshot : null,
  }
}

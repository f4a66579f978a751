/** Collects from the settings what the health checks need. */

import type { EventSource, Installation } from '../checks/check.ts'
import type { Config } from '../config/config.ts'
import { LeadsheetError } from '../errors.ts'
import { readRegistration, registrationFile } from '../jobs/events/webhook-registration.ts'
import { serverNameOf } from '../mail/transport.ts'
import type { Store } from '../store/db/store.ts'
import { hasEndpoint } from '../upstream/client/request.ts'
import type { Profile } from '../upstream/profile/profile.ts'
import { type ConfiguredSchedule, schedulesOf } from './configured-schedules.ts'
import { profileOf } from './configured-upstream.ts'
import { pathsIn } from './installation.ts'

export function installationOf(
  config: Config,
  store: Store,
): Installation & { readonly schedules: readonly ConfiguredSchedule[] } {
  const profile = findProfile(config)
  const besideLeads = (['stats', 'agents'] as const).filter((each) => profile && hasEndpoint(profile, each))
  return {
    store,
    schedules: schedulesOf(config),
    reportedParts: ['leads', ...besideLeads],
    snapshotAfterSync: config.snapshot.when === 'after_sync' ? pathsIn(config.dataDir).snapshot : null,
    events: eventWayOf(config, profile),
    reports: config.reports.map(({ name }) => name),
    runMinutes: config.api.runMinutes,
    mailServer: config.mail.url && serverNameOf(config.mail.url.reveal()),
    settingsFile: config.file,
    sources: config.sources,
    settingsMistakes: config.mistakes,
  }
}

/** Null if the upstream has no webhooks, or if no pages are served that could receive events. */
function eventWayOf(config: Config, profile: Profile | null): EventSource | null {
  if (profile?.webhook === undefined || config.web.listen === null) return null
  const file = registrationFile(config.dataDir)
  return {
    readRegistration: async () => readRegistration(file),
    isByHand: config.events.secret !== null,
    canRegister: hasEndpoint(profile, 'webhooks'),
  }
}

/** Returns the profile. Returns null for an invalid profile, because another check reports the mistake. */
function findProfile(config: Config): Profile | null {
  try {
    return profileOf(config)
  } catch (thrown) {
    if (thrown instanceof LeadsheetError) return null
    throw thrown
  }
}

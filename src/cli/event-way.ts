/** How events of the upstream come to this installation, as its settings have it. */
import type { Config } from '../config/config.ts'
import { LeadsheetError } from '../errors.ts'
import type { EventWay } from '../jobs/events/event-source.ts'
import { readRegistration, registrationFile } from '../jobs/events/webhook-registration.ts'
import { hasEndpoint } from '../upstream/client/address.ts'
import type { Profile } from '../upstream/profile/profile.ts'
import { profileOf } from './upstream.ts'

/** Null where the upstream has no webhooks, or no pages are served and so nothing listens to them. */
export function eventWayOf(config: Config): EventWay | null {
  const profile = findProfile(config)
  if (profile?.webhook === undefined || config.web.listen === null) return null
  const file = registrationFile(config.dataDir)
  return {
    readRegistration: () => readRegistration(file),
    isByHand: config.events.secret !== null,
    canRegister: hasEndpoint(profile, 'webhooks'),
  }
}

/** One that is none says nothing of webhooks; what is wrong with it is told elsewhere. */
function findProfile(config: Config): Profile | null {
  try {
    return profileOf(config)
  } catch (thrown) {
    if (thrown instanceof LeadsheetError) return null
    throw thrown
  }
}

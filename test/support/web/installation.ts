/** An installation that has nothing but a store, for tests of the checks. */
import { type Facts, type Installation, readFacts } from '../../../src/checks/check.ts'

export function bareInstallation(
  store: Installation['store'],
  change: Partial<Installation> = {},
): Installation {
  return {
    store,
    schedules: [],
    reports: [],
    reportedParts: ['leads'],
    snapshotAfterSync: null,
    events: null,
    runMinutes: 15,
    mailServer: null,
    settingsFile: null,
    sources: {},
    settingsMistakes: [],
    ...change,
  }
}

export function factsOf(store: Installation['store'], now: Date): Facts {
  return readFacts(bareInstallation(store), {}, now)
}

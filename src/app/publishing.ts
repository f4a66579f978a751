/** Builds what is needed to publish the snapshot, the SQLite file for analysts. */
import type { Config } from '../config/config.ts'
import type { PublishDeps } from '../jobs/snapshot/publish-snapshot.ts'
import type { Log } from '../log.ts'
import { readVersion } from '../packages.ts'
import type { Store } from '../store/db/store.ts'
import type { Profile } from '../upstream/profile/profile.ts'
import { profileOf } from './configured-upstream.ts'
import { pathsIn, QUERIES } from './installation.ts'

export function publishDeps(
  { dataDir, profile }: { dataDir: string; profile: Profile },
  store: Store,
  log: Log,
): PublishDeps {
  const { snapshot, metadata } = pathsIn(dataDir)
  return {
    store,
    log,
    profile,
    now: () => new Date(),
    files: { snapshot, metadata, queries: QUERIES },
    version: readVersion(),
  }
}

/** Returns what is needed to publish a snapshot as the settings say. */
export function configuredPublishing(config: Config, store: Store, log: Log): PublishDeps {
  return publishDeps({ dataDir: config.dataDir, profile: profileOf(config) }, store, log)
}

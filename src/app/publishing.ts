/** Builds what is needed to publish the snapshot, the SQLite file for analysts. */
import type { Config } from '../config/config.ts'
import { LeadsheetError } from '../errors.ts'
import type { PublishDeps, SnapshotPlace } from '../jobs/snapshot/publish-snapshot.ts'
import { readVersion } from '../packages.ts'
import type { Store } from '../store/db/store.ts'
import { findGroup } from '../store/snapshot/snapshot.ts'
import { profileOf } from './configured-upstream.ts'
import { pathsIn } from './installation.ts'

/** Returns where the snapshot of an installation is, and what it says of its origin. */
export function snapshotPlaceOf(config: Config): SnapshotPlace {
  return {
    profile: profileOf(config),
    file: pathsIn(config.dataDir).snapshot,
    version: readVersion(),
    group: config.snapshot.group,
  }
}

/** @throws LeadsheetError config_invalid, with the place of the setting, if the group does not exist */
export async function tryGroup({ snapshot: { group }, sources }: Config): Promise<void> {
  if (group === null) return
  await findGroup(group).catch(({ code, message, hint = '' }: LeadsheetError) => {
    throw new LeadsheetError(code, `${sources['snapshot.group']}  ${message}`, { hint })
  })
}

/** Returns what is needed to publish a snapshot. */
export function configuredPublishing(config: Config, store: Store): PublishDeps {
  return { ...snapshotPlaceOf(config), store, now: () => new Date() }
}

/** The snapshot as the settings want it, for the commands after which there may be something new to show. */
import type { Config } from '../config/config.ts'
import { LeadsheetError } from '../errors.ts'
import { type PublishDeps, type Published, publishIfDue } from '../jobs/snapshot/publish.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/db/store.ts'
import type { Profile } from '../upstream/profile/profile.ts'
import { pathsIn, QUERIES } from './installation.ts'
import type { Terminal } from './terminal.ts'
import { profileOf } from './upstream.ts'
import { readVersion } from './version.ts'

export function publishDeps(
  { dataDir, profile, keep }: { dataDir: string; profile: Profile; keep: number },
  store: Store,
  log: Log,
): PublishDeps {
  const { snapshot, metadata } = pathsIn(dataDir)
  return {
    store,
    log,
    profile,
    keep,
    now: () => new Date(),
    files: { snapshot, metadata, queries: QUERIES },
    version: readVersion(),
  }
}

/** What the settings say of it. */
export function configuredPublishing(config: Config, store: Store, log: Log): PublishDeps {
  return publishDeps(
    { dataDir: config.dataDir, profile: profileOf(config), keep: config.snapshot.keep },
    store,
    log,
  )
}

/**
 * After a command that has done its own work: a snapshot that cannot be made is a warning beside it, and the command
 * ends as done in part. Null where none was due.
 */
export async function publishAfterwards(terminal: Terminal, store: Store): Promise<Published | null> {
  const config = await terminal.config()
  if (config.snapshot.when !== 'after_sync') return null
  try {
    return await publishIfDue(configuredPublishing(config, store, await terminal.log()), terminal.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || terminal.signal.aborted) throw thrown
    terminal.note(`warning: ${thrown.message}`)
    terminal.end('partly')
    return null
  }
}

/** `5.8 MB in 0.1 s` */
export function publishedLine({ bytes, durationMs }: Published): string {
  return `${(bytes / 1e6).toFixed(1)} MB in ${(durationMs / 1000).toFixed(1)} s`
}

/**
 * `leadsheet snapshot`: makes the snapshot file for analysts now. Other commands, such as `sync`, make the
 * snapshot after their own work.
 */
import type { Command } from 'commander'
import { openDataIfThere } from '../../../app/installation.ts'
import { LeadsheetError } from '../../../errors.ts'
import type { Published } from '../../../jobs/snapshot/publish-snapshot.ts'
import type { Store } from '../../../store/db/store.ts'
import { addExamples, showing } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

export function defineSnapshot(command: Command, terminal: Terminal): void {
  command.action(showing(terminal, runSnapshot))
  addExamples(command, ['snapshot', 'snapshot --json | jq -r .data.file'])
}

async function runSnapshot(terminal: Terminal): Promise<Result> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const { configuredPublishing, publishSnapshot } = await loadPublishing()
  const published = await publishSnapshot(configuredPublishing(config, store), terminal.signal)
  const { file, bytes, durationMs, leadsAsOf } = published
  return {
    data: { file, bytes, duration_ms: durationMs, leads_as_of: leadsAsOf },
    text: [`${file}: ${publishedLine(published)}, leads as of ${formatInstant(leadsAsOf)}`],
  }
}

/**
 * Publishes the snapshot after a command has done its own work. A failure is only a warning; the command then
 * ends as `partly`, with exit status 3. Returns null if no snapshot was due or if publishing failed.
 */
export async function publishAfterwards(terminal: Terminal, store: Store): Promise<Published | null> {
  const config = await terminal.config()
  if (config.snapshot.when !== 'after_sync') return null
  const { configuredPublishing, publishIfDue } = await loadPublishing()
  try {
    return await publishIfDue(configuredPublishing(config, store), terminal.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || terminal.signal.aborted) throw thrown
    terminal.note(`warning: ${thrown.message}`)
    terminal.end('partly')
    return null
  }
}

/** Formats the size of a snapshot and the time that it took: `5.8 MB in 0.1 s`. */
export function publishedLine({ bytes, durationMs }: Published): string {
  return `${(bytes / 1e6).toFixed(1)} MB in ${(durationMs / 1000).toFixed(1)} s`
}

/** Loads the modules for publishing only here, because most runs of a command publish no snapshot. */
async function loadPublishing() {
  const [deps, jobs] = await Promise.all([
    import('../../../app/publishing.ts'),
    import('../../../jobs/snapshot/publish-snapshot.ts'),
  ])
  return { ...deps, ...jobs }
}

/** `leadsheet snapshot`: makes the file that analysts open, now. */
import type { Command } from 'commander'
import { publishSnapshot } from '../jobs/snapshot/publish.ts'
import { addExamples } from './command.ts'
import { openDataIfThere } from './installation.ts'
import { configuredPublishing, publishedLine } from './publishing.ts'
import { formatInstant } from './table.ts'
import type { Terminal } from './terminal.ts'

export function defineSnapshot(command: Command, terminal: Terminal): void {
  command.action(() => runSnapshot(terminal))
  addExamples(command, ['snapshot', 'snapshot --json | jq -r .file'])
}

async function runSnapshot(terminal: Terminal): Promise<void> {
  const config = await terminal.config()
  await using store = await openDataIfThere(config)
  const published = await publishSnapshot(
    configuredPublishing(config, store, await terminal.log()),
    terminal.signal,
  )
  const { file, bytes, durationMs, leadsAsOf } = published
  if (terminal.json) {
    terminal.printJson({ file, bytes, duration_ms: durationMs, leads_as_of: leadsAsOf })
  } else {
    terminal.print(`${file}: ${publishedLine(published)}, leads as of ${formatInstant(leadsAsOf)}`)
  }
}

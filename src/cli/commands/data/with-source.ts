/** Opens the configured upstream for one command. */

import { openSourceOf } from '../../../app/configured-upstream.ts'
import type { QuarantinedRecord } from '../../../domain/model.ts'
import { isQuarantined } from '../../../upstream/mapping/lead-mapping.ts'
import type { Source } from '../../../upstream/source.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/**
 * @param how `reads` for a command that only reads: wrong settings of other things are left out
 * @throws LeadsheetError config_missing, api_*, and whatever `use` throws
 */
export async function withSource<T>(
  terminal: Terminal,
  use: (source: Source) => Promise<T>,
  how: 'reads' | 'writes' = 'writes',
): Promise<T> {
  const config = await (how === 'reads' ? terminal.dataConfig('api') : terminal.config())
  const source = openSourceOf(config, await terminal.log())
  try {
    return await use(source)
  } finally {
    await source.close()
  }
}

/**
 * Separates the records that could be read from those that could not (quarantined records). If there are some
 * of those, the command ends as `partly`, with exit status 3.
 */
export function keepReadable<T extends object>(
  terminal: Terminal,
  mapped: readonly (T | QuarantinedRecord)[],
) {
  const quarantined = mapped.filter(isQuarantined)
  const readable = mapped.filter((record): record is T => !isQuarantined(record))
  if (quarantined.length === 0) return { readable, notes: [] }
  terminal.end('partly')
  const notes = [
    ...quarantined.slice(0, 3).map(({ resource, reason }) => `unreadable ${resource}: ${reason}`),
    `${quarantined.length} of ${mapped.length} records could not be read; --json shows them as they are`,
  ]
  return { readable, notes }
}

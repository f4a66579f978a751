/** Whether a mail server lets us in: as far as one can go without a message. */

import { attempt, type CheckResult, ok } from '../../checks/check.ts'
import type { Log } from '../../log.ts'
import { openTransport } from '../../mail/transport.ts'

/** @param remedy where it does not, and does not say itself what to do */
export async function checkMailServer(
  url: string,
  remedy: string,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<CheckResult> {
  return attempt('mail', remedy, async () => {
    await using transport = openTransport(url, { log })
    await transport.verify(signal)
    return ok('mail', `${transport.name} lets us in`)
  })
}

/** Checks the connection and login to a mail server. No message is sent. */

import { attempt, type CheckResult, ok } from '../../checks/check.ts'
import type { Log } from '../../log.ts'
import { openTransport } from '../../mail/transport.ts'

/** @param remedy is used if the error has no hint of its own */
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

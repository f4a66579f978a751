/** Postfix with Dovecot behind it: the whole way of a message on one machine. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isSkipped } from '../../support/process/programs.ts'
import { missingDovecot, startDovecot } from './dovecot.ts'
import { missingPostfix, startPostfix } from './postfix.ts'

const POLL_MS = 100

/** Starts the servers for the current test. */
export async function startServers() {
  const { lmtpPort, list } = await startDovecot()
  return {
    /** It accepts messages to all addresses of example.org. */
    url: `smtp://127.0.0.1:${await startPostfix(lmtpPort)}`,
    /** Waits for a message to an address. Returns these fields of all that have come. */
    async untilArrived(address: string, fields: readonly string[]) {
      while (list(address, ['uid']).length === 0) await sleep(POLL_MS)
      return list(address, fields)
    },
  }
}

export const isWithoutServers = isSkipped(
  'messages through Postfix to Dovecot',
  missingPostfix(),
  missingDovecot(),
)

/** Postfix with Dovecot behind it: the whole way of a message on one machine. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isSkipped } from '../../support/process/programs.ts'
import { type Mailboxes, missingDovecot, startDovecot } from './dovecot.ts'
import { missingPostfix, startPostfix } from './postfix.ts'

const POLL_MS = 100

export interface MailServers {
  /** An address such as `smtp://…`, which accepts messages to all addresses of example.org. */
  readonly url: string
  /** Waits for a message to this address. Returns these fields of all that have come. */
  untilArrived(...asked: Parameters<Mailboxes['list']>): Promise<ReturnType<Mailboxes['list']>>
}

/** Starts the servers for the current test. */
export async function startServers(): Promise<MailServers> {
  const { lmtpPort, list } = await startDovecot()
  return {
    url: `smtp://127.0.0.1:${await startPostfix(lmtpPort)}`,
    async untilArrived(address, fields) {
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

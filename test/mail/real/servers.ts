/** Postfix with Dovecot behind it: the whole way of a message on one machine. */

import { isSkipped } from '../../support/process/programs.ts'
import { missingDovecot, PASSWORD, startDovecot } from './dovecot.ts'
import { type Mailbox, openMailbox } from './imap.ts'
import { missingPostfix, type Postfix, startPostfix } from './postfix.ts'

const POLL_MS = 100

export interface MailServers {
  /** An address such as `smtp://…`, which accepts messages to all addresses of example.org. */
  readonly url: string
  readonly postfix: Postfix
  open(address: string): Promise<Mailbox>
}

/**
 * Starts the servers for the current test.
 * @param policyPort the port of a policy server that Postfix asks about each recipient
 */
export async function startServers(policyPort?: number): Promise<MailServers> {
  const { lmtpPort, imapPort } = await startDovecot()
  const postfix = await startPostfix(lmtpPort, policyPort)
  return {
    url: `smtp://127.0.0.1:${postfix.port}`,
    postfix,
    open: (address) => openMailbox(imapPort, address, PASSWORD),
  }
}

export const isWithoutServers = isSkipped(
  'messages through Postfix to Dovecot',
  missingPostfix(),
  missingDovecot(),
)

/** Waits for the first message and returns it. */
export async function untilArrived(mailbox: Mailbox): Promise<Buffer> {
  while ((await mailbox.count()) === 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  return mailbox.fetchBytes(1, 'BODY.PEEK[]')
}

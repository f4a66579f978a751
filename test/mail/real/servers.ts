/** Postfix before Dovecot: the whole way of a letter on one machine. */
import { missingDovecot, PASSWORD, startDovecot } from './dovecot.ts'
import { type Mailbox, openMailbox } from './imap.ts'
import { missingPostfix, startPostfix } from './postfix.ts'
import { isSkipped } from './skipping.ts'

const POLL_MS = 100

export interface MailServers {
  /** `smtp://…`, for letters to anybody at example.org. */
  readonly url: string
  open(address: string): Promise<Mailbox>
}

/** For the test that runs. */
export async function startServers(): Promise<MailServers> {
  const { lmtpPort, imapPort } = await startDovecot()
  const port = await startPostfix(lmtpPort)
  return {
    url: `smtp://127.0.0.1:${port}`,
    open: (address) => openMailbox(imapPort, address, PASSWORD),
  }
}

export const isWithoutServers = isSkipped(
  'letters through Postfix to Dovecot',
  missingPostfix(),
  missingDovecot(),
)

/** The first message, as soon as it is there. */
export async function untilArrived(mailbox: Mailbox): Promise<Buffer> {
  while ((await mailbox.count()) === 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  return mailbox.fetchBytes(1, 'BODY.PEEK[]')
}

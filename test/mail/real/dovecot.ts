/** Dovecot from Debian with everybody's mailbox. It receives mail over LMTP and shows it over IMAP. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess, untilTrue } from '../../foreign/server-process.ts'
import { folderWith } from '../../support/folder.ts'
import { freePort } from '../../support/network/free-port.ts'
import { findInstalled } from '../../support/process/programs.ts'
import { canConnect } from './ports.ts'

const BIN = '/usr/sbin/dovecot'
export const PASSWORD = 'pw-of-everybody'
/** The owner of the mailboxes. Dovecot is started by root, and requires another user for them. */
const NOBODY = 65_534

export interface Mailboxes {
  readonly lmtpPort: number
  readonly imapPort: number
}

export function missingDovecot(): string | null {
  const parts = [BIN, '/usr/lib/dovecot/lmtp', '/usr/lib/dovecot/imap']
  return parts.every(findInstalled) ? null : 'apt-get install dovecot-imapd dovecot-lmtpd'
}

/** Starts Dovecot for the current test, which must run as root. */
export async function startDovecot(): Promise<Mailboxes> {
  const folder = folderWith()
  // The parts of Dovecot run as other users.
  chmodSync(folder, 0o755)
  const mail = join(folder, 'mail')
  mkdirSync(mail)
  chownSync(mail, NOBODY, NOBODY)
  const [lmtpPort, imapPort] = [await freePort(), await freePort()]
  const file = join(folder, 'dovecot.conf')
  writeFileSync(file, settings(folder, mail, { lmtpPort, imapPort }))
  const server = startProcess(BIN, ['-F', '-c', file])
  await untilTrue(server, async () => (await canConnect(lmtpPort)) && (await canConnect(imapPort)))
  return { lmtpPort, imapPort }
}

function settings(folder: string, mail: string, { lmtpPort, imapPort }: Mailboxes): string {
  return `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_username_format = %Lu
mail_location = maildir:${mail}/%u
first_valid_uid = 1
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${mail}/%u allow_all_users=yes
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
`
}

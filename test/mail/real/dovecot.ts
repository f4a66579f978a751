/** Dovecot from Debian with everybody's mailbox. It receives mail over LMTP, and its doveadm shows what it parses. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canConnect, startProcess, untilTrue } from '../../foreign/server-process.ts'
import { folderWith } from '../../support/folder.ts'
import { freePort } from '../../support/network/free-port.ts'
import { findInstalled } from '../../support/process/programs.ts'

const BIN = '/usr/sbin/dovecot'
/** The owner of the mailboxes. Dovecot is started by root, and requires another user for them. */
const NOBODY = 65_534

export function missingDovecot(): string | null {
  return [BIN, '/usr/lib/dovecot/lmtp'].every(findInstalled) ? null : 'apt-get install dovecot-lmtpd'
}

/** Starts Dovecot for the current test, which must run as root. */
export async function startDovecot() {
  const folder = folderWith()
  // The parts of Dovecot run as other users.
  chmodSync(folder, 0o755)
  const mail = join(folder, 'mail')
  mkdirSync(mail)
  chownSync(mail, NOBODY, NOBODY)
  const lmtpPort = await freePort()
  const file = join(folder, 'dovecot.conf')
  writeFileSync(file, settings(folder, mail, lmtpPort))
  const server = startProcess(BIN, ['-F', '-c', file])
  await untilTrue(server, () => canConnect(lmtpPort))
  /** Returns these fields of each message in a mailbox, such as `text` or `body.1.2`: see doveadm-fetch(1). */
  const list = (address: string, fields: readonly string[]): Readonly<Record<string, string>>[] => {
    const args = ['-c', file, '-f', 'json', 'fetch', '-u', address, fields.join(' '), 'mailbox', 'INBOX']
    return JSON.parse(execFileSync('doveadm', args, { encoding: 'utf8', maxBuffer: 1e8 }))
  }
  return { lmtpPort, list }
}

function settings(folder: string, mail: string, lmtpPort: number): string {
  return `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
protocols = lmtp
listen = 127.0.0.1
ssl = no
auth_username_format = %Lu
mail_location = maildir:${mail}/%u
mail_save_crlf = yes
first_valid_uid = 1
passdb {
  driver = static
  args = nopassword=yes
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
`
}

/** Dovecot from Debian with everybody's mailbox. It receives mail over LMTP, and its doveadm shows what it parses. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { canConnect, startProcess, untilTrue } from '../../foreign/server-process.ts'
import { folderWith } from '../../support/folder.ts'
import { freePort } from '../../support/network/free-port.ts'
import { findInstalled } from '../../support/process/programs.ts'

const BIN = '/usr/sbin/dovecot'
/** The owner of the mailboxes. Dovecot is started by root, and requires another user for them. */
const NOBODY = 65_534
const POLL_MS = 100

export function missingDovecot(): string | null {
  return [BIN, '/usr/lib/dovecot/lmtp'].every(findInstalled) ? null : 'apt-get install dovecot-lmtpd'
}

/** The password of everybody over IMAP. */
export const PASSWORD = 'secret-of-the-mailbox'

export function missingImap(): string | null {
  return missingDovecot() ?? (findInstalled('/usr/lib/dovecot/imap') ? null : 'apt-get install dovecot-imapd')
}

/**
 * Starts Dovecot for the current test, which must run as root.
 * @param introspectionUrl where it asks whether a token is good, with the login of a client; null: it takes the one
 *   password
 */
export async function startDovecot(introspectionUrl: string | null = null) {
  const folder = folderWith()
  // The parts of Dovecot run as other users.
  chmodSync(folder, 0o755)
  const mail = join(folder, 'mail')
  mkdirSync(mail)
  chownSync(mail, NOBODY, NOBODY)
  const lmtpPort = await freePort()
  const imapPort = await freePort()
  const authPort = await freePort()
  const tokens = join(folder, 'tokens.conf')
  if (introspectionUrl !== null) writeFileSync(tokens, tokenSettings(introspectionUrl))
  const file = join(folder, 'dovecot.conf')
  const login = introspectionUrl === null ? PASSWORDS : tokenLogin(tokens, authPort)
  writeFileSync(file, `${settings(folder, mail, lmtpPort, imapPort)}${login}`)
  const server = startProcess(BIN, ['-F', '-c', file])
  await untilTrue(server, () => canConnect(lmtpPort))
  const run = (...args: readonly string[]): string =>
    execFileSync('doveadm', ['-c', file, ...args], { encoding: 'utf8', maxBuffer: 1e8 })
  const list = (address: string, fields: readonly string[]): Readonly<Record<string, string>>[] =>
    JSON.parse(run('-f', 'json', 'fetch', '-u', address, fields.join(' '), 'mailbox', 'INBOX'))
  return {
    lmtpPort,
    authPort,
    /** The path of the settings. */
    file,
    /** The port of IMAP, without TLS. */
    imapPort,
    list,
    /** The user to whom all mailboxes belong. */
    uid: NOBODY,
    /** Returns the folder of somebody's INBOX, a Maildir. */
    maildirOf: (address: string): string => join(mail, address),
    /**
     * Waits for a message to an address. Returns these fields of all that have come, such as `text` or `body.1.2`: see
     * doveadm-fetch(1).
     */
    async untilArrived(address: string, fields: readonly string[]) {
      while (list(address, ['uid']).length === 0) await sleep(POLL_MS)
      return list(address, fields)
    },
    /** Runs doveadm(1) with arguments. Returns what it prints. */
    run,
  }
}

function tokenLogin(tokens: string, authPort: number): string {
  return `auth_mechanisms = xoauth2 oauthbearer
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${tokens}
}
service auth {
  inet_listener {
    address = 127.0.0.1
    port = ${authPort}
  }
}
`
}

function tokenSettings(url: string): string {
  return `introspection_mode = post
introspection_url = ${url}
username_attribute = email
active_attribute = active
active_value = true
`
}

function settings(folder: string, mail: string, lmtpPort: number, imapPort: number): string {
  return `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
protocols = lmtp imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_username_format = %Lu
mail_location = maildir:${mail}/%u
mail_save_crlf = yes
lmtp_save_to_detail_mailbox = yes
lda_mailbox_autocreate = yes
auth_failure_delay = 0
first_valid_uid = 1
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${mail}/%u allow_all_users=yes
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    address = 127.0.0.1
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
`
}

const PASSWORDS = `passdb {
  driver = static
  args = password=${PASSWORD}
}
`

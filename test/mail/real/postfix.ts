/** Postfix from Debian accepts messages and passes them on to the mailboxes. Only root can start it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canConnect, startProcess, untilTrue } from '../../foreign/server-process.ts'
import { folderWith } from '../../support/folder.ts'
import { freePort } from '../../support/network/free-port.ts'
import { findInstalled } from '../../support/process/programs.ts'

const BIN = '/usr/sbin/postfix'
const MASTER = '/usr/lib/postfix/sbin/master'
export const MAX_BYTES = 2_000_000

export function missingPostfix(): string | null {
  if (!findInstalled(BIN)) return 'apt-get install postfix'
  return process.getuid?.() === 0 ? null : 'only root can start it'
}

/**
 * Starts Postfix. It accepts mail to all addresses of example.org, and returns that to gone@example.org. Returns its
 * port.
 * @param authPort the port of Dovecot's logins, without which nobody may send; null: everybody may
 */
export async function startPostfix(lmtpPort: number, authPort: number | null = null): Promise<number> {
  const folder = folderWith()
  // The daemons of Postfix run as another user.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const settings = join(folder, 'etc')
  mkdirSync(settings)
  writeFileSync(join(settings, 'main.cf'), `${mainSettings(folder, lmtpPort)}${loginSettings(authPort)}`)
  writeFileSync(join(settings, 'master.cf'), `127.0.0.1:${port} inet n - n - - smtpd\n${SERVICES}`)
  mkdirSync(join(folder, 'queue'))
  // Makes the other folders. Postfix itself does not start its daemons, because they would leave the process
  // group that ends with the test.
  execFileSync(BIN, ['-c', settings, 'check'])
  const server = startProcess(MASTER, ['-d', '-c', settings])
  await untilTrue(server, () => canConnect(port))
  return port
}

function mainSettings(folder: string, lmtpPort: number): string {
  return `compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
myhostname = mail.example.net
mydestination =
alias_maps =
inet_protocols = ipv4
inet_interfaces = 127.0.0.1
mynetworks = 127.0.0.0/8
smtp_dns_support_level = disabled
smtpd_peername_lookup = no
message_size_limit = ${MAX_BYTES}
virtual_mailbox_domains = example.org
smtpd_reject_unlisted_recipient = no
transport_maps = inline:{ {gone@example.org = error:5.1.1 no such user} }
virtual_transport = lmtp:inet:127.0.0.1:${lmtpPort}
`
}

function loginSettings(authPort: number | null): string {
  if (authPort === null) return ''
  return `smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${authPort}
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_recipient_restrictions = permit_sasl_authenticated, reject
`
}

const SERVICES = `cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
`

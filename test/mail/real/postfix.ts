/**
 * Postfix from Debian: it accepts messages to all addresses of example.org over SMTP, and keeps them in mailboxes as
 * files. Only root can start it.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startProcess, untilTrue } from '../../foreign/server-process.ts'
import { folderWith } from '../../support/folder.ts'
import { freePort } from '../../support/network/free-port.ts'
import { findInstalled, isSkipped } from '../../support/process/programs.ts'

const BIN = '/usr/sbin/postfix'
const MASTER = '/usr/lib/postfix/sbin/master'
/** The owner of the mailboxes. */
const NOBODY = 65_534
const POLL_MS = 100
export const MAX_BYTES = 2_000_000

/** Addresses that it refuses, permanently and temporarily. */
export const GONE = 'gone@example.org'
export const BUSY = 'busy@example.org'

export const isWithoutServers = isSkipped(
  'messages through Postfix',
  findInstalled(BIN) ? null : 'apt-get install postfix',
  process.getuid?.() === 0 ? null : 'only root can start it',
)

export interface MailServers {
  readonly url: string
  /** Waits for the first message to an address, and returns all. */
  untilArrived(address: string): Promise<readonly [Buffer, ...Buffer[]]>
}

/** Starts Postfix for the current test. */
export async function startServers(): Promise<MailServers> {
  const folder = folderWith()
  // The daemons of Postfix run as another user.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const [settings, mail] = [join(folder, 'etc'), join(folder, 'mail')]
  for (const each of [settings, mail, join(folder, 'queue')]) mkdirSync(each)
  chownSync(mail, NOBODY, NOBODY)
  writeFileSync(join(settings, 'main.cf'), mainSettings(folder))
  writeFileSync(
    join(settings, 'master.cf'),
    `127.0.0.1:${port} inet n - n - - smtpd\n${SERVICES.map((service) => `${service}\n`).join('')}`,
  )
  // Makes the other folders. Postfix itself does not start its daemons, because they would leave the process
  // group that ends with the test.
  execFileSync(BIN, ['-c', settings, 'check'])
  const server = startProcess(MASTER, ['-d', '-c', settings])
  await untilTrue(server, () => canConnect(port))
  return {
    url: `smtp://127.0.0.1:${port}`,
    async untilArrived(address) {
      const mailbox = join(mail, address, 'new')
      for (;;) {
        const files = existsSync(mailbox) ? readdirSync(mailbox) : []
        const [first, ...more] = files.map((file) => readFileSync(join(mailbox, file)))
        if (first !== undefined) return [first, ...more]
        await delay(POLL_MS)
      }
    },
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function mainSettings(folder: string): string {
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
virtual_mailbox_limit = 0
virtual_mailbox_domains = example.org
virtual_transport = virtual
virtual_mailbox_base = ${folder}/mail
virtual_mailbox_maps = regexp:{ {/(.*)/ $1/} }
virtual_uid_maps = static:${NOBODY}
virtual_gid_maps = static:${NOBODY}
smtpd_recipient_restrictions = check_recipient_access inline:{ {${GONE} = 550 5.1.1 no such user}, {${BUSY} = 450 4.2.0 greylisted} }
`
}

const SERVICES = [
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'trace unix - - n - 0 bounce',
  'proxymap unix - - n - - proxymap',
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'virtual unix - n n - - virtual',
  'anvil unix - - n - 1 anvil',
]

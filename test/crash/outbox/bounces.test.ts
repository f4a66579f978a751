// @both-stores
/** The mailbox of bounces through kills of those that read it, and a large one over IMAP. */
import { chownSync, linkSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { missingImap, PASSWORD, startDovecot } from '../../mail/real/dovecot.ts'
import { folderWith } from '../../support/folder.ts'
import { finished } from '../../support/leadsheet.ts'
import { openLedger } from '../../support/mail/ledger.ts'
import { ordinaryMail, statusMail } from '../../support/mail/notifications.ts'
import { isSkipped } from '../../support/process/programs.ts'
import { random } from '../../support/random.ts'
import { addressOf, IN_POSTGRES } from '../../support/store.ts'
import { start } from '../support/program.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import type { ReaderJob } from './bounce-reader.ts'

const PROGRAM = join(import.meta.dirname, 'bounce-reader.ts')
const KILLS = IS_FULL ? 60 : 8
const MESSAGES = 400

function startReader(job: ReaderJob) {
  const child = start({ main: PROGRAM, args: [JSON.stringify(job)], cwd: tmpdir(), env: {} })
  return { child, end: finished(child) }
}

async function openSent(count: number) {
  const recipients = Array.from({ length: count }, (_, number) => `r${1_000 + number}@example.org`)
  const ledger = await openLedger(recipients)
  const sent = { state: 'sent', next_attempt_at: null, response: '250 ok' } as const
  await ledger.store.db.updateTable('delivery').set(sent).execute()
  return ledger
}

const countRead = async ({ db }: Store) => (await db.selectFrom('notification').select('id').execute()).length

it(`${MESSAGES} bounces through ${KILLS} kills of their reader change each message once, and the place in the mailbox moves with them; SEED=${SEED}`, async () => {
  await using ledger = await openSent(MESSAGES)
  const { store } = ledger
  const folder = folderWith()
  for (const message of await ledger.deliveries())
    writeFileSync(join(folder, `${message.recipient}.eml`), statusMail(message))
  const arrived = readdirSync(folder)
    .map((name) => statSync(join(folder, name)).ctimeMs)
    .sort((a, b) => a - b)
  const job = { file: IN_POSTGRES ? addressOf(store) : fileOf(store), mailbox: `file:${folder}` }
  const next = random(SEED)
  let killed = 0
  while (killed < KILLS) {
    const before = await countRead(store)
    const upTo = before + 1 + Math.floor((next() * 1.5 * (MESSAGES - before)) / (KILLS - killed))
    const reader = startReader(job)
    while (reader.child.exitCode === null && (await countRead(store)) < upTo) await sleep(1)
    if (reader.child.exitCode !== null) break
    reader.child.kill('SIGKILL')
    await reader.end
    killed++
    // The messages that were read are those that changed.
    const bounced = await store.db
      .selectFrom('delivery')
      .where('state', '=', 'bounced')
      .select('message_id')
      .execute()
    const read = await store.db.selectFrom('notification').select(['message_id', 'outcome']).execute()
    expect(read.map(({ message_id }) => message_id).sort()).toEqual(
      bounced.map((one) => one.message_id).sort(),
    )
    expect(new Set(read.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
    const { position } = await store.db
      .selectFrom('bounce_mailbox')
      .select('position')
      .executeTakeFirstOrThrow()
    expect(position).toBe(String(arrived[read.length - 1]))
  }
  const { status, stderr } = await startReader(job).end
  expect([status, stderr]).toEqual([0, ''])
  expect(killed).toBeGreaterThanOrEqual(KILLS * 0.5)
  const states = await store.db.selectFrom('delivery').select('state').distinct().execute()
  expect(states).toEqual([{ state: 'bounced' }])
  expect(await countRead(store)).toBe(MESSAGES)
  await expectSound(job.file)
})

const MAILS = 10_000
const NOTIFICATIONS = 1_000
/** The mailbox has 450 MB, and a program of Node that does nothing takes 100 MB. */
const MEMORY_MB = 250

it.skipIf(isSkipped('a large mailbox over IMAP', missingImap()))(
  `${NOTIFICATIONS} bounces among ${MAILS} mails over IMAP are read in little memory`,
  async () => {
    await using ledger = await openSent(NOTIFICATIONS)
    const { store } = ledger
    const dovecot = await startDovecot()
    const owner = 'bounces@example.org'
    const folder = dovecot.maildirOf(owner)
    for (const part of ['', 'new', 'cur', 'tmp']) {
      mkdirSync(join(folder, part), { recursive: true })
      chownSync(join(folder, part), dovecot.uid, dovecot.uid)
    }
    const put = (name: string, mail: string) => {
      writeFileSync(join(folder, 'new', name), mail)
      chownSync(join(folder, 'new', name), dovecot.uid, dovecot.uid)
    }
    put('1000000000.M0.host', `${ordinaryMail(1)}${'x'.repeat(70)}\r\n`.repeat(60))
    const messages = await ledger.deliveries()
    for (let number = 1; number < MAILS; number++) {
      const message = messages[number / (MAILS / NOTIFICATIONS)]
      const name = `${1_000_000_000 + number}.M${number}.host`
      if (message === undefined)
        linkSync(join(folder, 'new', '1000000000.M0.host'), join(folder, 'new', name))
      else put(name, statusMail(message))
    }
    put('1000099999.M99999.host', statusMail(messages[0] ?? { messageId: '', recipient: '' }))
    const url = `imap://${encodeURIComponent(owner)}:${PASSWORD}@127.0.0.1:${dovecot.imapPort}`
    const job = { file: IN_POSTGRES ? addressOf(store) : fileOf(store), mailbox: url }
    const began = performance.now()
    const { status, stdout, stderr } = await startReader(job).end
    expect([status, stderr]).toEqual([0, ''])
    // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
    console.info(`${Math.round((performance.now() - began) / 1000)} s, ${stdout.trim()} MB`)
    expect(Number(stdout)).toBeLessThan(MEMORY_MB)
    const bounced = await store.db
      .selectFrom('delivery')
      .where('state', '=', 'bounced')
      .select('state')
      .execute()
    expect(bounced).toHaveLength(NOTIFICATIONS)
  },
)

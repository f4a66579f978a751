/** A process that is killed, or hangs, at a step of a message, and another that takes over. */
import { expect, it } from 'vitest'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import { folderWith } from '../../support/folder.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { AT_ONCE } from '../../support/mail/reports.ts'
import {
  at,
  countSyncs,
  type Installation,
  openInstallation,
  readLedger,
  runUntil,
  startDaemon,
  statesIn,
  stopWhen,
} from '../../support/process/daemon-run.ts'
import { SILENT } from '../../support/syncing.ts'
import { startSender } from '../outbox/run.ts'
import { HOLDS, type Hold, openHoldingServer } from '../support/holding-server.ts'
import { sampleOf } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { copyOf, databaseIn } from '../support/world.ts'

const RECIPIENTS = ['ana@example.com', 'ben@example.com', 'cem@example.com']
/**
 * The steps after which the daemon cannot know whether the message has arrived, because its body has begun to
 * leave.
 */
const UNCONFIRMED: readonly Hold[] = ['body', 'reply']

it('a daemon killed at any step of a message is followed by one of two, who sends what is left and doubts one message at most', async () => {
  const base = await openInstallation(RECIPIENTS)
  await runUntil(base, at('06:55'), () => countSyncs(base) > 0)
  const copies = folderWith()
  for (const hold of sampleOf(HOLDS, 2)) {
    await using server = await openHoldingServer(hold)
    const cwd = copyOf(base.cwd, copies, hold)
    const env = { ...base.env, LEADSHEET_MAIL_URL: server.url }
    const installation: Installation = { cwd, env, file: databaseIn(cwd) }

    const killed = startDaemon(installation, at('07:00'))
    await Promise.race([server.isHeld, killed.end])
    killed.child.kill('SIGKILL')
    expect((await killed.end).status, 'it was not to end by itself').toBeNull()

    const racers = [startDaemon(installation, at('07:02')), startDaemon(installation, at('07:02'))]
    const loser = await Promise.race(racers.map(async ({ child, end }) => ({ child, end: await end })))
    expect(loser.end.stderr).toContain('already running')
    for (const racer of racers.filter(({ child }) => child !== loser.child)) {
      await stopWhen(racer, () => statesIn(installation).every((state) => state.endsWith(' sent')))
    }

    const ledger = readLedger(installation)
    expect(ledger.map(({ recipient }) => recipient)).toEqual(RECIPIENTS)
    const count = ledger.reduce((sum, row) => sum + row.unconfirmed_count, 0)
    expect({ hold, count }).toEqual({ hold, count: UNCONFIRMED.includes(hold) ? 1 : 0 })
    expect(server.taken).toHaveLength(RECIPIENTS.length + (hold === 'reply' ? 1 : 0))
    // A message that arrived twice must be the same message.
    const messages = new Set(server.taken.map(({ messageId, sha256 }) => `${messageId} ${sha256}`))
    expect(messages.size).toBe(RECIPIENTS.length)
    expect(new Set(server.taken.map(({ messageId }) => messageId))).toEqual(
      new Set(ledger.map(({ message_id }) => message_id)),
    )
    await expectSound(installation.file)
  }
})

it.each([
  ['before its message left sends none of it', 'RCPT', 1],
  ['after its message left leaves it to the other, who sends the same once more', 'reply', 2],
] as const)('a sender that hung until another had taken over, and wakes up %s', async (_, hold, copies) => {
  await using waiting = await openLedger(['r@example.org'], { ...CONTENT, files: FILES })
  const { store } = waiting
  const file = fileOf(store)
  await using server = await openHoldingServer(hold)
  const hung = startSender({ file, url: server.url })
  await server.isHeld
  hung.child.kill('SIGSTOP')

  await using transport = openTransport(server.url, { log: SILENT, dkim: DKIM_KEY })
  const { expires_at } = await store.db.selectFrom('lease').select('expires_at').executeTakeFirstOrThrow()
  const { signal } = new AbortController()
  const deliverAt = (now: Date) =>
    deliverDue({ store, transport, log: SILENT, now: () => now, policy: AT_ONCE }, signal)
  expect(await deliverAt(new Date(Date.parse(expires_at) - 1))).toBe(false)
  expect(await deliverAt(new Date(Date.parse(expires_at)))).toBe(true)
  const ledger = readLedger({ file })
  expect(ledger).toMatchObject([{ state: 'sent', unconfirmed_count: copies - 1 }])

  server.letGo()
  hung.child.kill('SIGCONT')
  expect(await hung.end).toMatchObject({ status: 0 })
  expect(readLedger({ file })).toEqual(ledger)
  expect(server.taken).toHaveLength(copies)
  expect(new Set(server.taken.map(({ sha256 }) => sha256)).size).toBe(1)
  expect(server.taken[0]?.messageId).toBe(ledger[0]?.message_id)
  await expectSound(file)
})

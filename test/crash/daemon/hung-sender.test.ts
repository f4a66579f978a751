/** A sender that hangs at a step of a message, and another that takes over. */
import { expect, it } from 'vitest'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { CONTENT, openLedger } from '../../support/mail/ledger.ts'
import { FILES } from '../../support/mail/message.ts'
import { AT_ONCE } from '../../support/mail/reports.ts'
import { readLedger } from '../../support/process/daemon-run.ts'
import { SILENT } from '../../support/syncing.ts'
import { startSender } from '../outbox/run.ts'
import { openHoldingServer } from '../support/holding-server.ts'
import { expectSound } from '../support/store.ts'

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

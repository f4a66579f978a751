import { describe, expect, it } from 'vitest'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { openStore } from '../../../src/store/open.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { AT_ONCE } from '../../support/mail/reports.ts'
import { readLedger } from '../../support/process/daemon-run.ts'
import { SILENT } from '../../support/syncing.ts'
import { openStoreWithMessages, startSender } from '../outbox/run.ts'
import { type Hold, openHoldingServer } from '../support/holding-server.ts'
import { expectSound } from '../support/store.ts'

interface Case {
  readonly hold: Hold
  readonly title: string
  readonly state: string
  readonly unconfirmed_count: number
  readonly copies: number
}

const CASES: readonly Case[] = [
  {
    title: 'before its message left sends none of it',
    hold: 'RCPT',
    state: 'sent',
    unconfirmed_count: 0,
    copies: 1,
  },
  {
    title: 'after its message left leaves it to the other, who sends the same once more',
    hold: 'reply',
    state: 'sent',
    unconfirmed_count: 1,
    copies: 2,
  },
]

describe('a sender that hung until another had taken over, and wakes up', () => {
  it.each(CASES)('$title (row 60)', async ({ hold, state, unconfirmed_count, copies }) => {
    const file = await openStoreWithMessages(1)
    await using server = await openHoldingServer(hold)
    const hung = startSender({ file, url: server.url, way: 'program' })
    await server.isHeld
    hung.child.kill('SIGSTOP')

    await using store = await openStore(file, new Date())
    await using transport = openTransport(server.url, { log: SILENT, dkim: DKIM_KEY })
    const { expires_at } = await store.db.selectFrom('lease').select('expires_at').executeTakeFirstOrThrow()
    const deliverAt = (now: Date) =>
      deliverDue(
        {
          store,
          transport,
          log: SILENT,
          now: () => now,
          policy: AT_ONCE,
        },
        new AbortController().signal,
      )
    expect(await deliverAt(new Date(Date.parse(expires_at) - 1))).toBe(false)
    expect(await deliverAt(new Date(Date.parse(expires_at)))).toBe(true)
    const ledger = readLedger({ file })
    expect(ledger).toMatchObject([{ state, unconfirmed_count }])

    server.letGo()
    hung.child.kill('SIGCONT')
    expect(await hung.end).toMatchObject({ status: 0 })
    expect(readLedger({ file })).toEqual(ledger)
    expect(server.taken).toHaveLength(copies)
    expect(new Set(server.taken.map(({ sha256 }) => sha256)).size).toBe(1)
    expect(server.taken[0]?.messageId).toBe(ledger[0]?.message_id)
    await expectSound(file)
  })
})

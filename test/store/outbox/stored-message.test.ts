// @both-stores
import { readFileSync, statSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/domain/message.ts'
import { buildMessage } from '../../../src/mail/message.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessage, listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { FILES, MESSAGE, saveBlankIssue } from '../../support/mail/message.ts'
import { IN_POSTGRES, OPENED_AT, openEmptyStore } from '../../support/store.ts'

const NOW = OPENED_AT.toISOString()

async function openWithIssue(): Promise<Store> {
  const store = await openEmptyStore()
  await store.write((trx) => saveBlankIssue(trx, 'e1', NOW))
  return store
}

const enqueue = (store: Store, messages: readonly Message[]) =>
  store.write(async (trx) => {
    for (const message of messages) await enqueueMessage(trx, 'e1', message, NOW)
  })

describe('a message in the ledger', () => {
  it('comes back to the byte, with its files in their order', async () => {
    await using store = await openWithIssue()
    const unsubscribe = { ...MESSAGE.unsubscribe, url: 'https://leads.example.com/u/1' }
    const message = { ...MESSAGE, files: FILES, unsubscribe }
    await enqueue(store, [message])
    const kept = await readMessage(store.db, message.messageId)
    const files = FILES.map((file) => ({ ...file, content: Buffer.from(file.content) }))
    expect(kept).toEqual({ ...message, files })
    expect(await buildMessage(kept)).toEqual(await buildMessage(message))
  })

  it('stays as it is when another is put in for the same issue and recipient, or under its Message-ID', async () => {
    await using store = await openWithIssue()
    const later = { ...MESSAGE, subject: 'Changed', files: FILES }
    await enqueue(store, [MESSAGE, { ...later, messageId: '<2@x>' }, { ...later, to: 'eve@example.org' }])
    expect((await listDeliveries(store.db, 'e1')).map(({ recipient }) => recipient)).toEqual([MESSAGE.to])
    expect(await readMessage(store.db, MESSAGE.messageId)).toEqual(MESSAGE)
    expect(await countFiles(store)).toBe(0)
  })

  it.skipIf(IN_POSTGRES)(
    'takes less than 15 kB of a file beside others of 60 kB that show the same pictures',
    async () => {
      await using store = await openWithIssue()
      const messages = Array.from({ length: 100 }, (_, n) => {
        const change = { to: `${n}@example.org`, messageId: `<${n}@example.com>`, files: FILES }
        return { ...MESSAGE, html: companies(n), ...change }
      })
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(store.db)
      const before = statSync(fileOf(store)).size
      await enqueue(store, messages)
      expect(await countFiles(store)).toBe(FILES.length)
      const { html } = await readMessage(store.db, '<99@example.com>')
      expect(html).toBe(companies(99))
      expect(Buffer.byteLength(html)).toBeGreaterThan(60_000)
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(store.db)
      expect(statSync(fileOf(store)).size - before).toBeLessThan(100 * 15_000)
    },
  )
})

async function countFiles(store: Store): Promise<number> {
  return (await store.db.selectFrom('message_file').select('sha256').execute()).length
}

/** Returns a page with long lists of names and figures, different for each number. */
function companies(number: number): string {
  const cell =
    'padding:9px 12px 9px 0;border-bottom:1px solid #e4e7ec;font-size:14px;line-height:20px;color:#1d2939'
  return Array.from({ length: 150 }, (_, row) => {
    const { id, name, one_liner, location } = COMPANIES[(number * 37 + row * 11) % COMPANIES.length] ?? {}
    return `<tr><td style="${cell};text-align:left">${name}<br><span style="color:#667085">${one_liner}</span></td>
      <td style="${cell}">${location}</td><td style="${cell};text-align:right">${(Number(id) * number) % 101}</td></tr>`
  }).join('\n')
}

const COMPANIES: readonly Readonly<Record<string, unknown>>[] = readFileSync('data/companies.ndjson', 'utf8')
  .split('\n', 2_000)
  .map((line) => JSON.parse(line))

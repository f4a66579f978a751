// @both-stores
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/domain/message.ts'
import { buildMessage } from '../../../src/mail/message.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessages, listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { addToPack, createMessagePack, readMessage } from '../../../src/store/outbox/stored-message.ts'
import { enqueueMessage, FILES, MESSAGE, saveBlankIssue } from '../../support/mail/message.ts'
import { IN_POSTGRES, OPENED_AT, openEmptyStore } from '../../support/store.ts'

const NOW = OPENED_AT.toISOString()
const MANY = 2_000

async function openWithIssue(): Promise<Store> {
  const store = await openEmptyStore()
  await store.write((trx) => saveBlankIssue(trx, 'e1', NOW))
  return store
}

/** Returns a text of about 5 kB when compressed. */
function unlikeText(number: number): string {
  const hash = (index: number) => createHash('sha256').update(`${number} ${index}`).digest('hex')
  return Array.from({ length: 150 }, (_, index) => hash(index)).join('')
}

const enqueue = (store: Store, messages: readonly Message[]) =>
  store.write(async (trx) => {
    for (const message of messages) await enqueueMessage(trx, 'e1', message, NOW)
  })

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

describe('a message in the ledger', () => {
  it('comes back to the byte, with its files in their order', async () => {
    await using store = await openWithIssue()
    const message = {
      ...MESSAGE,
      files: FILES,
      unsubscribe: { ...MESSAGE.unsubscribe, url: 'https://leads.example.com/u/1' },
    }
    await enqueue(store, [message])
    const kept = await readMessage(store.db, message.messageId)
    expect(kept).toEqual({
      ...message,
      files: FILES.map((file) => ({ ...file, content: Buffer.from(file.content) })),
    })
    expect(await buildMessage(kept)).toEqual(await buildMessage(message))
  })

  it('takes only the memory of its compressed body while it waits for thousands of others', async () => {
    await using store = await openWithIssue()
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    const pack = createMessagePack()
    for (let number = 0; number < MANY; number++) {
      addToPack(pack, {
        ...MESSAGE,
        to: `r${number}@x.org`,
        messageId: `<${number}@x>`,
        html: unlikeText(number),
      })
    }
    // If they were read all at once, each would hold on to two buffers of 16 kB. Another thread frees buffers, which may
    // take a while on a busy machine.
    const held = (): number => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers - before
    }
    await expect.poll(held).toBeLessThan(MANY * 2 * 16_384 * 0.6)
    await store.write((trx) => enqueueMessages(trx, { issueId: 'e1', revision: 0 }, pack, NOW))
    for (const number of [0, MANY - 1])
      expect(await readMessage(store.db, `<${number}@x>`)).toMatchObject({ html: unlikeText(number) })
  })

  it('stays as it is when another is put in for the same issue and recipient, or under its Message-ID', async () => {
    await using store = await openWithIssue()
    const later = { ...MESSAGE, subject: 'Changed', files: FILES }
    await enqueue(store, [MESSAGE, { ...later, messageId: '<2@x>' }, { ...later, to: 'eve@example.org' }])
    expect((await listDeliveries(store.db, 'e1')).map(({ recipient }) => recipient)).toEqual([MESSAGE.to])
    expect(await readMessage(store.db, MESSAGE.messageId)).toEqual(MESSAGE)
    expect(await countFiles(store)).toBe(0)
  })

  it('shares its files with all others that carry them', async () => {
    await using store = await openWithIssue()
    await enqueue(
      store,
      [1, 2, 3].map((n) => numbered(n, { files: FILES })),
    )
    expect(await countFiles(store)).toBe(FILES.length)
  })

  it.skipIf(IN_POSTGRES)(
    'takes less than 15 kB of a file beside a thousand others of 60 kB that show the same pictures',
    async () => {
      await using store = await openWithIssue()
      const images = [1, 2, 3, 4].map((n) => ({
        name: `${n}.png`,
        contentType: 'image/png',
        content: new Uint8Array(30_000).fill(n),
        cid: `${n}@leadsheet`,
      }))
      await enqueue(
        store,
        Array.from({ length: 1_000 }, (_, n) => numbered(n, { html: companies(n), files: images })),
      )
      const { html } = await readMessage(store.db, numbered(999).messageId)
      expect(html).toBe(companies(999))
      expect(Buffer.byteLength(html)).toBeGreaterThan(60_000)
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(store.db)
      expect(statSync(fileOf(store)).size).toBeLessThan(15_000_000)
    },
  )
})

function numbered(n: number, change: Partial<Message> = {}): Message {
  return { ...MESSAGE, to: `${n}@example.org`, messageId: `<${n}@example.com>`, ...change }
}

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

/** The service ends while it sends webhooks. */
import SQLite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openReceiver } from '../../support/network/receiver.ts'
import { startService } from '../support/service.ts'
import { happen, register } from '../support/webhooks.ts'

describe('a service that ends', () => {
  test('ends, though what it was answered cannot be written, and sends that again when it is back', async () => {
    await using own = await openReceiver()
    own.answer = 204
    const logged: string[] = []
    const logger = { info: () => undefined, error: (_: object, message: string) => void logged.push(message) }
    const first = await startService({ historyDays: 1, webhooksToLoopback: true, logger })
    await register(first, own.url)
    const sqlite = new SQLite(first.file)
    sqlite.exec(
      `create trigger full before insert on webhook_attempt begin select raise(abort, 'no space'); end`,
    )
    await happen(first)
    await expect.poll(() => own.posts.length, { interval: 5 }).toBe(1)
    await expect.poll(() => logged).toContain('webhooks could not be sent on')
    await first.service.close()
    sqlite.exec('drop trigger full')
    sqlite.close()
    const second = await startService({ historyDays: 1, webhooksToLoopback: true, file: first.file })
    await expect.poll(() => own.posts.length, { interval: 5 }).toBe(2)
    expect(new Set(own.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await second[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()
  })

  test('cuts off what is on its way, and sends it again when it is back', async () => {
    await using slow = await openReceiver()
    slow.answer = () => undefined
    const first = await startService({ historyDays: 1, webhooksToLoopback: true })
    await register(first, slow.url)
    await happen(first)
    await expect.poll(() => slow.posts.length, { interval: 5 }).toBe(1)
    await first.service.close()
    slow.answer = 204
    const second = await startService({ historyDays: 1, webhooksToLoopback: true, file: first.file })
    await expect.poll(() => slow.posts.length, { interval: 5 }).toBe(2)
    expect(new Set(slow.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(slow.posts.map(({ body }) => body)).size).toBe(1)
    await expect
      .poll(() => second.rows('select attempts, state from webhook_message'))
      .toEqual([{ attempts: 1, state: 'delivered' }])
    await second[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()
  })
})

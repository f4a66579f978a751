/** The queue on a real PostgreSQL: how many jobs of a key there are, who gets them, and what becomes of those that fail. */
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLog } from '../../src/log.ts'
import { countJobs, listDeadJobs, retryDeadJobs } from '../../src/queue/look.ts'
import { openQueue, type Queue } from '../../src/queue/queue.ts'
import type { QueueData } from '../../src/queue/queues.ts'
import { placeOf } from '../../src/store/db/place.ts'
import { openStore } from '../../src/store/open.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { openTakeJob } from '../support/take-job.ts'
import { openTcpProxy } from '../support/tcp-proxy.ts'

describe.skipIf(!hasPostgres)('the queue', () => {
  it('has each job done once, whichever worker takes it', async () => {
    const url = await newDatabase()
    const [queue, other] = await Promise.all([openTestQueue(url), openTestQueue(url)])
    const done: string[] = []
    const doJob = async ({ data }: { data: { messageId: string } }) => void done.push(data.messageId)
    const takers = [
      await queue.work('message', { concurrency: 2 }, doJob),
      await other.work('message', { concurrency: 2 }, doJob),
    ]
    const sent = Array.from({ length: 40 }, (_, no) => `<${no}@example.com>`)
    await queue.sendAll(
      'message',
      sent.map((messageId) => ({ data: { messageId }, key: messageId })),
    )
    await expect.poll(() => done.toSorted()).toEqual(sent.toSorted())
    await Promise.all(takers.map((taker) => taker.stop()))
    expect(done).toHaveLength(40)
  })

  it('does not take a job of a key that waits or runs, and takes it again after that', async () => {
    const queue = await openTestQueue(await newDatabase())
    const message = { messageId: '<a@example.com>' }
    expect(await queue.send('message', message, { key: 'a' })).toBe(true)
    expect(await queue.send('message', message, { key: 'a' })).toBe(false)
    await queue.sendAll('message', [
      { data: message, key: 'a' },
      { data: message, key: 'b' },
    ])
    expect(
      await takeOne(queue, 'message', async () => {
        expect(await queue.send('message', message, { key: 'a' })).toBe(false)
      }),
    ).toBe(true)
    expect(await queue.send('message', message, { key: 'a' })).toBe(true)
    expect(await takeAll(queue, 'message')).toBe(2)
  })

  it('keeps one job of a lane waiting behind the one that runs, and runs no two beside each other', async () => {
    const queue = await openTestQueue(await newDatabase())
    const sync = { lease: 'sync' }
    await queue.send('scheduled_run', sync, { key: 'sync' })
    await takeOne(queue, 'scheduled_run', async () => {
      expect(await queue.send('scheduled_run', sync, { key: 'sync' })).toBe(true)
      expect(await queue.send('scheduled_run', sync, { key: 'sync' })).toBe(false)
      expect(await takeOne(queue, 'scheduled_run', async () => undefined)).toBe(false)
      await queue.send('scheduled_run', { lease: 'report:daily' }, { key: 'report:daily' })
      expect(await takeOne(queue, 'scheduled_run', async () => undefined)).toBe(true)
    })
    expect(await takeAll(queue, 'scheduled_run')).toBe(1)
  })

  it('tries a job again that threw, and tells why', async () => {
    const lines: string[] = []
    const queue = await openTestQueue(await newDatabase(), lines)
    await queue.send('scheduled_run', { lease: 'sync' }, { key: 'sync' })
    const attempts: number[] = []
    const taking = await queue.work('scheduled_run', { concurrency: 1 }, async ({ attempt }) => {
      attempts.push(attempt)
      if (attempt === 1) throw new Error('the disk is full')
    })
    await expect.poll(() => attempts).toEqual([1, 2])
    expect(lines.join('')).toContain('a job failed: the disk is full')
    await taking.stop()
  })

  it('gives up a job that fails again and again, says why, and has it done again when asked to', async () => {
    const url = await newDatabase()
    const queue = await openTestQueue(url)
    const store = await openStore(url, new Date())
    onTestFinished(store.close)
    await queue.send('scheduled_run', { lease: 'sync' }, { key: 'sync' })
    // All but the last of its tries.
    const tries = sql`UPDATE leadsheet_jobs.job SET retry_limit = 0`
    await tries.execute(store.db)
    await takeOne(queue, 'scheduled_run', () => Promise.reject(new Error('the disk is full')))
    const [dead] = (await listDeadJobs(store)) ?? []
    expect(dead).toMatchObject({
      queue: 'scheduled_run',
      data: { lease: 'sync' },
      tries: 1,
      problem: 'the disk is full',
    })
    const counts = async () => (await countJobs(store))?.find(({ queue: name }) => name === 'scheduled_run')
    expect(await counts()).toMatchObject({ dead: 1 })
    expect(await retryDeadJobs(store, [])).toBe(1)
    expect(await counts()).toMatchObject({ dead: 0 })
    const again: unknown[] = []
    await takeOne(queue, 'scheduled_run', async ({ data }) => void again.push(data))
    expect(again).toEqual([{ lease: 'sync' }])
  })

  it('gives what is in hand to another worker when it stops, and waits until it is put down', async () => {
    const url = await newDatabase()
    const [queue, other] = await Promise.all([openTestQueue(url), openTestQueue(url)])
    const begun = Promise.withResolvers<void>()
    let isPutDown = false
    const taking = await queue.work('scheduled_run', { concurrency: 1 }, async ({ signal }) => {
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isPutDown = true
    })
    await queue.send('scheduled_run', { lease: 'sync' }, { key: 'sync' })
    await begun.promise
    await taking.stop()
    expect(isPutDown).toBe(true)
    await expect.poll(() => takeOne(other, 'scheduled_run', async () => undefined)).toBe(true)
  })

  it('takes a job not before its time', async () => {
    const queue = await openTestQueue(await newDatabase())
    await queue.send('message', { messageId: 'a' }, { afterSeconds: 1.5 })
    expect(await takeOne(queue, 'message', async () => undefined)).toBe(false)
    await expect.poll(() => takeOne(queue, 'message', async () => undefined)).toBe(true)
  })

  it('goes on by itself when PostgreSQL is back, and has told once that it was away', async () => {
    const url = await newDatabase()
    await using proxy = await openTcpProxy(Number(new URL(url).port))
    const lines: string[] = []
    const queue = await openTestQueue(proxy.urlOf(url), lines)
    const done: string[] = []
    const taking = await queue.work('message', { concurrency: 3 }, async ({ data }) => {
      done.push(data.messageId)
    })
    await proxy.refuse(true)
    proxy.cut()
    await expect(queue.send('message', { messageId: 'a' }, { key: 'a' })).rejects.toMatchObject({
      code: 'store_unreachable',
    })
    await expect.poll(() => levels(lines)).toEqual(['warn'])
    await expect(queue.send('message', { messageId: 'a' }, { key: 'a' })).rejects.toThrow()
    await proxy.refuse(false)
    await expect
      .poll(() => queue.send('message', { messageId: 'b' }, { key: 'b' }).catch(() => null))
      .toBe(true)
    await expect.poll(() => done).toEqual(['b'])
    await expect.poll(() => levels(lines)).toEqual(['warn', 'info'])
    expect(lines[1]).toContain('is back')
    await taking.stop()
  })

  it('is one of its own in each schema of a database', async () => {
    const url = await newDatabase()
    const [queue, other] = await Promise.all([
      openTestQueue(`${url}?schema=north`),
      openTestQueue(`${url}?schema=south`),
    ])
    await queue.send('scheduled_run', { lease: 'sync' }, { key: 'sync' })
    expect(await takeAll(other, 'scheduled_run')).toBe(0)
    expect(await takeAll(queue, 'scheduled_run')).toBe(1)
  })
})

/** Of the lines of a log. */
function levels(lines: readonly string[]): string[] {
  return lines.map((line) => JSON.parse(line).level)
}

type TestQueue = Queue & { readonly url: string }

async function openTestQueue(url: string, lines: string[] = []): Promise<TestQueue> {
  const place = placeOf(url)
  if (place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
  const write = (line: string) => void lines.push(line)
  const log = await openLog({ level: 'info', pretty: false, color: false, secrets: [], write })
  const queue = await openQueue(place, log)
  onTestFinished(() => queue[Symbol.asyncDispose]())
  return { ...queue, url }
}

async function takeOne<N extends 'message' | 'scheduled_run'>(
  { url }: TestQueue,
  name: N,
  doJob: (job: { data: QueueData[N]; attempt: number }) => Promise<void>,
): Promise<boolean> {
  const takeJob = await openTakeJob(url)
  return takeJob(name, doJob)
}

async function takeAll(queue: TestQueue, name: 'message' | 'scheduled_run'): Promise<number> {
  let count = 0
  while (await takeOne(queue, name, async () => undefined)) count++
  return count
}

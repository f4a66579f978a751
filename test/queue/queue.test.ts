/** The queue in a real PostgreSQL: the number of jobs with the same key, their distribution, and failures. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLog } from '../../src/log.ts'
import { jobSchemaOf, openPgBossQueue } from '../../src/queue/pg-boss.ts'
import type { DoJob, JobData, JobKind, NewJob, Queue } from '../../src/queue/queue.ts'
import { placeOf } from '../../src/store/db/place.ts'
import { openTcpProxy } from '../support/network/tcp-proxy.ts'
import { withClient } from '../support/postgres/postgres-server.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { openTakeJob } from '../support/schedule/take-job.ts'

describe.skipIf(!hasPostgres)('the queue', () => {
  it('has each job done once, whichever worker takes it, and another schema has a queue of its own', async () => {
    const url = await newDatabase()
    const [queue, other, elsewhere] = await Promise.all(
      [url, url, `${url}?schema=south`].map((place) => openTestQueue(place)),
    )
    if (!queue || !other || !elsewhere) throw new Error('no queue')
    const done: string[] = []
    const doJob = async ({ data }: { data: { lease: string } }) => void done.push(data.lease)
    const takers = [queue.take('scheduled-run', 2, doJob), other.take('scheduled-run', 2, doJob)]
    const sent = Array.from({ length: 20 }, (_, no) => `report:${no}`)
    await elsewhere.send('scheduled-run', { lease: 'sync' })
    await queue.enqueue(
      'scheduled-run',
      sent.map((lease) => ({ data: { lease }, key: lease })),
    )
    await expect.poll(() => done.toSorted()).toEqual(sent.toSorted())
    await Promise.all(takers.map((taker) => taker.stop()))
    expect(done).toHaveLength(20)
    expect(await takeOne(elsewhere)).toBe(true)
  })

  it('keeps one job of a key waiting behind the one that runs, and takes none before its time', async () => {
    const queue = await openTestQueue(await newDatabase())
    const sync = { lease: 'sync' }
    await queue.send('scheduled-run', sync, { key: 'sync' })
    await takeOne(queue, async () => {
      expect(await queue.send('scheduled-run', sync, { key: 'sync' })).toBe(true)
      expect(await queue.send('scheduled-run', sync, { key: 'sync' })).toBe(false)
      expect(await takeOne(queue)).toBe(false)
      await queue.send('scheduled-run', { lease: 'report:daily' }, { key: 'report:daily' })
      expect(await takeOne(queue)).toBe(true)
    })
    expect([await takeOne(queue), await takeOne(queue)]).toEqual([true, false])
    await queue.send('scheduled-run', { lease: 'a' }, { afterSeconds: 1.5 })
    expect(await takeOne(queue)).toBe(false)
    await expect.poll(() => takeOne(queue)).toBe(true)
  })

  it('tries a job again that threw, and gives what is in hand to another worker when it stops', async () => {
    const url = await newDatabase()
    const lines: string[] = []
    const [queue, other] = await Promise.all([openTestQueue(url, lines), openTestQueue(url)])
    const attempts: number[] = []
    const begun = Promise.withResolvers<void>()
    let isPutDown = false
    const taking = queue.take('scheduled-run', 1, async ({ attempt, signal }) => {
      attempts.push(attempt)
      if (attempt === 1) throw new Error('the disk is full')
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isPutDown = true
    })
    await queue.send('scheduled-run', { lease: 'sync' }, { key: 'sync' })
    await begun.promise
    expect(attempts).toEqual([1, 2])
    expect(lines.join('')).toContain('a job failed: the disk is full')
    await taking.stop()
    expect(isPutDown).toBe(true)
    await expect.poll(() => takeOne(other)).toBe(true)
  })

  it('goes on by itself when PostgreSQL is back, and has told once that it was away', async () => {
    const url = await newDatabase()
    await using proxy = await openTcpProxy(Number(new URL(url).port))
    const lines: string[] = []
    const queue = await openTestQueue(proxy.urlOf(url), lines)
    const done: string[] = []
    const taking = queue.take('scheduled-run', 3, async ({ data }) => {
      done.push(data.lease)
    })
    await proxy.refuse(true)
    proxy.cut()
    const add = (id: string) => queue.enqueue('scheduled-run', [{ data: { lease: id }, key: id }])
    await expect(add('a')).rejects.toMatchObject({ code: 'store_unreachable' })
    await expect.poll(() => levels(lines)).toEqual(['warn'])
    await expect(add('a')).rejects.toThrow()
    await proxy.refuse(false)
    const isAdded = () =>
      add('b')
        .then(() => true)
        .catch(() => false)
    await expect.poll(isAdded).toBe(true)
    await expect.poll(() => done).toEqual(['b'])
    expect(levels(lines)).toEqual(['warn'])
    await taking.stop()
  })
})

/** Returns the levels of log lines. */
function levels(lines: readonly string[]): string[] {
  return lines.map((line) => JSON.parse(line).level)
}

interface TestQueue extends Queue {
  readonly url: string
  /** @returns whether the queue accepted the job */
  send<K extends JobKind>(kind: K, data: JobData[K], job?: Partial<NewJob<K>>): Promise<boolean>
  /** Works on jobs until it is stopped. */
  take<K extends JobKind>(kind: K, concurrency: number, doJob: DoJob<K>): { stop(): Promise<void> }
}

async function openTestQueue(url: string, lines: string[] = []): Promise<TestQueue> {
  const place = placeOf(url)
  if (place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
  const write = (line: string) => void lines.push(line)
  const log = await openLog({ level: 'info', pretty: false, color: false, secrets: [], write })
  const queue = await openPgBossQueue(place, log)
  onTestFinished(() => queue[Symbol.asyncDispose]())
  const countJobs = () =>
    withClient(url, async (client) => {
      const { rows } = await client.query(`SELECT count(*) AS n FROM ${jobSchemaOf(place)}.job`)
      return Number(rows[0]?.n)
    })
  return {
    ...queue,
    url,
    async send(kind, data, job = {}) {
      const before = await countJobs()
      await queue.enqueue(kind, [{ data, key: randomUUID(), ...job }])
      return (await countJobs()) > before
    },
    take(kind, concurrency, doJob) {
      const stop = new AbortController()
      const working = queue.work(kind, { concurrency, signal: stop.signal }, doJob)
      return {
        stop() {
          stop.abort(new Error('the test is over'))
          return working.idle()
        },
      }
    },
  }
}

/** Does one job. @returns whether there was one */
async function takeOne({ url }: TestQueue, doJob = async (): Promise<void> => undefined): Promise<boolean> {
  const takeJob = await openTakeJob(url)
  return takeJob('scheduled-run', doJob)
}

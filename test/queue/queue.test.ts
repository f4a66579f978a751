/** The queue in a real PostgreSQL: the number of jobs with the same key, their distribution, and failures. */
import { PgBoss } from 'pg-boss'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLog } from '../../src/log.ts'
import { jobSchemaOf, openPgBossQueue } from '../../src/queue/pg-boss.ts'
import type { DoJob, NewJob, Queue } from '../../src/queue/queue.ts'
import { placeOf } from '../../src/store/db/place.ts'
import { openTcpProxy } from '../support/network/tcp-proxy.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'

type Run = NewJob<'scheduled-run'>

const run = (lease: string, change: Partial<Run> = {}): Run => ({ data: { lease }, key: lease, ...change })

describe.skipIf(!hasPostgres)('the queue', () => {
  it('has each job done once, whichever worker takes it, and another schema has a queue of its own', async () => {
    const url = await newDatabase()
    const [queue, other, elsewhere] = [
      await openQueue(url),
      await openQueue(url),
      await openQueue(`${url}?schema=south`),
    ]
    const done: string[] = []
    const takers = [queue, other].map((each) => take(each, 2, async ({ data }) => void done.push(data.lease)))
    const sent = Array.from({ length: 20 }, (_, no) => `report:${no}`)
    await elsewhere.enqueue('scheduled-run', [run('sync')])
    await queue.enqueue(
      'scheduled-run',
      sent.map((lease) => run(lease)),
    )
    await expect.poll(() => done.toSorted()).toEqual(sent.toSorted())
    await Promise.all(takers.map((stop) => stop()))
    expect(done).toHaveLength(20)
    expect(await takeOne(elsewhere)).toBe(true)
  })

  it('keeps one job of a key waiting behind the one that runs, and takes none before its time', async () => {
    const queue = await openQueue(await newDatabase())
    const send = (...jobs: Run[]) => queue.enqueue('scheduled-run', jobs)
    await send(run('sync'))
    await takeOne(queue, async () => {
      await send(run('sync'))
      await send(run('sync'))
      expect(await takeOne(queue)).toBe(false)
      await send(run('report:daily'))
      expect(await takeOne(queue)).toBe(true)
    })
    expect([await takeOne(queue), await takeOne(queue)]).toEqual([true, false])
    await send(run('a', { afterSeconds: 1.5 }))
    expect(await takeOne(queue)).toBe(false)
    await expect.poll(() => takeOne(queue)).toBe(true)
  })

  it('tries a job again that threw, and gives what is in hand to another worker when it stops', async () => {
    const url = await newDatabase()
    const lines: string[] = []
    const [queue, other] = [await openQueue(url, lines), await openQueue(url)]
    const attempts: number[] = []
    const begun = Promise.withResolvers<void>()
    let isPutDown = false
    const stop = take(queue, 1, async ({ attempt, signal }) => {
      attempts.push(attempt)
      if (attempt === 1) throw new Error('the disk is full')
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isPutDown = true
    })
    await queue.enqueue('scheduled-run', [run('sync')])
    await begun.promise
    expect(attempts).toEqual([1, 2])
    expect(lines.join('')).toContain('a job failed: the disk is full')
    await stop()
    expect(isPutDown).toBe(true)
    await expect.poll(() => takeOne(other)).toBe(true)
  })

  it('goes on by itself when PostgreSQL is back, and has told once that it was away', async () => {
    const url = await newDatabase()
    await using proxy = await openTcpProxy(Number(new URL(url).port))
    const lines: string[] = []
    const levels = () => lines.map((line) => JSON.parse(line).level)
    const queue = await openQueue(proxy.urlOf(url), lines)
    const done: string[] = []
    const stop = take(queue, 3, async ({ data }) => void done.push(data.lease))
    await proxy.refuse(true)
    proxy.cut()
    const add = (id: string) => queue.enqueue('scheduled-run', [run(id)])
    await expect(add('a')).rejects.toMatchObject({ code: 'store_unreachable' })
    await expect.poll(levels).toEqual(['warn'])
    await expect(add('a')).rejects.toThrow()
    await proxy.refuse(false)
    const isAdded = () =>
      add('b').then(
        () => true,
        () => false,
      )
    await expect.poll(isAdded).toBe(true)
    await expect.poll(() => done).toEqual(['b'])
    expect(levels()).toEqual(['warn'])
    await stop()
  })
})

interface TestQueue extends Queue {
  readonly place: Parameters<typeof jobSchemaOf>[0]
}

async function openQueue(url: string, lines: string[] = []): Promise<TestQueue> {
  const place = placeOf(url)
  if (place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
  const write = (line: string) => void lines.push(line)
  const log = await openLog({ level: 'info', pretty: false, color: false, secrets: [], write })
  const queue = await openPgBossQueue(place, log)
  onTestFinished(() => queue[Symbol.asyncDispose]())
  return { ...queue, place }
}

/** Works on jobs. Returns the function that stops it. */
function take(queue: Queue, concurrency: number, doJob: DoJob<'scheduled-run'>): () => Promise<void> {
  const stop = new AbortController()
  const working = queue.work('scheduled-run', { concurrency, signal: stop.signal }, doJob)
  return () => {
    stop.abort(new Error('the test is over'))
    return working.idle()
  }
}

/** Does one job, which is done when `doJob` returns. @returns whether there was one */
async function takeOne({ place }: TestQueue, doJob = async (): Promise<void> => undefined): Promise<boolean> {
  const only = { max: 1, supervise: false, schedule: false, migrate: false }
  const boss = new PgBoss({ connectionString: place.url, schema: jobSchemaOf(place), ...only })
  boss.on('error', () => undefined)
  await boss.start()
  onTestFinished(() => boss.stop({ graceful: false }))
  const [job] = await boss.fetch('scheduled-run', { groupConcurrency: 1 })
  if (job === undefined) return false
  await doJob()
  await boss.complete('scheduled-run', job.id)
  return true
}

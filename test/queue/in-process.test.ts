/**
 * The queue in one process: the number of jobs with the same key, the number that run at once, and failures.
 */
import { expect, it } from 'vitest'
import type { NewJob } from '../../src/queue/queue.ts'
import { openInProcessQueue } from '../../src/queue/queue.ts'

const run = (lease: string): NewJob<'scheduled-run'> => ({ data: { lease }, key: lease })

it('lets one job of a serial key wait behind the one that runs, and does jobs in the order in which they came', async () => {
  await using queue = openInProcessQueue(() => undefined)
  const done: string[] = []
  const first = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  const working = queue.work('scheduled-run', { concurrency: 1, signal }, async ({ data }) => {
    if (done.push(data.lease) === 1) await first.promise
  })
  await queue.enqueue('scheduled-run', ['sync', 'report:daily', 'sync', 'sync'].map(run))
  expect(done).toEqual(['sync'])
  expect(working.isBusy()).toBe(true)
  first.resolve()
  await working.idle()
  expect(done).toEqual(['sync', 'report:daily', 'sync'])
})

it('does as many jobs at once as may be, but none beside one of its key', async () => {
  await using queue = openInProcessQueue(() => undefined)
  const begun: string[] = []
  const end = Promise.withResolvers<void>()
  const { signal } = new AbortController()
  const working = queue.work('scheduled-run', { concurrency: 2, signal }, async ({ data }) => {
    begun.push(data.lease)
    await end.promise
  })
  await queue.enqueue('scheduled-run', ['a', 'a', 'b', 'c', 'c'].map(run))
  expect(begun).toEqual(['a', 'b'])
  end.resolve()
  await working.idle()
  expect(begun).toEqual(['a', 'b', 'a', 'c'])
})

it('tells of a job that fails and goes on, drops one that is to wait, and takes none after its end', async () => {
  const failures: unknown[] = []
  await using queue = openInProcessQueue((thrown, kind) => failures.push([kind, thrown]))
  const done: string[] = []
  const end = new AbortController()
  const error = new Error('the disk is full')
  const working = queue.work('scheduled-run', { concurrency: 1, signal: end.signal }, async ({ data }) => {
    done.push(data.lease)
    if (data.lease === 'a') throw error
  })
  await queue.enqueue('scheduled-run', [run('a'), { ...run('later'), afterSeconds: 5 }, run('b')])
  await working.idle()
  expect(failures).toEqual([['scheduled-run', error]])
  end.abort()
  await queue.enqueue('scheduled-run', [run('c')])
  await working.idle()
  expect(done).toEqual(['a', 'b'])
})

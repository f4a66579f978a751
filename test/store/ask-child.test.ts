import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { askChild } from '../../src/store/ask-child.ts'

const INTERRUPTED = join(import.meta.dirname, '../support/interrupted-child.ts')

it('a process of ours leaves it to its parent what becomes of it when all are told to stop', async () => {
  const job = { signals: ['SIGINT', 'SIGTERM', 'SIGHUP'] }
  const options = { folder: tmpdir(), signal: new AbortController().signal }
  expect(await askChild<typeof job, string>(INTERRUPTED, job, options)).toBe('done')
})

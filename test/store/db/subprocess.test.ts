import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { askChild } from '../../../src/store/db/subprocess.ts'
import { runQuery } from '../../../src/store/queries/query.ts'
import { folderWith } from '../../support/folder.ts'

const INTERRUPTED = join(import.meta.dirname, '../../support/process/interrupted-child.ts')

it('a process of ours leaves it to its parent what becomes of it when all are told to stop', async () => {
  const job = { signals: ['SIGINT', 'SIGTERM', 'SIGHUP'] }
  const options = { folder: tmpdir(), signal: new AbortController().signal }
  expect(await askChild<typeof job, string>(INTERRUPTED, job, options)).toBe('done')
})

it('a process that is killed is told in one line', async () => {
  const kill = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess }
    // A child that is not there yet has no process, and the signal would go to all processes of the test.
    child.once('spawn', () => child.kill('SIGKILL'))
  }
  subscribe('child_process', kill)
  onTestFinished(() => void unsubscribe('child_process', kill))
  const file = join(folderWith(), 'x.db')
  new DatabaseSync(file).close()
  const options = { rowsMax: 1, timeoutMs: 60_000, signal: new AbortController().signal }
  await expect(runQuery(file, 'SELECT 1', options)).rejects.toMatchObject({
    name: 'LeadsheetError',
    message: 'the query had no answer: a process of leadsheet ended with SIGKILL before its work was done',
  })
})

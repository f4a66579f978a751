import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Progress } from '../../src/cli/progress.ts'
import { withProgress } from '../../src/cli/sync.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet } from '../support/leadsheet.ts'

describe('looking before the first sync', () => {
  it('shows that there is nothing yet, and makes no data directory', async () => {
    const cwd = folderWith()
    const env = { LEADSHEET_DATA_DIR: 'mistyped', LEADSHEET_WEB_LISTEN: '127.0.0.1:8080' }
    const status = await runLeadsheet(['status', '--json'], { cwd, env })
    expect(status.status).toBe(0)
    expect(JSON.parse(status.stdout)).toMatchObject({
      ...{ verdict: 'fail', sentence: 'No sync has read all leads yet.' },
      ...{ leads: 0, data_as_of: null, runs: [], deliveries: {} },
      events: { last_24_hours: {}, waiting: 0, waiting_since: null, last: [] },
    })
    const report = await runLeadsheet(['report', 'daily'], { cwd, env: { LEADSHEET_DATA_DIR: 'mistyped' } })
    expect([report.status, report.stderr]).toEqual([
      1,
      expect.stringContaining('no sync has read all leads yet'),
    ])
    expect(existsSync(join(cwd, 'mistyped'))).toBe(false)
  })

  it('refuses the report of a day that is still to come', async () => {
    const run = await runLeadsheet(['report', 'daily', '--at', '2999-01-01'], { cwd: folderWith() })
    expect([run.status, run.stderr]).toEqual([
      2,
      expect.stringContaining('--at 2999-01-01T00:00:00.000Z is still to come'),
    ])
  })
})

describe('the progress of a sync', () => {
  it('is shown until the work is done', async () => {
    const events: string[] = []
    const progress: Progress = {
      update: (done) => void events.push(`${done}`),
      [Symbol.dispose]: () => void events.push('gone'),
    }
    const terminal: Pick<Terminal, 'progress'> = { progress: async () => progress }
    await withProgress(terminal, async (onProgress) => {
      await new Promise(setImmediate)
      onProgress({ part: 'leads', pages: 1, done: 10, total: 20 })
    })
    expect(events).toEqual(['10', 'gone'])
  })
})

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../../src/domain/model.ts'
import { openStore } from '../../../../src/store/open.ts'
import { startRun } from '../../../../src/store/sync/sync-run.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { lead, save } from '../../../support/store.ts'

const FIRST_SYNC = '2026-11-05T00:00:00.000Z'

function read(id: string, at: string, change: Partial<Lead>): Lead {
  return lead(id, { updatedAt: at, statusChangedAt: at, ...change })
}

/**
 * Makes two leads: one is contacted on the evening of the 10th, UTC, and won later. The other belongs to
 * another pipeline.
 */
async function folderWithHistory(): Promise<string> {
  const folder = folderWith()
  mkdirSync(join(folder, 'data'))
  await using store = await openStore(join(folder, 'data/leadsheet.db'), new Date(FIRST_SYNC))
  await store.write((trx) => startRun(trx, { mode: 'full', parts: ['leads'], at: FIRST_SYNC }))
  await save(store, [read('1', '2026-11-01T00:00:00.000Z', { score: 40, companyName: 'Before' })])
  await save(store, [read('2', '2026-11-09T00:00:00.000Z', { pipelineId: 'p2', status: 'contacted' })])
  await save(store, [read('1', '2026-11-10T23:30:00.000Z', { status: 'contacted', score: 70 })])
  await save(store, [read('1', '2026-11-12T00:00:00.000Z', { status: 'won', score: 90, companyName: 'Now' })])
  return folder
}

function list(cwd: string, args: readonly string[]) {
  const env = { LEADSHEET_DATA_DIR: 'data' }
  return runWarm(['leads', 'list', ...args], { cwd, env })
}

async function listed(cwd: string, args: readonly string[]) {
  const { stdout, stderr } = await list(cwd, [...args, '--json'])
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('leads of the local copy', () => {
  it('are listed as they are now, without a word to the upstream', async () => {
    const cwd = await folderWithHistory()
    const { data, meta } = await listed(cwd, [])
    expect(data).toMatchObject([
      { id: '1', status: 'won', score: 90, company_name: 'Now' },
      { id: '2', status: 'contacted' },
    ])
    expect(meta.total).toBe(2)
    expect((await list(cwd, [])).stdout).toMatch(/^ID +COMPANY +STATUS +SCORE +UPDATED/)
  })

  it('are filtered, and counted beyond the limit', async () => {
    const cwd = await folderWithHistory()
    expect((await listed(cwd, ['--min-score', '80'])).data).toMatchObject([{ id: '1' }])
    expect((await listed(cwd, ['--pipeline', 'p2'])).data).toMatchObject([{ id: '2' }])
    expect((await listed(cwd, ['--status', 'won', '--status', 'contacted'])).meta.total).toBe(2)
    const first = await listed(cwd, ['--limit', '1'])
    expect([first.data.length, first.meta.total]).toEqual([1, 2])
  })

  it('are shown with their history', async () => {
    const options = { cwd: await folderWithHistory(), env: { LEADSHEET_DATA_DIR: 'data' } }
    const { stdout } = await runWarm(['leads', 'show', '1'], options)
    expect(stdout).toMatch(/^Lead +1\nCompany +Now\n/)
    expect(stdout).toMatch(/2026-11-10 23:30Z +2026-11-12 00:00Z +contacted +70 [\s\S]* now +won +90 /)
    const { data } = JSON.parse((await runWarm(['leads', 'show', '1', '--json'], options)).stdout)
    expect(data).toMatchObject({ id: '1', status: 'won', enrichment: null, activity: [] })
    expect(data.versions.at(-1)).toMatchObject({ status: 'won', valid_to: null })
    expect(await runWarm(['leads', 'show', 'nobody'], options)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('leads show nobody --remote'),
    })
  })

  it('are not asked what only the upstream can answer', async () => {
    const { status, stderr } = await list(await folderWithHistory(), ['--q', 'robotics'])
    expect([status, stderr]).toEqual([2, expect.stringContaining('--q: found it without --remote')])
  })
})

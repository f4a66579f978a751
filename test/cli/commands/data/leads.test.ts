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

function list(cwd: string, args: readonly string[], timeZone = 'UTC') {
  const env = { LEADSHEET_DATA_DIR: 'data', LEADSHEET_TIME_ZONE: timeZone }
  return runWarm(['leads', 'list', ...args], { cwd, env })
}

async function listed(cwd: string, args: readonly string[], timeZone?: string) {
  const { stdout, stderr } = await list(cwd, [...args, '--json'], timeZone)
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('leads list --as-of', () => {
  it('shows the leads as they were at the end of a day, in the time zone of the settings', async () => {
    const cwd = await folderWithHistory()
    const utc = await listed(cwd, ['--as-of', '2026-11-10'])
    expect(utc.meta).toMatchObject({ as_of: '2026-11-10T23:59:59.999Z', total: 2, first_sync: FIRST_SYNC })
    expect(utc.data).toMatchObject([
      {
        id: '1',
        status: 'contacted',
        score: 70,
        valid_from: '2026-11-10T23:30:00.000Z',
        company_name: 'Now',
      },
      { id: '2', status: 'contacted' },
    ])
    const berlin = await listed(cwd, ['--as-of', '2026-11-10'], 'Europe/Berlin')
    expect(berlin.meta.as_of).toBe('2026-11-10T22:59:59.999Z')
    expect(berlin.data).toMatchObject([{ id: '2' }, { id: '1', status: 'new', score: 40 }])
  })

  it('takes an instant to the millisecond, and filters by what was then', async () => {
    const cwd = await folderWithHistory()
    const at = '2026-11-10T23:30:00Z'
    expect((await listed(cwd, ['--as-of', at, '--min-score', '70'])).data).toMatchObject([{ id: '1' }])
    expect((await listed(cwd, ['--as-of', '2026-11-10T23:29:59.999Z', '--min-score', '70'])).meta.total).toBe(
      0,
    )
    expect((await listed(cwd, ['--as-of', at, '--pipeline', 'p2'])).data).toMatchObject([{ id: '2' }])
    expect((await listed(cwd, ['--as-of', at, '--status', 'won', '--status', 'new'])).meta.total).toBe(0)
    const first = await listed(cwd, ['--as-of', at, '--limit', '1'])
    expect([first.data.length, first.meta.total]).toEqual([1, 2])
  })

  it('says in the table which columns are of now, and before the first sync that little is known', async () => {
    const cwd = await folderWithHistory()
    const late = await list(cwd, ['--as-of', '2026-11-10'])
    expect(late.stdout).toMatch(/^ID +COMPANY NOW +STATUS +SCORE +SINCE/)
    expect(late.stderr).toBe('2 of 2 leads as of the end of 2026-11-10 in UTC, 2026-11-10 23:59Z\n')
    const early = await list(cwd, ['--as-of', '2026-11-02'])
    expect(early.stderr).toContain(
      'Before the first sync (2026-11-05 00:00Z) a lead is known only from its last change of status on.',
    )
    expect(early.stderr).toContain(
      'Not listed, because the state at that time is unknown: 1 of the leads created by then.',
    )
  })

  it.each([
    [['--as-of', '2026-10-31'], 1, 'the history has no leads at 2026-10-31 23:59Z: it begins at 2026-11-01'],
    [['--as-of', '2999-01-01'], 2, '--as-of 2999-01-01 is in the future'],
    [['--as-of', '2026-02-30'], 2, 'Expected a date'],
    [['--as-of', '2026-11-10', '--q', 'x'], 2, '--q: found it without --remote'],
    [['--as-of', '2026-11-10', '--remote'], 2, 'cannot be used with'],
  ])('refuses %j', async (args, status, message) => {
    const cwd = await folderWithHistory()
    const run = await list(cwd, args)
    expect([run.status, run.stderr]).toEqual([status, expect.stringContaining(message)])
  })

  it('says that nothing was synced yet where there is no database', async () => {
    const run = await list(folderWith(), ['--as-of', '2026-11-10'])
    expect([run.status, run.stderr]).toEqual([1, expect.stringContaining('no sync has read leads yet')])
  })
})

describe('leads of the local copy', () => {
  it('are listed as they are now, without a word to the upstream', async () => {
    const cwd = await folderWithHistory()
    const { data, meta } = await listed(cwd, [])
    expect(data).toMatchObject([
      { id: '1', status: 'won', score: 90, company_name: 'Now' },
      { id: '2', status: 'contacted' },
    ])
    expect(meta.total).toBe(2)
    expect((await list(cwd, [])).stdout).toMatch(/^ID +COMPANY +STATUS +SCORE +SINCE/)
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

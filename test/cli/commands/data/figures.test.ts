import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FIGURES } from '../../../../src/store/figures/definition.ts'
import { hasSqlite3 } from '../../../support/data/sqlite3.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'
import { openSyncing } from '../../../support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const DAY = ['--from', '2026-11-20', '--to', '2026-11-21']

const folder = mkdtempSync(join(tmpdir(), 'leadsheet-figures-'))
const env = { LEADSHEET_DATA_DIR: folder, LEADSHEET_TIME_ZONE: 'Europe/Berlin' }
const run = (...args: string[]) => runWarm(args, { cwd: folder, env })

/** A copy of the reference service, synced once. */
beforeAll(async () => {
  await using service = await startService(folder, NOW, 20)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key, { folder })
  await syncing.sync({ pageSize: 500 })
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('figures', () => {
  it('prints every figure of the days asked for, in all and by pipeline, beside the days before', async () => {
    const { status, stdout } = await run('figures', '--json', ...DAY)
    expect(status).toBe(0)
    const printed = JSON.parse(stdout).data
    expect(printed).toMatchObject({
      period: {
        from: '2026-11-19T23:00:00.000Z',
        to: '2026-11-20T23:00:00.000Z',
        time_zone: 'Europe/Berlin',
      },
      prior: { from: '2026-11-18T23:00:00.000Z', to: '2026-11-19T23:00:00.000Z' },
      data_as_of: NOW.toISOString(),
    })
    expect(printed.figures.map((figure: { name: string }) => figure.name)).toEqual(
      FIGURES.map(({ name }) => name),
    )
    const [leads] = printed.figures
    const [all, ...pipelines] = leads.values
    expect(all.pipeline_id).toBeNull()
    expect(pipelines.length).toBeGreaterThan(2)
    const sum = pipelines.reduce((total: number, each: { current: number }) => total + each.current, 0)
    expect(sum).toBe(all.current)
    expect(all.current).toBeGreaterThan(all.prior)
    const none = await run('figures', ...DAY, '--where', 'tags=none')
    expect(none.stdout).toMatch(/^leads +0 /m)

    const { stdout: table, stderr } = await run('figures', ...DAY, '--pipeline', pipelines[0].pipeline_id)
    expect(table).toMatch(new RegExp(`^leads +${pipelines[0].current} `, 'm'))
    expect(stderr).toContain(
      '2026-11-20 to 2026-11-20, and before: 2026-11-19 to 2026-11-19, in Europe/Berlin',
    )
  })

  it('refuses a pipeline that is not there', async () => {
    const pipeline = await run('figures', '--pipeline', 'pl_eme')
    expect([pipeline.status, pipeline.stderr]).toEqual([2, expect.stringContaining('Did you mean pl_emea?')])
  })
})

describe('one figure', () => {
  it.skipIf(!hasSqlite3)(
    'prints nothing but SQL, which sqlite3 takes as it is and gives the value that stands above it',
    async () => {
      const { stdout } = await run('figures', 'new_leads', ...DAY)
      const value = /, in leads: (\d+)$/m.exec(stdout)?.[1]
      expect(Number(value)).toBeGreaterThan(0)
      const file = join(folder, 'leadsheet.db')
      const printed = execFileSync('sqlite3', ['-readonly', file], { input: stdout, encoding: 'utf8' })
      expect(printed.trim()).toBe(value)

      const filtered = await run('figures', 'open', ...DAY, '--where', 'score>=60', '--where', 'tags=none')
      const none = execFileSync('sqlite3', ['-readonly', file], { input: filtered.stdout, encoding: 'utf8' })
      expect(none.trim()).toBe('0')
      const high = await run('figures', 'open', ...DAY, '--where', 'score>=60')
      const some = execFileSync('sqlite3', ['-readonly', file], { input: high.stdout, encoding: 'utf8' })
      expect(some.trim()).toBe(/, in leads: (\d+)$/m.exec(high.stdout)?.[1])
      expect(Number(some)).toBeGreaterThan(0)
    },
  )
})

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FIGURES } from '../../../../src/store/figures/definition.ts'
import { hasSqlite3 } from '../../../support/data/sqlite3.ts'
import { folderWith } from '../../../support/folder.ts'
import type { Finished } from '../../../support/leadsheet.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'
import { openSyncing } from '../../../support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const DAY = ['--from', '2026-11-20', '--to', '2026-11-21']

/** Runs commands on a copy of the reference service, synced once. */
async function openCopy(
  days = 20,
): Promise<{ folder: string; run: (...args: string[]) => Promise<Finished> }> {
  const folder = folderWith()
  await using service = await startService(folderWith(), NOW, days)
  await using syncing = await openSyncing(
    service.url,
    await service.createKey({ name: 'test', scope: 'read' }),
    { folder },
  )
  await syncing.sync({ pageSize: 500 })
  const env = { LEADSHEET_DATA_DIR: folder, LEADSHEET_TIME_ZONE: 'Europe/Berlin' }
  return { folder, run: (...args) => runWarm(args, { cwd: folder, env }) }
}

describe('figures', () => {
  it('prints every figure of the days asked for, in all and by pipeline, beside the days before', async () => {
    const { run } = await openCopy()
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

    const { stdout: table, stderr } = await run('figures', ...DAY, '--pipeline', pipelines[0].pipeline_id)
    expect(table).toMatch(new RegExp(`^leads +${pipelines[0].current} `, 'm'))
    expect(stderr).toContain(
      '2026-11-20 to 2026-11-20, and before: 2026-11-19 to 2026-11-19, in Europe/Berlin',
    )
  })

  it('refuses a pipeline that is not there, and days in the wrong order', async () => {
    const { run } = await openCopy()
    const pipeline = await run('figures', '--pipeline', 'pl_eme')
    expect([pipeline.status, pipeline.stderr]).toEqual([2, expect.stringContaining('Did you mean pl_emea?')])
  })

  it('counts only leads that meet the conditions', async () => {
    const { run } = await openCopy()
    const leadsWhere = async (...conditions: string[]): Promise<number> => {
      const options = conditions.flatMap((each) => ['--where', each])
      return JSON.parse((await run('figures', '--json', ...DAY, ...options)).stdout).data.figures[0].values[0]
        .current
    }
    const [low, high] = [await leadsWhere('score<=59.5'), await leadsWhere('score>=60')]
    expect(Math.min(low, high)).toBeGreaterThan(0)
    expect(await leadsWhere('score>=0')).toBe(low + high)
  })
})

describe('one figure', () => {
  it.skipIf(!hasSqlite3)(
    'prints nothing but SQL, which sqlite3 takes as it is and gives the value that stands above it',
    async () => {
      const { folder, run } = await openCopy()
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

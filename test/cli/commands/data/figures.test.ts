import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FIGURES } from '../../../../src/store/figures/definition.ts'
import { hasSqlite3 } from '../../../support/data/sqlite3.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
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

it('each figure is printed of the days asked for, in all and by pipeline, beside the days before', async () => {
  await checkTranscript(join(import.meta.dirname, 'golden/figures.txt'), { cwd: folder, env })
  const { data } = JSON.parse((await run('figures', '--json', ...DAY)).stdout)
  expect(data).toMatchObject({
    period: { from: '2026-11-19T23:00:00.000Z', to: '2026-11-20T23:00:00.000Z', time_zone: 'Europe/Berlin' },
    prior: { from: '2026-11-18T23:00:00.000Z', to: '2026-11-19T23:00:00.000Z' },
    data_as_of: NOW.toISOString(),
  })
  expect(data.figures.map((figure: { name: string }) => figure.name)).toEqual(FIGURES.map(({ name }) => name))
})

it.skipIf(!hasSqlite3).each([
  ['17', 'new_leads'],
  ['0', 'open', '--where', 'score>=60', '--where', 'tags=none'],
  ['126', 'open', '--where', 'score>=60'],
])(
  'one figure prints nothing but SQL, which sqlite3 takes as it is and gives the value that stands above it: %s',
  async (value, ...args) => {
    const { stdout } = await run('figures', ...args, ...DAY)
    const file = join(folder, 'leadsheet.db')
    const printed = execFileSync('sqlite3', ['-readonly', file], { input: stdout, encoding: 'utf8' })
    expect([printed.trim(), /, in leads: (\d+)$/m.exec(stdout)?.[1]]).toEqual([value, value])
  },
)

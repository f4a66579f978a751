import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FIGURES } from '../../../../src/store/figures/definition.ts'
import { hasSqlite3 } from '../../../support/data/sqlite3.ts'
import { syncedForFile } from '../../../support/process/synced-installation.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

const NOW = '2026-11-21T06:00:00Z'
const DAY = ['--from', '2026-11-20', '--to', '2026-11-21']

const { folder, env } = syncedForFile('time_zone: Europe/Berlin\nenrichment: { policy: none }\n', NOW, 20)
const run = (...args: string[]) => runWarm(args, { cwd: folder, env })

it('each figure is printed of the days asked for, in all and by pipeline, beside the days before', async () => {
  await checkTranscript(join(import.meta.dirname, 'golden/figures.txt'), { cwd: folder, env })
  const { data } = JSON.parse((await run('figures', '--json', ...DAY)).stdout)
  expect(data).toMatchObject({
    period: { from: '2026-11-19T23:00:00.000Z', to: '2026-11-20T23:00:00.000Z', time_zone: 'Europe/Berlin' },
    prior: { from: '2026-11-18T23:00:00.000Z', to: '2026-11-19T23:00:00.000Z' },
    data_as_of: new Date(NOW).toISOString(),
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
    const file = join(folder, 'data/leadsheet.db')
    const printed = execFileSync('sqlite3', ['-readonly', file], { input: stdout, encoding: 'utf8' })
    expect([printed.trim(), /, in leads: (\d+)$/m.exec(stdout)?.[1]]).toEqual([value, value])
  },
)

/** `leadsheet health` as a container calls it: one line, and exit status 0 or 1. */
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { endUptime } from '../../../../src/store/schedule/uptime.ts'
import { saveUptime } from '../../../support/data/operation.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

const MINUTE_MS = 60_000

/** Makes a database whose last tick was so many minutes ago. */
async function folderOf(minutes: number, isEnded = false): Promise<string> {
  const cwd = folderWith()
  await using store = await openStore(join(cwd, 'leadsheet.db'), new Date())
  const at = new Date(Date.now() - minutes * MINUTE_MS).toISOString()
  const id = await saveUptime(store, at, at)
  if (isEnded) await store.write((trx) => endUptime(trx, id, at))
  return cwd
}

async function health(cwd: string, ...options: string[]) {
  const { status, stdout } = await runWarm(['health', ...options], {
    cwd,
    env: { LEADSHEET_DATA_DIR: cwd, LEADSHEET_WEB_LISTEN: 'none' },
  })
  return { status, said: stdout }
}

it('a daemon that has just beaten is healthy, and its database stays as it was, even read-only', async () => {
  const cwd = await folderOf(0)
  const before = readdirSync(cwd)
  chmodSync(join(cwd, 'leadsheet.db'), 0o400)
  const { status, said } = await health(cwd)
  expect([status, said]).toEqual([
    0,
    expect.stringMatching(/^healthy: the last heartbeat of the daemon was \d+ s ago\n$/),
  ])
  expect(readdirSync(cwd)).toEqual(before)
})

it('one that has not for some minutes is not', async () => {
  const { status, said } = await health(await folderOf(4), '--json')
  expect([status, JSON.parse(said).data]).toMatchObject([
    1,
    { healthy: false, found: 'the daemon has sent no heartbeat for 4 min' },
  ])
})

it('nor is one that was stopped, one that never ran, or a database that is none', async () => {
  expect(await health(await folderOf(1, true))).toEqual({
    status: 1,
    said: 'unhealthy: the daemon was stopped 1 min ago\n',
  })
  const cwd = folderWith()
  expect(await health(cwd)).toEqual({ status: 1, said: 'unhealthy: no daemon has run on this data\n' })
  writeFileSync(join(cwd, 'leadsheet.db'), 'no database, but long enough to be read as one'.repeat(20))
  expect(await health(cwd)).toEqual({
    status: 1,
    said: expect.stringMatching(
      /^unhealthy: .* is damaged or not a leadsheet database: file is not a database/,
    ),
  })
})

it.each([
  ['a mistyped name', 'no_such_setting: 1'],
  ['no YAML', 'api: { url: "unfinished'],
  ['a variable that is not set', `smtp: { url: "\${NO_SUCH_VARIABLE}" }`],
  ['a secret that is not there', 'api: { key_file: ./nowhere }'],
])(
  'settings with %s leave a daemon healthy, and commands that read the data warn and go on',
  async (_, text) => {
    const cwd = await folderOf(0)
    writeFileSync(join(cwd, 'leadsheet.yaml'), `data_dir: .\n${text}\n`)
    for (const [command, said] of [
      ['health', /^healthy: /],
      ['status', /settings/],
    ] as const) {
      const { stdout, stderr } = await runWarm([command], { cwd })
      expect([stdout, stderr]).toEqual([
        expect.stringMatching(said),
        expect.stringMatching(/left out|not valid YAML/),
      ])
      expect(stderr).not.toMatch(/^error:/m)
    }
    const { status } = await runWarm(['sync'], { cwd })
    expect(status).toBe(2)
  },
)

it.each([
  'data_dri: data',
  'data_dir: 7',
  `data_dir: "\${NO_SUCH_VARIABLE}/data"`,
  'database_url: mysql://x',
])('settings that do not say where the data are (%s) are unhealthy, and not a third answer', async (yaml) => {
  const cwd = await folderOf(0)
  writeFileSync(join(cwd, 'leadsheet.yaml'), yaml)
  const { status, stdout } = await runWarm(['health'], { cwd })
  expect([status, stdout]).toEqual([1, expect.stringMatching(/^unhealthy: .*data/)])
})

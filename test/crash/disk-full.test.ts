import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../support/folder.ts'
import type { Finished } from '../support/leadsheet.ts'
import { isInPath, isSkipped } from '../support/process/programs.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { type Program, run } from './support/program.ts'
import { expectSound } from './support/store.ts'

const LEADS = 1_200
const HAS_PRLIMIT = !isSkipped(
  'files that may not grow',
  isInPath('prlimit') ? null : 'apt-get install util-linux',
)
const CAN_MOUNT = !isSkipped('a disk that is full', canMount() ? null : 'it needs root and unshare')

function syncIn(cwd: string, upstream: Upstream): Program {
  return {
    args: ['sync', '--only', 'leads', '--full', '--json', '--config', join(cwd, '../settings.yaml')],
    cwd,
    env: { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key', LEADSHEET_DATA_DIR: cwd },
  }
}

function newFolder(): string {
  return join(
    folderWith({ 'settings.yaml': 'api: { page_size: 200 }\nsnapshot: { when: never }', 'data/.keep': '' }),
    'data',
  )
}

/** Runs the program with a limit for the size of each file, so that writing fails as on a full disk. */
function runWithin(bytes: number, program: Program): Promise<Finished> {
  return run({ ...program, within: ['prlimit', `--fsize=${bytes}`] })
}

/** Mounts a small file system in memory that a test can fill. */
function mountSmall(folder: string, megabytes: number): void {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  expect(mounted.status, String(mounted.stderr)).toBe(0)
  onTestFinished(() => void spawnSync('umount', ['--lazy', folder]))
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
}

function expectUnwritable({ status, stderr }: Finished): void {
  expect(status).not.toBe(0)
  expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
    error: { code: 'data_unwritable' },
  })
}

it.skipIf(!HAS_PRLIMIT)(
  'a sync whose file cannot grow fails whole, and goes on when there is room; needs prlimit',
  async () => {
    await using upstream = await startUpstream(LEADS)
    const sync = syncIn(newFolder(), upstream)
    const file = join(sync.cwd, 'leadsheet.db')
    expect(await run(sync)).toMatchObject({ status: 0 })
    for (let number = 0; number < LEADS; number++) {
      upstream.put(number, {
        status: 'won',
        updated_at: new Date(Date.now() - 3_600_000 + number).toISOString(),
      })
    }
    const before = hashTables(file, true)
    expectUnwritable(await runWithin(4_096, sync))
    expect(hashTables(file, true)).toEqual(before)

    const leads = hashTables(file)
    // There is room for the run and its scan, but not for a page of leads.
    expectUnwritable(await runWithin(80_000, sync))
    expect(hashTables(file)).toEqual(leads)
    await expectSound(file)

    expect(await run(sync)).toMatchObject({ status: 0 })
    await expectSound(file)
    expect(hashTables(file)['lead']).not.toEqual(leads['lead'])
  },
)

it.skipIf(!CAN_MOUNT)(
  'a backup that finds no room says how much it needs, and leaves nothing behind; needs root',
  async () => {
    await using upstream = await startUpstream(LEADS)
    const sync = syncIn(newFolder(), upstream)
    expect(await run(sync)).toMatchObject({ status: 0 })
    const folder = folderWith()
    mountSmall(folder, 1)
    const { status, stderr } = await run({ ...sync, args: ['db', 'backup', join(folder, 'copy.db')] })
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/the disk of \S+ is full: a backup needs about \d+ MB, of which \d+ MB are free/),
    ])
    expect(readdirSync(folder)).toEqual([])
  },
)

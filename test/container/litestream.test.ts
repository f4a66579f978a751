// @long
/** deploy/litestream with the real Litestream. Its copy made during work is complete, and can be restored. */

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkBackup } from '../../src/store/backup/backup-check.ts'
import { fileOf } from '../../src/store/db/place.ts'
import { startProcess, untilTrue } from '../foreign/server-process.ts'
import { folderWith } from '../support/folder.ts'
import { isSkipped } from '../support/process/programs.ts'
import { openSyncing } from '../support/syncing.ts'
import { startUpstream } from '../support/upstream.ts'
import { ROOT } from './support/image.ts'

const PROGRAM = join(ROOT, 'test/foreign/node_modules/@flydotio/litestream-linux-x64/litestream')
const MISSING = existsSync(PROGRAM) ? null : 'npm ci --prefix test/foreign'
const TEXT = readFileSync(join(ROOT, 'deploy/litestream/litestream.yml'), 'utf8')
const COPIED_WITHIN_MS = 60_000

it.skipIf(isSkipped('copies by Litestream', MISSING))(
  'deploy/litestream/litestream.yml has all of it elsewhere, however leadsheet empties its log, and gives back what `leadsheet db restore` takes',
  async () => {
    await using upstream = await startUpstream(400)
    await using syncing = await openSyncing(upstream.url)
    const file = fileOf(syncing.store)
    const settings = TEXT.replaceAll('/data/leadsheet.db', file).replace('10s', '100ms')
    const folder = folderWith({ 'litestream.yml': settings })
    const env = { LITESTREAM_REPLICA_URL: `file://${join(folder, 'elsewhere')}` }
    const args = ['-config', join(folder, 'litestream.yml')]
    const replicate = () => startProcess(PROGRAM, ['replicate', ...args], env)
    const first = replicate()
    await untilTrue(first, async () => existsSync(join(folder, 'elsewhere/generations')))
    await syncing.sync({ pageSize: 100 })
    await first.stop()
    // While Litestream is down, leads change, and leadsheet empties its log into the database.
    await syncing.sync({ full: true, pageSize: 100 })
    replicate()
    await syncing.sync({ full: true, pageSize: 100 })

    const restore = (): unknown => {
      const copy = join(folderWith(), 'restored.db')
      spawnSync(PROGRAM, ['restore', ...args, '-o', copy, file], { env })
      return existsSync(copy) ? checkBackup(copy) : null
    }
    const all = checkBackup(file)
    expect(all).toMatchObject({ rows: { lead: 400, sync_run: 3 } })
    await expect.poll(restore, { timeout: COPIED_WITHIN_MS, interval: 200 }).toEqual(all)
  },
)

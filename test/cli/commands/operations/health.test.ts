/** `leadsheet health` as a container calls it: one line, and exit status 0 or 1. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { endUptime } from '../../../../src/store/schedule/uptime.ts'
import { saveUptime } from '../../../support/data/operation.ts'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

/** Settings with mistakes, some of which leave open where the data are. */
const SETTINGS = {
  'mistyped.yaml': 'data_dir: alive\nno_such_setting: 1\n',
  'unfinished.yaml': 'data_dir: alive\napi: { url: "unfinished\n',
  'variable.yaml': `data_dir: alive\nmail: { url: "\${NO_SUCH_VARIABLE}" }\n`,
  'secret.yaml': 'data_dir: alive\napi: { key_file: ./nowhere }\n',
  'no-place.yaml': 'data_dri: alive\n',
  'number.yaml': 'data_dir: 7\n',
  'open-place.yaml': `data_dir: "\${NO_SUCH_VARIABLE}/data"\n`,
  'mysql.yaml': 'database_url: mysql://x\n',
}

/** Makes a database whose last heartbeat was at a time. */
async function beaten(folder: string, at: string, isEnded = false): Promise<void> {
  mkdirSync(folder)
  await using store = await openStore(join(folder, 'leadsheet.db'), new Date(at))
  const id = await saveUptime(store, at, at)
  if (isEnded) await store.write((trx) => endUptime(trx, id, at))
}

it('a daemon that has just beaten is healthy whatever else the settings say, and its database stays as it was', async () => {
  const none = { 'none/leadsheet.db': 'no database, but long enough to be read as one'.repeat(20) }
  const cwd = folderWith({ ...SETTINGS, ...none })
  await beaten(join(cwd, 'alive'), '2026-11-24T11:59:30.000Z')
  await beaten(join(cwd, 'silent'), '2026-11-24T11:56:00.000Z')
  await beaten(join(cwd, 'stopped'), '2026-11-24T11:59:00.000Z', true)
  const env = { ...clockStandingAt('2026-11-24T12:00:00Z'), LEADSHEET_WEB_LISTEN: 'none' }
  await checkTranscript(join(import.meta.dirname, 'golden/health.txt'), { cwd, env })
})

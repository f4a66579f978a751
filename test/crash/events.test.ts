import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { ask } from '../support/data/publishing.ts'
import { folderWith } from '../support/folder.ts'
import { finished } from '../support/leadsheet.ts'
import { readAddress } from '../support/process/daemon-address.ts'
import { random } from '../support/random.ts'
import { startUpstream } from '../support/upstream.ts'
import { listOf, readCopy } from './support/contents.ts'
import { EVENTS_SECRET, openSender } from './support/event-sender.ts'
import { type Program, start } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { databaseIn } from './support/world.ts'

const KILLS = IS_FULL ? 60 : 4
/** More points than a process passes at its start, and fewer than a hundred messages lead to. */
const POINTS = 250
const LEADS = 200

it(`a daemon killed at any point while events come and a sync runs has lost none that it had answered (${KILLS} kills, SEED=${SEED})`, async () => {
  const next = random(SEED)
  await using upstream = await startUpstream(LEADS)
  const cwd = folderWith({
    'leadsheet.yaml':
      'reports: []\nsnapshot: { when: never }\napi: { page_size: 20 }\nsync: { schedule: 0 4 1 1 * }\n',
  })
  const program: Program = {
    args: ['run'],
    cwd,
    env: {
      LEADSHEET_API_URL: upstream.url,
      LEADSHEET_API_KEY: 'test-key',
      LEADSHEET_DATA_DIR: join(cwd, 'data'),
      LEADSHEET_EVENTS_SECRET: EVENTS_SECRET,
      LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
    },
  }
  const sender = openSender(upstream, () => Math.floor(next() * LEADS))
  for (let kill = 0; kill < KILLS; kill++) {
    const killAt = 1 + Math.floor(next() * POINTS)
    const child = start({ ...program, env: { ...program.env, KILL_AT: String(killAt) } })
    const left = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const url = await readAddress(child.stderr).catch(() => null)
    const isEnough = () => child.exitCode !== null || child.signalCode !== null
    if (url !== null) await sender.sendUntil(url, isEnough)
    await left
    expect(child.signalCode, `killed at ${killAt}`).toBe('SIGKILL')
  }

  const child = start(program)
  const url = await readAddress(child.stderr)
  const enough = sender.taken.size + 20
  await sender.sendUntil(url, () => sender.taken.size >= enough)
  const file = databaseIn(cwd)
  await expect.poll(() => ask(file, 'SELECT * FROM event_queue')).toEqual([])
  const end = finished(child)
  child.kill('SIGTERM')
  expect((await end).status).toBe(0)

  await expectSound(file)
  const done = ask<{ id: string }>(file, 'SELECT id FROM event WHERE done_at IS NOT NULL').map(({ id }) => id)
  expect([...sender.taken].filter((id) => !done.includes(id))).toEqual([])
  await using store = await openStore(file, new Date())
  expect(await readCopy(store)).toEqual(listOf(upstream))
})

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { finished } from '../support/leadsheet.ts'
import { readAddress } from '../support/process/daemon-address.ts'
import { random } from '../support/random.ts'
import { startUpstream } from '../support/upstream.ts'
import { EVENTS_SECRET, openSender } from './support/event-sender.ts'
import { type Program, start } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { databaseIn } from './support/world.ts'

const KILLS = IS_FULL ? 60 : 4
/** More points than a process passes at its start, and fewer than a hundred messages lead to. */
const POINTS = 250
const LEADS = 200
const WITHIN_MS = 60_000

function waitingIn(file: string): number {
  const database = new Database(file, { readonly: true })
  const count = database.prepare<[], number>('SELECT count(*) FROM event_queue').pluck().get()
  database.close()
  return count ?? 0
}

it(`a daemon killed at any point while events come and a sync runs has lost none that it had answered (${KILLS} kills, SEED=${SEED}) (row 38)`, async () => {
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
  const until = performance.now() + WITHIN_MS
  while (waitingIn(file) > 0 && performance.now() < until) await sleep(50)
  const end = finished(child)
  child.kill('SIGTERM')
  expect((await end).status).toBe(0)

  await expectSound(file)
  const database = new Database(file, { readonly: true })
  const done = database.prepare<[], string>('SELECT id FROM event WHERE done_at IS NOT NULL').pluck().all()
  expect([...sender.taken].filter((id) => !done.includes(id))).toEqual([])
  const scores = database.prepare<[], [string, number]>('SELECT id, score FROM lead').raw().all()
  database.close()
  expect(new Map(scores)).toEqual(new Map([...upstream.leads].map(([id, { score }]) => [id, score])))
})

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { folderWith } from '../../support/folder.ts'
import { finished, runLeadsheet } from '../../support/leadsheet.ts'
import { openMailServer } from '../../support/mail-server.ts'
import {
  at,
  countSyncs,
  openInstallation,
  runUntil,
  startDaemon,
  statesIn,
  stopWhen,
} from '../../support/process/daemon-run.ts'
import { clockAt } from '../../support/process/shifted-clock.ts'
import { openSyncing } from '../../support/syncing.ts'
import { type Fault, startUpstream } from '../../support/upstream.ts'
import { hashTables } from '../support/contents.ts'
import { type Program, start } from '../support/program.ts'
import { IS_FULL } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { copyOf, databaseIn } from '../support/world.ts'

const RACES = IS_FULL ? 20 : 3
const SENDINGS = IS_FULL ? 5 : 1
const LATER_MS = 500
const LEASE_S = 90

/** A fault that holds the next request until the test calls `letGo`. Then the answer is an empty list. */
function holding() {
  const held = Promise.withResolvers<ServerResponse>()
  const fault: Fault = (_request, response) => {
    held.resolve(response)
    return true
  }
  const letGo = async (): Promise<void> => {
    const response = await held.promise
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"data":[],"page":{"next_cursor":null,"has_more":false,"total":0}}')
  }
  return { fault, isHeld: held.promise, letGo }
}

function syncOf(url: string): Program {
  return {
    args: ['sync', '--only', 'leads', '--full', '--json'],
    cwd: folderWith({ 'leadsheet.yaml': 'api: { page_size: 10 }\nsnapshot: { when: never }\ndata_dir: .' }),
    env: { LEADSHEET_API_URL: url, LEADSHEET_API_KEY: 'test-key' },
  }
}

function runsIn(file: string): unknown {
  const database = new Database(file)
  const runs = database.prepare('SELECT count(*) FROM sync_run').pluck().get()
  database.close()
  return runs
}

it(`of two syncs on the same data one runs and the other is told who does; ${RACES} races (row 45)`, async () => {
  await using upstream = await startUpstream(5)
  const program = syncOf(upstream.url)
  const file = join(program.cwd, 'leadsheet.db')
  await (await openStore(file, new Date())).close()
  for (let race = 1; race <= RACES; race++) {
    const { fault, letGo } = holding()
    upstream.faults.push(fault)
    const racers = [start(program), start(program)]
    const ends = racers.map(finished)
    const loser = await Promise.race(ends)
    await letGo()
    const [winner] = (await Promise.all(ends)).filter((end) => end !== loser)
    expect(loser.status).not.toBe(0)
    expect(JSON.parse(loser.stderr)).toMatchObject({ error: { code: 'job_busy' } })
    expect(winner, winner?.stderr).toMatchObject({ status: 0 })
    expect(runsIn(file)).toBe(race)
  }
  await expectSound(file)
})

it('a sync killed on another machine is taken over once its lease has expired, and not before (row 46)', async () => {
  await using upstream = await startUpstream(30)
  const program = syncOf(upstream.url)
  const { fault, isHeld } = holding()
  upstream.faults.push(fault)
  const child = start(program)
  await isHeld
  child.kill('SIGKILL')
  await once(child, 'exit')
  await using store = await openStore(join(program.cwd, 'leadsheet.db'), new Date())
  await store.write((trx) => trx.updateTable('lease').set({ host: 'another' }).execute())
  const { expires_at } = await store.db.selectFrom('lease').select('expires_at').executeTakeFirstOrThrow()
  const inSeconds = (seconds: number) => (): Date => new Date(Date.parse(expires_at) + seconds * 1000)
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(LEASE_S * 1000)
  await expect(claimLease(store, 'sync', inSeconds(-1))).rejects.toMatchObject({ code: 'job_busy' })
  await (await claimLease(store, 'sync', inSeconds(0))).release()
})

it('a sync that hung until another had taken over writes nothing when it wakes up (row 46)', async () => {
  await using upstream = await startUpstream(30)
  const program = syncOf(upstream.url)
  const file = join(program.cwd, 'leadsheet.db')
  const { fault, isHeld, letGo } = holding()
  upstream.faults.push(fault)
  const hung = start(program)
  const end = finished(hung)
  await isHeld
  hung.kill('SIGSTOP')

  await using other = await openSyncing(upstream.url, 'test-key', { folder: program.cwd })
  other.clock.now = new Date()
  await expect(other.sync({ parts: ['leads'] })).rejects.toMatchObject({ code: 'job_busy' })
  other.clock.now = new Date(Date.now() + LEASE_S * 1000)
  expect(await other.sync({ parts: ['leads'] })).toMatchObject({ outcome: 'ok', leads: { inserted: 30 } })
  const before = hashTables(file, true)

  await letGo()
  hung.kill('SIGCONT')
  const { status, stderr } = await end
  expect(status).not.toBe(0)
  expect(stderr).toContain('job_busy')
  expect(hashTables(file, true)).toEqual(before)
  await expectSound(file)
})

it(`a daemon and a person who send the same report at the same moment send each message once; ${SENDINGS} times (row 45)`, async () => {
  const recipients = ['ana@example.com', 'ben@example.com', 'cem@example.com']
  const base = await openInstallation(recipients)
  await runUntil(base, at('06:55'), () => countSyncs(base) > 0)
  const copies = folderWith()
  for (let sending = 0; sending < SENDINGS; sending++) {
    await using server = await openMailServer()
    const cwd = copyOf(base.cwd, copies, String(sending))
    const env = { ...base.env, LEADSHEET_SMTP_URL: server.url }
    const installation = { cwd, env, file: databaseIn(cwd) }
    const daemon = startDaemon(installation, at('07:00'))
    // The delay lets the command come before, during and after the daemon's work.
    await sleep(sending * LATER_MS)
    const person = await runLeadsheet(['report', 'send', 'daily'], {
      cwd,
      env: { ...env, ...clockAt(at('07:00')) },
    })
    const isAllSent = () =>
      statesIn(installation).join() === recipients.map((recipient) => `${recipient} sent`).join()
    await stopWhen(daemon, isAllSent)
    expect(person.stdout + person.stderr).toMatch(/sent|already running|another process is sending/)
    expect(server.received.map(({ to }) => to[0]).toSorted()).toEqual(recipients)
    await expectSound(installation.file)
  }
})

/** Opening and closing the service: mistakes, and continuing where it stopped. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WireLeadList } from '../../src/contract/lead.ts'
import { openService, type ServiceOptions } from '../../src/service/open.ts'
import { folderWith } from '../support/folder.ts'
import { listen } from '../support/network/http-server.ts'
import { COMPANIES } from '../support/service.ts'
import { DAY_MS, HOUR_MS, NOW, startService, type TestService } from './support/service.ts'

function optionsIn(folder: string, change: Partial<ServiceOptions> = {}): ServiceOptions {
  return {
    file: join(folder, 'service.db'),
    companiesFile: COMPANIES,
    historyDays: 2,
    now: () => NOW,
    ...change,
  }
}

describe('opening fails with what to do when', () => {
  test('the port is taken', async () => {
    const server = createServer()
    const port = await listen(server)
    onTestFinished(() => void server.close())
    await expect(openService(optionsIn(folderWith(), { port }))).rejects.toMatchObject({
      code: 'service_port',
      message: `The service cannot listen on 127.0.0.1:${port}: another program has it.`,
      hint: expect.stringContaining('another port'),
    })
  })

  test('the folder cannot be written', async () => {
    const folder = folderWith({ blocked: 'a file where a folder should be' })
    const options = optionsIn(join(folder, 'blocked'))
    await expect(openService(options)).rejects.toMatchObject({
      code: 'data_unwritable',
      message: expect.stringContaining(join(folder, 'blocked', 'service.db')),
    })
  })

  test('the database is not one', async () => {
    const folder = folderWith({
      'service.db': 'This is a text, long enough to be no SQLite header. '.repeat(100),
    })
    const before = readFileSync(join(folder, 'service.db'))
    await expect(openService(optionsIn(folder))).rejects.toMatchObject({ code: 'store_corrupt' })
    expect(readFileSync(join(folder, 'service.db'))).toEqual(before)
  })

  test('a newer program wrote the database', async () => {
    const options = optionsIn(folderWith())
    await (await openService(options)).close()
    const sqlite = new SQLite(options.file)
    sqlite.pragma('user_version = 2')
    sqlite.close()
    await expect(openService(options)).rejects.toMatchObject({
      code: 'store_newer',
      message: expect.stringContaining('a newer leadsheet'),
    })
  })
})

describe('an open service', () => {
  test('plays the time since an instant faster, but not beyond the present, and then goes on in real time', async () => {
    const clock = { at: NOW }
    const options = optionsIn(folderWith(), { now: () => clock.at, speed: 60 })
    await using service = await openService({ ...options, playFrom: new Date(NOW - DAY_MS) })
    expect(service.now()).toEqual(new Date(NOW - DAY_MS))
    clock.at += 60_000
    expect(service.now()).toEqual(new Date(NOW - DAY_MS + HOUR_MS))
    clock.at += HOUR_MS
    await service.catchUp()
    expect(service.now()).toEqual(new Date(clock.at))
    clock.at += 60_000
    expect(service.now()).toEqual(new Date(clock.at))
  })

  test('can be closed in the midst of catching up, and goes on from there', async () => {
    const first = await startService({ historyDays: 2, file: join(folderWith(), 'service.db') })
    const { file, clock } = first
    const until = () => first.rows<{ at: number }>('select simulated_until as at from simulation')[0]?.at
    const catchingUp = first.pass(5 * DAY_MS)
    await first.service.close()
    await catchingUp
    expect(until()).toBeLessThan(clock.at)
    await using _second = await startService({ historyDays: 2, file, now: () => clock.at })
    expect(until()).toBe(clock.at)
  })
})

test('a service opened again goes on with its history, keys and seed', async () => {
  const file = join(folderWith(), 'service.db')
  const first = await startService({ historyDays: 2, seed: 5, file })
  const listed = async (api: TestService) => {
    const authorization = `Bearer ${first.readKey}`
    const { json } = await api.get('/leads?sort=created_at&limit=1000', { authorization })
    return (json as WireLeadList).data.map(({ id }) => id)
  }
  const before = await listed(first)
  await first.service.close()
  const now = () => NOW + 2 * DAY_MS
  await using second = await startService({ historyDays: 2, seed: 6, file, now })
  const after = await listed(second)
  expect(after.length).toBeGreaterThan(before.length)
  expect(after.slice(0, before.length)).toEqual(before)
})

test('what a service keeps, secrets of webhooks among it, is for its user alone', async () => {
  const folder = folderWith()
  await using _service = await openService(optionsIn(folder))
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777])
  expect(Object.fromEntries(modes)).toEqual({
    'service.db': 0o600,
    'service.db-shm': 0o600,
    'service.db-wal': 0o600,
  })
})

test('a second service on the same file finds out before it plays the same time twice', async () => {
  const clock = { at: NOW }
  const options = optionsIn(folderWith(), { now: () => clock.at })
  await using first = await openService(options)
  await using second = await openService(options)
  clock.at += HOUR_MS
  await first.catchUp()
  await expect(second.catchUp()).rejects.toMatchObject({ code: 'job_busy' })
})

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../../src/service/open.ts'
import { folderWith } from '../support/folder.ts'
import type { Finished } from '../support/leadsheet.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { startService } from '../support/service.ts'

let service: Service
let key: string
const home = mkdtempSync(join(tmpdir(), 'leadsheet-'))
/** Settings of syncs that read the list alone and publish nothing. */
const QUICK = { 'leadsheet.yaml': 'enrichment: { policy: none }\nsnapshot: { when: never }\n' }

beforeAll(async () => {
  service = await startService(home, new Date(), 2)
  key = await service.createKey({ name: 'test', scope: 'read' })
  for (const [name, content] of Object.entries(QUICK))
    writeFileSync(join(home, name), content, { mode: 0o600 })
  expect((await runWarm(['sync'], { cwd: home, env: environment(home) })).status).toBe(0)
})
afterAll(async () => {
  await service.close()
  rmSync(home, { recursive: true })
})

function environment(folder: string, change: Record<string, string> = {}): Record<string, string> {
  return {
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: key,
    LEADSHEET_DATA_DIR: join(folder, 'data'),
    LEADSHEET_LOG_LEVEL: 'silent',
    ...change,
  }
}

/** Returns a folder with an installation that has synced. */
function syncedFolder(files: Readonly<Record<string, string>> = {}): string {
  const cwd = folderWith({ ...QUICK, ...files })
  cpSync(join(home, 'data'), join(cwd, 'data'), { recursive: true })
  return cwd
}

function exec(file: string, statements: string): void {
  const database = new Database(file)
  database.exec(statements)
  database.close()
}

/** Expects one line that names the problem, one with the hint, and no stack trace. */
function expectError(run: Finished, status: number, ...said: (string | RegExp)[]): void {
  expect(run.stderr).not.toContain('bug')
  for (const text of said) expect(run.stderr).toMatch(text)
  expect(run.stderr.trim().split('\n')).toHaveLength(2)
  expect(run.stderr).toMatch(/^error: .+\nhint: .+\n$/)
  expect(run.stdout).toBe('')
  expect(run.status).toBe(status)
}

describe('bad input', () => {
  it('names an address that answers with something else than JSON', async () => {
    const cwd = folderWith()
    const page = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<h1>It works!</h1>'),
    )
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
    const { port } = page.address() as AddressInfo
    const run = await runWarm(['sync'], {
      cwd,
      env: environment(cwd, { LEADSHEET_API_URL: `http://127.0.0.1:${port}` }),
    })
    page.close()
    expectError(run, 1, /answered 200 but not with JSON: <h1>It works!<\/h1>/)
  })

  it('names a data directory that cannot be written', async () => {
    const cwd = folderWith({ taken: 'a file' })
    const run = await runWarm(['sync'], {
      cwd,
      env: environment(cwd, { LEADSHEET_DATA_DIR: join(cwd, 'taken', 'data') }),
    })
    expectError(run, 1, /taken\/data/, /LEADSHEET_DATA_DIR/)
  })

  it.each<[string, (file: string) => void, RegExp]>([
    [
      'a file that is no database',
      (file) => writeFileSync(file, 'this is not SQLite, and long enough to be looked at as a header of one'),
      /leadsheet\.db is damaged or not a leadsheet database/,
    ],
    [
      'a damaged database',
      (file) => writeFileSync(file, `SQLite format 3\0${'\x7f'.repeat(4096)}`),
      /leadsheet\.db is damaged or not a leadsheet database/,
    ],
    [
      'the database of another program',
      (file) => exec(file, 'CREATE TABLE song (title TEXT)'),
      /but not one of leadsheet/,
    ],
    [
      'a database of a newer leadsheet',
      (file) => {
        cpSync(join(home, 'data/leadsheet.db'), file)
        exec(file, "INSERT INTO kysely_migration (name, timestamp) VALUES ('999-future', '2030-01-01')")
      },
      /newer leadsheet \(its schema has 999-future\)/,
    ],
  ])('leaves %s as it is', async (_, write, said) => {
    const cwd = folderWith({ 'data/.keep': '' })
    const file = join(cwd, 'data', 'leadsheet.db')
    write(file)
    const before = readFileSync(file)
    expectError(await runWarm(['sync'], { cwd, env: environment(cwd) }), 1, said)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('keeps the messages when the mail server cannot be reached', async () => {
    const cwd = syncedFolder()
    const env = environment(cwd, {
      LEADSHEET_SMTP_URL: 'smtp://127.0.0.1:1',
      LEADSHEET_FROM: 'reports@example.com',
      LEADSHEET_RECIPIENTS: 'ana@example.com',
    })
    const run = await runWarm(['report', 'send', 'daily', '--json'], { cwd, env })
    expect(run.status).toBe(1)
    expect(JSON.parse(run.stdout).data.deliveries).toMatchObject([
      {
        recipient: 'ana@example.com',
        state: 'pending',
        response: expect.stringMatching(/^smtp:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/),
      },
    ])
    const test = await runWarm(['report', 'preview', 'daily', '--to', 'me@example.com'], { cwd, env })
    expect([test.status, test.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: smtp:\/\/127\.0\.0\.1:1 could not be reached for me@example\.com/m),
    ])
    expect(test.stderr).toMatch(/smtp\.url \(LEADSHEET_SMTP_URL\).*`npx leadsheet doctor`/)
  })

  it('leaves no half-written file behind a preview that cannot be written', async () => {
    const cwd = syncedFolder({ taken: 'a file' })
    const env = environment(cwd)
    expectError(
      await runWarm(['report', 'preview', 'daily', '-o', 'taken/page.html'], { cwd, env }),
      1,
      /taken\/page\.html cannot be written/,
    )
    expect(readdirSync(cwd)).toEqual(['data', 'leadsheet.yaml', 'taken'])
  })
})

describe('status without a daemon', () => {
  const changed = (records: number, prefix: string) =>
    Array.from({ length: records }, (_, index) => ({
      id: `${prefix}${index}`,
      status: 'new',
      name: `Company ${index}`,
      updated_at: '2026-11-20T10:00:00Z',
    }))

  it('does not call it well after refused keys, nor once the settings are gone', async () => {
    const cwd = folderWith(QUICK)
    const env = environment(cwd)
    expect((await runWarm(['sync'], { cwd, env })).status).toBe(0)
    const well = await runWarm(['status'], { cwd, env })
    expect([well.status, well.stdout]).toEqual([0, expect.stringMatching(/^No new problem: /)])
    const refused = { cwd, env: { ...env, LEADSHEET_API_KEY: 'lsk_wrong_key_0000' } }
    for (let times = 0; times < 4; times++) expect((await runWarm(['sync'], refused)).status).toBe(1)
    const { stdout } = await runWarm(['status', '--json'], refused)
    expect(JSON.parse(stdout).data).toMatchObject({ status: 'fail', sentence: 'API key refused.' })
    rmSync(join(cwd, 'leadsheet.yaml'))
    const gone = await runWarm(['status'], { cwd, env: { LEADSHEET_DATA_DIR: join(cwd, 'data') } })
    expectError(gone, 2, /there is no leadsheet\.yaml in /, /init/)
  })

  it('tells of ids that have all changed their form, and of bytes that were flipped', async () => {
    let records = changed(600, 'a-')
    const upstream = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: records }))
    })
    await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening))
    const profile = `
name: plain
endpoints: { leads: ., lead: none, stats: none, agents: none }
auth: none
envelope: { leads: data }
paging: { kind: none }
mapping: { lead: { id: id, status: status, updated_at: updated_at, company_name: name } }
`
    const { port } = upstream.address() as AddressInfo
    const cwd = folderWith({ ...QUICK, 'profile.yaml': profile })
    const env = environment(cwd, {
      LEADSHEET_API_URL: `http://127.0.0.1:${port}/leads`,
      LEADSHEET_API_PROFILE: 'profile.yaml',
    })
    try {
      const first = await runWarm(['sync'], { cwd, env })
      expect(first.stderr + first.stdout).toMatch(/600 new/)
      records = changed(600, 'b-')
      await runWarm(['sync', '--full'], { cwd, env })
      const { stdout } = await runWarm(['status', '--json'], { cwd, env })
      expect(JSON.parse(stdout).data).toMatchObject({
        status: 'warn',
        sentence: expect.stringMatching(/syncs, mass deletion refused\.$/),
      })
    } finally {
      upstream.close()
    }
    const file = join(cwd, 'data/leadsheet.db')
    const database = new Database(file)
    database.pragma('wal_checkpoint(TRUNCATE)')
    const page = database
      .prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'lead_day'")
      .pluck()
      .get()
    const size = Number(database.pragma('page_size', { simple: true }))
    database.close()
    const bytes = readFileSync(file)
    const start = ((page ?? 1) - 1) * size
    for (let at = start; at < start + 40; at++) bytes[at] = (bytes[at] ?? 0) ^ 0xff
    writeFileSync(file, bytes)
    const damaged = await runWarm(['status', '--json'], { cwd, env })
    expect([damaged.status, damaged.stderr]).toEqual([1, expect.stringContaining('"code":"store_corrupt"')])
  })
})

describe('a hint leads to what is wrong', () => {
  it('a key or an address of a file is named by its place', async () => {
    const settings = `api: { url: "${service.url}", key_file: ./key }\n`
    const cwd = folderWith({ 'leadsheet.yaml': settings, key: 'lsk_wrong_key_0000\n' })
    expectError(
      await runWarm(['agents'], { cwd }),
      1,
      /\(401\)/,
      `hint: Check api.key (from ${cwd}/key), and`,
    )
    writeFileSync(join(cwd, 'leadsheet.yaml'), settings.replace(service.url, 'http://127.0.0.1:1'))
    const away = await runWarm(['agents', '--json'], { cwd })
    expect(JSON.parse(away.stderr.trim().split('\n').at(-1) ?? '').error.hint).toMatch(
      /^Check api\.url \(from leadsheet\.yaml:1:13\), that/,
    )
  })

  it('a report of the settings that has no folder is told with its line', async () => {
    const cwd = folderWith({ 'leadsheet.yaml': 'reports:\n  - name: dayly\n' })
    const run = await runWarm(['config', 'check'], { cwd, env: environment(cwd) })
    expectError(
      run,
      2,
      /leadsheet\.yaml:2:11 {2}reports\[0\]\.name: found "dayly", expected a folder of /,
      /report new dayly/,
    )
  })

  it('service run tells of a port that is taken before it simulates anything', async () => {
    const cwd = folderWith()
    const { port } = new URL(service.url)
    const run = await runWarm(['service', 'run', '--port', port, '--data', 'service'], { cwd })
    expectError(
      run,
      1,
      /cannot listen on 127\.0\.0\.1:\d+: something listens there already/,
      /Choose another --port/,
    )
    expect(existsSync(join(cwd, 'service'))).toBe(false)
  })
})

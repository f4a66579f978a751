import { rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isDaemonCall } from '../../../../src/cli/commands/operations/run.ts'
import { openStore } from '../../../../src/store/open.ts'
import { addConfigLoad } from '../../../../src/store/schedule/uptime.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, runLeadsheet, startLeadsheet } from '../../../support/leadsheet.ts'
import { startUpstream } from '../../../support/upstream.ts'

const SETTINGS = 'data_dir: .\nreports: []\napi: { key_file: key }\nlog_level: debug\n'

it('a daemon that is told to reload goes by the new settings, or by the old ones, and hides the secrets of both', async () => {
  await using upstream = await startUpstream(5)
  const held = Promise.withResolvers<void>()
  upstream.faults.push(
    () => {
      held.resolve()
      return true
    },
    (request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ message: `neither canary-key-one nor ${request.headers.authorization}` }))
      return true
    },
  )
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS, key: 'canary-key-one' })
  const env = { LEADSHEET_API_URL: upstream.url }
  const daemon = startLeadsheet(['run'], { cwd, env })
  const end = finished(daemon)
  await held.promise

  writeFileSync(join(cwd, 'key'), 'canary-key-two')
  writeFileSync(join(cwd, 'leadsheet.yaml'), `${SETTINGS}sync: { schedule: '* * * * *' }\n`)
  const reloaded = await runLeadsheet(['reload', '--json'], { cwd, env })
  expect(reloaded, reloaded.stderr).toMatchObject({ status: 0 })
  expect(JSON.parse(reloaded.stdout).data).toMatchObject({
    pid: daemon.pid,
    changed: ['api.key', 'sync.schedule'],
  })

  rmSync(join(cwd, 'key'))
  const mistaken = await runLeadsheet(['reload', '--json'], { cwd, env })
  expect(JSON.parse(mistaken.stderr)).toMatchObject({ error: { code: 'config_invalid' } })
  // Only the daemon can find this mistake: the report needs a sender.
  writeFileSync(join(cwd, 'key'), 'canary-key-two')
  writeFileSync(join(cwd, 'leadsheet.yaml'), SETTINGS.replace('[]', '[{ name: daily }]'))
  const refused = await runLeadsheet(['reload'], { cwd, env })
  expect(refused.status).toBe(2)
  expect(refused.stderr).toMatch(/error: the daemon keeps its settings: .*smtp\.url/)

  // The sync in progress has continued with its old key.
  expect(upstream.requests[1]?.headers.authorization).toContain('canary-key-two')
  daemon.kill('SIGTERM')
  const { status, stderr } = await end
  expect(status).toBe(0)
  expect(stderr).toContain('[redacted]')
  expect(stderr).not.toContain('canary-key')
})

it.each([
  ['node /app/dist/main.js run', true],
  ['node --disable-warning=x /opt/leadsheet/bin/leadsheet.js --config a.yaml run', true],
  ['/usr/bin/node /work/node_modules/.bin/leadsheet run --json', true],
  ['node src/main.ts run', true],
  ['leadsheet run', true],
  ['node src/main.ts reload', false],
  ['npm run leadsheet', false],
  ['node vite/main.js build', false],
  ['sh -c run', false],
])('of the processes of a machine, %s is a daemon: %s', (call, isOurs) => {
  expect(isDaemonCall(call.split(' '))).toBe(isOurs)
})

describe('without a daemon to tell, reload says so', () => {
  const reload = (cwd: string) => runLeadsheet(['reload'], { cwd, env: { LEADSHEET_DATA_DIR: '.' } })

  it.each([
    ['none that runs', null, 'no daemon runs on'],
    ['one of another machine', { host: 'elsewhere', pid: 7 }, 'is process 7 on elsewhere'],
    [
      'another program that has its number',
      { host: hostname(), pid: process.pid },
      'is not a daemon, or has not finished starting',
    ],
  ])('for %s', async (_name, holder, said) => {
    const cwd = folderWith()
    const now = new Date()
    await using store = await openStore(join(cwd, 'leadsheet.db'), now)
    await store.write(async (trx) => {
      await addConfigLoad(trx, { at: now.toISOString(), refused: null, changed: null, program: '0' })
      if (holder === null) return
      const until = new Date(now.getTime() + 60_000).toISOString()
      const times = { acquired_at: now.toISOString(), expires_at: until }
      await trx
        .insertInto('lease')
        .values({ name: 'daemon', holder: 'x', ...holder, ...times })
        .execute()
    })
    const { status, stderr } = await reload(cwd)
    expect(status).toBe(1)
    expect(stderr).toContain(said)
  })
})

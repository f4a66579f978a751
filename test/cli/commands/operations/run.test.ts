// @long
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { listScheduledRuns } from '../../../../src/store/schedule/scheduled-run.ts'
import { listRuns } from '../../../../src/store/sync/sync-run.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, runLeadsheet, startLeadsheet } from '../../../support/leadsheet.ts'
import { openReceiver } from '../../../support/network/receiver.ts'
import { untilSaid } from '../../../support/process/daemon-address.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { hourlyNotNow } from '../../../support/reports/due-report.ts'
import { startService } from '../../../support/service.ts'
import { startUpstream } from '../../../support/upstream.ts'

const MAIL = {
  LEADSHEET_SMTP_URL: 'file:outbox',
  LEADSHEET_FROM: 'reports@example.com',
  LEADSHEET_RECIPIENTS: 'ana@example.com',
}

const envFor = (url: string, key = 'test-key') => ({
  ...MAIL,
  LEADSHEET_API_URL: url,
  LEADSHEET_API_KEY: key,
  LEADSHEET_DATA_DIR: 'data',
})

/** No sync may come due during the test. */
const SETTINGS = `sync: { schedule: '${hourlyNotNow()}' }\n`

describe('the daemon', () => {
  it('syncs at once when it is new, refuses a second one, goes on after SIGHUP, and leaves on SIGTERM with its work put down', async () => {
    const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
    await using service = await startService(cwd, new Date(), 5)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    const env = { ...envFor(service.url, key), LEADSHEET_WEB_LISTEN: '127.0.0.1:0' }
    const daemon = startLeadsheet(['run'], { cwd, env })
    await untilSaid(daemon.stderr, /"schedule":"sync",.*"state":"done"/)
    expect(existsSync(join(cwd, 'data/snapshot.db'))).toBe(true)

    const second = await runLeadsheet(['run'], { cwd, env })
    expect(second.status).toBe(1)
    expect(second.stderr).toContain(`A daemon is already running: process ${daemon.pid}`)

    daemon.kill('SIGHUP')
    await untilSaid(daemon.stderr, /restart to apply new settings/)
    const started = performance.now()
    daemon.kill('SIGTERM')
    const left = await finished(daemon)
    expect(left.status).toBe(0)
    expect(performance.now() - started).toBeLessThan(10_000)
    await using store = await openStore(join(cwd, 'data', 'leadsheet.db'), new Date())
    expect(await listRuns(store.db, 5)).toMatchObject([{ outcome: 'ok', mode: 'full' }])
    expect(await store.db.selectFrom('lease').selectAll().execute()).toEqual([])
    expect(await listScheduledRuns(store.db, 5)).toMatchObject([{ schedule: 'sync', state: 'done' }])
  })

  it('ends where its database is gone, tells the webhook, and begins no new one at the next start', async () => {
    // A daemon notices it when it renews its lease, which takes up to half a minute.
    await Promise.all(
      [
        { lose: (file: string) => rmSync(file), isThere: false },
        { lose: (file: string) => renameSync(dirname(file), `${dirname(file)}.old`), isThere: false },
        { lose: (file: string) => renameSync(`${file}.backup`, file), isThere: true },
      ].map(async ({ lose, isThere }) => {
        const cwd = folderWith({ 'leadsheet.yaml': `${SETTINGS}snapshot: { when: never }\n` })
        await using upstream = await startUpstream(5)
        await using receiver = await openReceiver()
        const env = { ...envFor(upstream.url), LEADSHEET_ALERT_WEBHOOK_URL: receiver.url }
        const only = ['sync', '--only', 'leads']
        expect(await runLeadsheet(only, { cwd, env })).toMatchObject({ status: 0 })
        const file = join(cwd, 'data/leadsheet.db')
        copyFileSync(file, `${file}.backup`)
        const daemon = startLeadsheet(['run'], { cwd, env })
        const ended = finished(daemon)
        await untilSaid(daemon.stderr, /"schedule":"sync",.*"state":"done"/)
        lose(file)
        const lost = /The database \S+ was (deleted or moved away|replaced by another file) while it was open/
        expect(await ended).toMatchObject({ status: 1, stderr: expect.stringMatching(lost) })
        expect(receiver.posts.map(({ body }) => JSON.parse(body).opened[0].message)).toEqual([
          expect.stringMatching(lost),
        ])

        const next = startLeadsheet(['run'], { cwd, env })
        if (!isThere) {
          const refused = expect.stringMatching(/is not there, though .* has database-lost\.txt\n/)
          expect(await finished(next)).toMatchObject({ status: 1, stderr: refused })
          expect(existsSync(file)).toBe(false)
          return
        }
        await untilSaid(next.stderr, /"running"/)
        next.kill('SIGTERM')
        expect(await finished(next)).toMatchObject({ status: 0 })
      }),
    )
  })

  it('stops in the middle of a sync and takes the scheduled run up again at the next start', async () => {
    await using upstream = await startUpstream(200)
    const cwd = folderWith({ 'leadsheet.yaml': `${SETTINGS}api: { page_size: 10 }` })
    // The fourth page never comes. A daemon that is told to stop must not wait for it.
    upstream.faults.push(
      () => false,
      () => false,
      () => false,
      () => true,
    )
    const env = envFor(upstream.url)
    const daemon = startLeadsheet(['run'], { cwd, env })
    while (upstream.requests.length < 4) await new Promise((resolve) => setTimeout(resolve, 10))
    daemon.kill('SIGTERM')
    expect((await finished(daemon)).status).toBe(0)

    const { stdout } = await runWarm(['status'], { cwd, env })
    expect(stdout).toMatch(/^Sync stopped +\S+ \S+ +stopped by SIGTERM$/m)
    expect(stdout).not.toMatch(/fail|put aside/i)

    const next = startLeadsheet(['run'], { cwd, env })
    await untilSaid(next.stderr, /"schedule":"sync",.*"state":"done"/)
    next.kill('SIGTERM')
    await finished(next)
    await using store = await openStore(join(cwd, 'data', 'leadsheet.db'), new Date())
    const [second, first] = await listRuns(store.db, 5)
    expect(first?.outcome).toBe('partial')
    // When the fourth page is requested, the third one is being stored or waits.
    expect([20, 30]).toContain(first?.seen)
    expect((second?.seen ?? 0) + (first?.seen ?? 0)).toBe(200)
  })
})

// @long
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { finished, runLeadsheet, startLeadsheet } from '../../../support/leadsheet.ts'
import { openReceiver } from '../../../support/network/receiver.ts'
import { untilSaid } from '../../../support/process/daemon-address.ts'
import { hourlyNotNow } from '../../../support/reports/due-report.ts'
import { startUpstream } from '../../../support/upstream.ts'

const envFor = (url: string) => ({
  LEADSHEET_MAIL_URL: 'file:outbox',
  LEADSHEET_FROM: 'reports@example.com',
  LEADSHEET_RECIPIENTS: 'ana@example.com',
  LEADSHEET_API_URL: url,
  LEADSHEET_API_KEY: 'test-key',
  LEADSHEET_DATA_DIR: 'data',
})

/** No sync may come due during the test. */
const SETTINGS = `sync: { schedule: '${hourlyNotNow()}' }\n`

describe('the daemon', () => {
  it('goes on after SIGHUP, with a hint of what applies new settings, and leaves on SIGTERM', async () => {
    await using upstream = await startUpstream(5)
    const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
    const daemon = startLeadsheet(['run'], { cwd, env: envFor(upstream.url) })
    await untilSaid(daemon.stderr, /"running"/)
    daemon.kill('SIGHUP')
    await untilSaid(daemon.stderr, /restart to apply new settings/)
    daemon.kill('SIGTERM')
    expect(await finished(daemon)).toMatchObject({ status: 0 })
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
})

/** `npx leadsheet alerts list` and `sync --accept-deletions`. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { upsertAlerts } from '../../../../src/store/alerts/alert.ts'
import { openStore } from '../../../../src/store/open.ts'
import { folderWith } from '../../../support/folder.ts'
import type { RunOptions } from '../../../support/leadsheet.ts'
import { openMailServer } from '../../../support/mail-server.ts'
import { openReceiver } from '../../../support/network/receiver.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startUpstream } from '../../../support/upstream.ts'
import { openAlert } from '../../../support/web/store-with-problems.ts'

const AT = '2026-11-21T06:00:00.000Z'

/** Makes an installation with one open problem, and one that is over. */
async function installation(env: Readonly<Record<string, string>> = {}): Promise<RunOptions> {
  const cwd = folderWith({ 'data/.keep': '', 'leadsheet.yaml': '' })
  await using store = await openStore(join(cwd, 'data/leadsheet.db'), new Date(AT))
  const row = { seen: 1, hint: 'do this', firstSeenAt: AT, openedAt: AT, announcedAt: AT } as const
  const over = { checkId: 'disk_low', state: 'resolved', message: 'It was full.', resolvedAt: AT } as const
  await store.write((trx) =>
    upsertAlerts(trx, [openAlert({ ...row, ...over, id: 1 }), openAlert({ ...row, id: 2 })]),
  )
  return { cwd, env }
}

it('alerts are listed with what can be done, told in the status, and acknowledged', async () => {
  const { cwd } = await installation()
  const options = { cwd, env: clockStandingAt('2026-11-21T12:00:00Z') }
  await checkTranscript(join(import.meta.dirname, 'golden/alerts.txt'), options)
})

describe('doctor --test-alert', () => {
  /** Returns the checks that send something. */
  const testAlert = async (options: RunOptions) => {
    const { status, stdout, stderr } = await runWarm(['doctor', '--test-alert', '--json'], options)
    expect(stdout + stderr).not.toContain('s3cr3t')
    const checks: readonly { what: string; found: string }[] = JSON.parse(stdout).data.checks
    return { status, sent: checks.filter(({ what }) => /^alert |^heartbeat$/.test(what)) }
  }

  it('sends one message each way, and never shows the addresses that are secret', async () => {
    await using mailServer = await openMailServer()
    await using receiver = await openReceiver()
    const options = await installation({
      LEADSHEET_MAIL_URL: mailServer.url,
      LEADSHEET_FROM: 'r@example.com',
      LEADSHEET_ALERT_RECIPIENTS: 'ops@example.com',
      LEADSHEET_ALERT_WEBHOOK_URL: receiver.url,
      LEADSHEET_ALERT_HEARTBEAT_URL: receiver.url.replace('hook', 'ping'),
    })
    expect((await testAlert(options)).sent).toMatchObject([
      { what: 'alert mail', status: 'ok', found: expect.stringMatching(/^ops@example\.com: 250/) },
      { what: 'alert webhook', status: 'ok' },
      { what: 'heartbeat', status: 'ok' },
    ])
    expect(mailServer.received.map(({ mail }) => mail.subject)).toEqual([
      '[Test] [leadsheet] 1 alert: a test',
    ])
    expect(receiver.posts.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      '/hook/s3cr3t',
      '/ping/s3cr3t/log',
    ])
  })

  it('fails where one way fails, and tries the others', async () => {
    await using receiver = await openReceiver()
    receiver.answer = 403
    const options = await installation({
      LEADSHEET_MAIL_URL: 'smtp://127.0.0.1:1',
      LEADSHEET_FROM: 'r@example.com',
      LEADSHEET_ALERT_RECIPIENTS: 'ops@example.com',
      LEADSHEET_ALERT_WEBHOOK_URL: receiver.url,
    })
    const { status, sent } = await testAlert(options)
    expect(status).toBe(1)
    expect(sent).toMatchObject([
      { what: 'alert mail', status: 'fail', found: expect.stringContaining('ops@example.com') },
      { what: 'alert webhook', status: 'fail', found: expect.stringMatching(/: it answered 403$/) },
    ])
  })
})

describe('sync --accept-deletions', () => {
  it('needs a full sync, something that was held back, and a yes', async () => {
    await using upstream = await startUpstream(20)
    const options = await installation({ LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' })
    const accept = (...args: string[]) => runWarm(['sync', '--accept-deletions', ...args], options)
    expect((await accept()).stderr).toContain('Add --full')
    expect((await accept('--full', '--yes')).stderr).toContain('there is nothing to accept')
    await runWarm(['sync', '--full'], options)
    for (const id of [...upstream.leads.keys()].slice(0, 10)) upstream.leads.delete(id)
    const refused = await runWarm(['sync', '--full'], options)
    expect(refused.stderr).toContain('10 of 20 leads were missing from a whole scan')
    expect(refused.stderr).toContain('leadsheet sync --full --accept-deletions')
    const unasked = await accept('--full')
    expect([unasked.status, unasked.stderr]).toEqual([2, expect.stringContaining('Add --yes to confirm')])
    expect(unasked.stderr).toContain('10 of 20 leads were missing')
    const accepted = await accept('--full', '--yes', '--json')
    expect(JSON.parse(accepted.stdout).data.leads).toMatchObject({ deleted: 10 })
    expect((await accept('--full', '--yes')).stderr).toContain('there is nothing to accept')
  })
})

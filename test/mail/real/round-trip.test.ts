/**
 * `leadsheet report test --round-trip` through Postfix into Dovecot, and back over IMAP. If these are not installed
 * or may not be started, the tests are skipped with a message.
 */
import { describe, expect, it } from 'vitest'
import { isSkipped } from '../../support/process/programs.ts'
import { syncedForFile } from '../../support/process/synced-installation.ts'
import { runWarm } from '../../support/process/warm-leadsheet.ts'
import { missingImap, PASSWORD, startDovecot } from './dovecot.ts'
import { missingPostfix, startPostfix } from './postfix.ts'

const SETTINGS = `
enrichment: { policy: none }
snapshot: { when: never }
mail: { from: reports@example.org, bounces: { address: bounces@example.org } }
recipients: [ana@example.org]
reports: [{ name: daily }]
`
const TEST_MS = 120_000

const isWithout = isSkipped('a report there and back', missingPostfix(), missingImap())

describe.skipIf(isWithout)('a report', { timeout: TEST_MS }, () => {
  const { env, copy } = syncedForFile(SETTINGS, '2026-11-24T12:00:00Z', 3)

  it('is found in the mailbox or in its folder for spam, and what Postfix says of it where it bounces', async () => {
    const { lmtpPort, imapPort, run } = await startDovecot()
    const mail = {
      LEADSHEET_MAIL_URL: `smtp://127.0.0.1:${await startPostfix(lmtpPort)}`,
      LEADSHEET_MAIL_BOUNCES_URL: `imap://dana%40example.org:${PASSWORD}@127.0.0.1:${imapPort}`,
    }
    const cwd = copy()
    run('mailbox', 'create', '-u', 'dana@example.org', 'Junk')
    const test = async (...args: readonly string[]) => {
      const all = ['report', 'test', '--round-trip', '--json', ...args]
      const { status, stdout, stderr } = await runWarm(all, { cwd, env: { ...env, ...mail } })
      return { status, stderr, ...JSON.parse(stdout || '{"data": {}}').data }
    }
    const place = `imap://127.0.0.1:${imapPort}`
    const response = expect.stringMatching(/^250 /)
    const nobody = { said: null, judged_by: null, results: {} }
    expect(await test()).toMatchObject({
      status: 0,
      recipient: 'dana@example.org',
      response,
      state: 'arrived',
      place: `${place}/INBOX`,
      ...nobody,
    })
    expect(await test('--to', 'dana+Junk@example.org')).toMatchObject({
      status: 0,
      state: 'arrived',
      place: `${place}/Junk`,
    })
    mail.LEADSHEET_MAIL_BOUNCES_URL = `imap://bounces%40example.org:${PASSWORD}@127.0.0.1:${imapPort}`
    expect(await test('--to', 'gone@example.org')).toMatchObject({
      status: 1,
      state: 'bounced',
      said: expect.stringContaining('no such user'),
    })
  })
})

/** `leadsheet report test --round-trip`: a report that arrives in a mailbox, bounces, or does neither. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { judgementOf, waitFor } from '../../../../src/cli/commands/reports/report-test.ts'
import { openMailbox } from '../../../../src/mail/mailbox.ts'
import { folderWith } from '../../../support/folder.ts'
import { statusMail } from '../../../support/mail/notifications.ts'
import { openMailServer } from '../../../support/mail-server.ts'
import { syncedForFile } from '../../../support/process/synced-installation.ts'
import { checkExamples, checkTranscript } from '../../../support/process/transcript.ts'

const GOLDEN = join(import.meta.dirname, 'golden')
const SETTINGS = `
enrichment: { policy: none }
snapshot: { when: never }
mail: { url: file:./outbox, from: reports@acme.test }
recipients: [ana@acme.test]
reports: [{ name: daily }]
`
const { env, copy } = syncedForFile(SETTINGS, '2026-11-24T12:00:00Z', 3)

const JUDGED =
  'Authentication-Results: mx.acme.test; spf=pass smtp.mailfrom=reports@acme.test; dkim=fail header.d=acme.test; dmarc=none header.from=acme.test\r\n'
const ID = 'a'.repeat(40)
const { signal } = new AbortController()
const OPTIONS = { waitMs: 30_000, signal, returnAddress: null }

it('says that the report arrived and how it was judged, or that it bounced and why, or what is missing', async () => {
  const cwd = copy()
  let mails = 0
  const folder = join(cwd, 'data/bounces')
  mkdirSync(folder)
  const put = (raw: string) => writeFileSync(join(folder, `${++mails}.eml`), raw)
  const server = await openMailServer({}, async () => {
    const { to = [], raw = '', mail: { messageId = '' } = {} } = server.received.at(-1) ?? {}
    put('Subject: another mail\r\n\r\nHello.\r\n')
    if (to.includes('gone@acme.test'))
      return put(
        statusMail({ messageId, recipient: 'gone@acme.test' }, { said: '550 5.1.1 no such user here' }),
      )
    put(`${to.includes('ana@acme.test') ? JUDGED : ''}${raw}`)
  })
  await using _ = server
  const mail = { LEADSHEET_MAIL_URL: server.url }
  await checkTranscript(join(GOLDEN, 'round-trip.txt'), { cwd, env: { ...env, ...mail } })
  expect(server.received.map(({ to }) => to)).toEqual([
    ['reports@acme.test'],
    ['ana@acme.test'],
    ['gone@acme.test'],
  ])
})

describe('waiting for a message', () => {
  const start = () => {
    const folder = folderWith({ 'old.eml': `X-Leadsheet-Id: ${'b'.repeat(40)}\r\n\r\n` })
    const mailbox = openMailbox(`file:${folder}`)
    const put = (name: string, raw: string) => writeFileSync(join(folder, name), raw)
    return { put, places: [{ mailbox, after: '0' }] }
  }

  it('finds a message that comes late, also under another Message-ID', async () => {
    const { put, places } = start()
    const found = waitFor(ID, places, OPTIONS)
    await sleep(1_200)
    put('new.eml', `Message-ID: <of-a-provider@x>\r\nX-Leadsheet-Id: ${ID}\r\n\r\nHello.\r\n`)
    expect(await found).toMatchObject({ state: 'arrived', judged_by: null, results: {} })
    expect((await found).seconds).toBeGreaterThan(1)
  })

  it('takes no mail for it that only quotes it, and gives up in time', async () => {
    const { put, places } = start()
    put(
      'answer.eml',
      `Subject: Re: report\r\nIn-Reply-To: <${ID}@acme.test>\r\n\r\n<${ID}@acme.test> is read\r\n`,
    )
    const found = await waitFor(ID, places, { ...OPTIONS, waitMs: 0 })
    expect(found).toMatchObject({ state: 'not arrived', place: null, said: null })
  })

  it('ends when the program is stopped', async () => {
    const stop = new AbortController()
    const found = waitFor(ID, start().places, { ...OPTIONS, waitMs: 3_000, signal: stop.signal })
    setTimeout(() => stop.abort(new Error('stopped')), 300)
    await expect(found).rejects.toThrow('stopped')
  })
})

/** An example is the header of a mail. */
it('reads what the topmost server judged, in the forms of many', () =>
  checkExamples(join(GOLDEN, 'judged.txt'), async (input) => {
    const { headers } = await PostalMime.parse(`${input}\n\nHello.\n`)
    const { judged_by: server, results } = judgementOf(headers)
    return [
      `by ${JSON.stringify(server)}`,
      ...Object.entries(results).map(([method, words]) => `${method} ${words}`),
    ]
  }))

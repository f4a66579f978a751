/**
 * The real program with a service, a sync and a report, and the messages in the mailboxes of its recipients.
 */
import PostalMime from 'postal-mime'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../../support/folder.ts'
import { runLeadsheet } from '../../support/leadsheet.ts'
import { DKIM_KEY, verify } from '../../support/mail/dkim.ts'
import { structureOf } from '../../support/mail/mime.ts'
import { startService } from '../../support/service.ts'
import { GONE } from './postfix.ts'
import { isWithoutServers, startServers, untilArrived } from './servers.ts'

const TEST_MS = 150_000
const HISTORY_DAYS = 20

describe.skipIf(isWithoutServers)('the program', () => {
  it(
    'sends a signed report with pictures and files, in each recipient’s language and once, and tells who did not get it',
    async () => {
      const servers = await startServers()
      const { cwd, env } = await openInstallation(servers.url)
      const at = new Date().toISOString()
      const run = async (...args: string[]) => {
        const { status, stdout, stderr } = await runLeadsheet([...args, '--json'], { cwd, env })
        expect(stdout, stderr).not.toBe('')
        return { status, answer: JSON.parse(stdout).data }
      }
      expect(await run('sync')).toMatchObject({ status: 0 })
      const sent = await run('report', 'send', 'weekly', '--at', at)
      expect(sent).toMatchObject({
        status: 3,
        answer: {
          deliveries: expect.arrayContaining([
            expect.objectContaining({ recipient: 'dana@example.org', state: 'sent' }),
            expect.objectContaining({ recipient: 'ben@example.org', state: 'sent' }),
            expect.objectContaining({
              recipient: GONE,
              state: 'failed',
              response: expect.stringContaining('550'),
            }),
          ]),
        },
      })

      await using dana = await servers.open('dana@example.org')
      const raw = await untilArrived(dana)
      expect(await verify(raw)).toMatchObject({ dkim: ['pass'], dmarc: 'pass' })
      const german = await PostalMime.parse(raw)
      expect(german.html).toContain('lang="de-DE"')
      const shown = new Set(german.html?.match(/cid:[^"]+/g))
      expect(shown.size).toBeGreaterThan(1)
      expect(structureOf(raw)).toEqual({
        'multipart/mixed': [
          {
            'multipart/alternative': [
              'text/plain',
              { 'multipart/related': ['text/html', ...Array.from(shown, () => 'image/png')] },
            ],
          },
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
        ],
      })
      const workbook = german.attachments.at(-1)
      expect(workbook?.filename).toMatch(/^weekly-.*\.xlsx$/)
      const rows = await readSheet(Buffer.from(workbook?.content as ArrayBuffer))
      expect(rows.length).toBeGreaterThan(1)

      await using ben = await servers.open('ben@example.org')
      const english = await PostalMime.parse(await untilArrived(ben))
      expect(english.html).toContain('lang="en-GB"')
      expect(english.subject).toMatch(/^Weekly leads, /)

      await run('report', 'send', 'weekly', '--at', at)
      expect(await dana.count()).toBe(1)
      expect(await ben.count()).toBe(1)
    },
    TEST_MS,
  )
})

async function openInstallation(smtpUrl: string) {
  const service = await startService(folderWith(), new Date(), HISTORY_DAYS)
  onTestFinished(() => service.close())
  const cwd = folderWith({
    'dkim.pem': DKIM_KEY.privateKey,
    'leadsheet.yaml': `
mail:
  from: Lead reports <reports@${DKIM_KEY.domain}>
  dkim: { domain: ${DKIM_KEY.domain}, selector: ${DKIM_KEY.selector}, key_file: dkim.pem }
recipients:
  - ben@example.org
  - { address: dana@example.org, name: Dana Lopes, locale: de-DE, attachments: [pipelines.xlsx] }
  - ${GONE}
reports: [{ name: weekly, schedule: "0 7 * * 1" }]
`,
  })
  const env = {
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: await service.createKey({ name: 'test', scope: 'read' }),
    LEADSHEET_SMTP_URL: smtpUrl,
  }
  return { cwd, env }
}

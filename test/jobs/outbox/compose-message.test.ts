/** The ways to unsubscribe that a message names: an address, and the recipient's page if pages are served. */
import { expect, it } from 'vitest'
import { type MailSender, messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import { buildMessage } from '../../../src/mail/message.ts'
import { MESSAGE, SENDER } from '../../support/mail/message.ts'
import { busyDay } from '../../support/reports/figures.ts'

const figures = busyDay()
const ISSUE = { report: 'daily', period: figures.period, renderedAt: MESSAGE.date }
const ANA = { address: 'ana@example.com', name: null }

function withPages(publicUrl: string): MailSender {
  const pageOf = ({ address, report }: { address: string; report: string }) =>
    `${publicUrl}/preferences/${report}-${address}`
  return { ...SENDER, unsubscribe: { ...SENDER.unsubscribe, pageOf } }
}

async function headOf(sender: MailSender): Promise<string> {
  const message = messageFor({ installationId: 'i' }, ISSUE, ANA, MESSAGE, sender)
  const [head = ''] = (await buildMessage(message)).toString().split('\r\n\r\n')
  return head.replaceAll(/\r\n\s+/g, ' ')
}

it('a message names an address to write to, and beside it the page of its recipient where pages are served', async () => {
  const mail = '<mailto:reports@example.com?subject=unsubscribe%20daily>'
  expect(await headOf(SENDER)).toContain(`List-Unsubscribe: ${mail}\r\n`)
  const page = (url: string) => `<${url}/preferences/daily-ana@example.com>`
  const [secure, plain] = ['https://reports.example.com', 'http://localhost:8080']
  const head = await headOf(withPages(secure))
  expect(head).toContain(`List-Unsubscribe: ${page(secure)}, ${mail}`)
  expect(head).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  const plainHead = await headOf(withPages(plain))
  expect(plainHead).toContain(`List-Unsubscribe: ${page(plain)}, ${mail}`)
  // One click that would not be encrypted is not promised.
  expect(plainHead).not.toContain('List-Unsubscribe-Post')
})

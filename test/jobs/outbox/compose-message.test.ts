/** The ways to unsubscribe that a message names: an address, and the recipient's page if pages are served. */
import { describe, expect, it } from 'vitest'
import { type MailSender, messageFor, unsubscribeFor } from '../../../src/jobs/outbox/compose-message.ts'
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

describe('a message', () => {
  it('names an address to write to where no pages are served', async () => {
    const head = await headOf(SENDER)
    expect(head).toContain('List-Unsubscribe: <mailto:reports@example.com?subject=unsubscribe%20daily>\r\n')
    expect(head).not.toContain('List-Unsubscribe-Post')
  })

  it('names the page of its recipient, which takes one click, and the address beside it', async () => {
    const head = await headOf(withPages('https://reports.example.com'))
    expect(head).toContain(
      'List-Unsubscribe: <https://reports.example.com/preferences/daily-ana@example.com>, <mailto:reports@',
    )
    expect(head).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  })

  it('promises no one click that would not be encrypted', async () => {
    const head = await headOf(withPages('http://localhost:8080'))
    expect(head).toContain('<http://localhost:8080/preferences/daily-ana@example.com>, <mailto:')
    expect(head).not.toContain('List-Unsubscribe-Post')
  })

  it('to another has another page', () => {
    const sender = withPages('https://reports.example.com')
    const urls = ['ana', 'ben'].map((name) => unsubscribeFor(sender, 'daily', `${name}@example.com`).url)
    expect(new Set(urls).size).toBe(2)
  })
})

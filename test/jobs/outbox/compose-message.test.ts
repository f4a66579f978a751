/** The ways to unsubscribe that a message names: an address, and the recipient's page if pages are served. */
import PostalMime from 'postal-mime'
import { expect, it } from 'vitest'
import { messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import { buildMessage, idOf, messageId } from '../../../src/mail/message.ts'
import { MESSAGE, SENDER } from '../../support/mail/message.ts'
import { busyDay } from '../../support/reports/figures.ts'

const figures = busyDay()
const ISSUE = { report: 'daily', period: figures.period, renderedAt: MESSAGE.date }
const ANA = { address: 'ana@example.com', name: null }

/** Returns the ways to unsubscribe in the head of a message of an installation whose pages are at an address. */
async function waysOf(url: string | null) {
  const pageOf = ({ address, report }: { address: string; report: string }) =>
    `${url}/preferences/${report}-${address}`
  const unsubscribe = { ...SENDER.unsubscribe, pageOf: url === null ? null : pageOf }
  const message = messageFor({ installationId: 'i' }, ISSUE, ANA, MESSAGE, { ...SENDER, unsubscribe })
  const { headers } = await PostalMime.parse(await buildMessage(message))
  return headers.filter(({ key }) => key.startsWith('list-unsubscribe')).map(({ value }) => value)
}

const ID = messageId({
  installationId: 'i',
  report: 'daily',
  period: figures.period,
  recipient: ANA.address,
  revision: 0,
  from: SENDER.from,
})
const MAIL = `<mailto:reports@example.com?subject=unsubscribe%20daily%20${idOf(ID)}>`
const page = (url: string) => `<${url}/preferences/daily-ana@example.com>`

it.each([
  [null, [MAIL]],
  [
    'https://reports.example.com',
    [`${page('https://reports.example.com')}, ${MAIL}`, 'List-Unsubscribe=One-Click'],
  ],
  // One click that would not be encrypted is not promised.
  ['http://localhost:8080', [`${page('http://localhost:8080')}, ${MAIL}`]],
])('where pages are served at %s, a message names these ways to unsubscribe: %j', async (url, ways) => {
  expect(await waysOf(url)).toEqual(ways)
})

it('the link of a body that writes a mail gets the id of the message, in text and HTML', () => {
  const link = 'mailto:reports@example.com?subject=unsubscribe%20daily'
  const content = {
    ...MESSAGE,
    text: `Unsubscribe: ${link}\n`,
    html: `<a href="${link.replace('=', '&#x3D;')}">`,
  }
  const { text, html } = messageFor({ installationId: 'i' }, ISSUE, ANA, content, SENDER)
  expect(text).toBe(`Unsubscribe: ${link}%20${idOf(ID)}\n`)
  expect(html).toContain(`unsubscribe%20daily%20${idOf(ID)}"`)
})

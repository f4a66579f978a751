/** The receiver of events from an upstream that signs its address. */
import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { openReceiver, profileOf, RECEIVED_AT, send } from '../support/network/webhook-receiver.ts'

const PUBLIC_URL = 'https://leads.example.com'
const HUBSPOT = profileOf({
  verify: {
    scheme: 'hmac',
    header: 'X-HubSpot-Signature-v3',
    encoding: 'base64',
    signed: '{method}{url}{body}{timestamp}',
    timestamp_header: 'X-HubSpot-Request-Timestamp',
  },
  lead: 'objectId',
})

it('knows the address that was signed, which is the public one, whatever proxy stands before it', async () => {
  const { url, events } = await openReceiver({
    webhook: HUBSPOT,
    publicUrl: PUBLIC_URL,
    secrets: () => ['client-secret'],
  })
  const body = JSON.stringify([{ objectId: 512 }, { objectId: 513 }])
  const time = String(RECEIVED_AT.getTime())
  const answerTo = async (address: string, path = '') => {
    const signature = createHmac('sha256', 'client-secret').update(`POST${address}${body}${time}`)
    const headers = {
      'content-type': 'application/json',
      'x-hubspot-request-timestamp': time,
      'x-hubspot-signature-v3': signature.digest('base64'),
    }
    return (await send(`${url}${path}`, body, headers)).status
  }
  expect(await answerTo(`${PUBLIC_URL}/webhooks/leads`)).toBe(204)
  expect(await answerTo(`${PUBLIC_URL}/webhooks/leads?portal=1`, '?portal=1')).toBe(204)
  expect(await answerTo('https://evil.example.com/webhooks/leads')).toBe(401)
  expect(await answerTo(url)).toBe(401)
  expect((await events()).map(({ resource_id: id }) => id).sort()).toEqual(['512', '513'])
})

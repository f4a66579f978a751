/** What is sent: written once for each webhook, so that each attempt of a message has the same id and the same bytes. */
import { randomBytes } from 'node:crypto'
import { EVENT_VERSION, PING_TYPE, type WireEvent, type WirePing } from '../../contract/webhook.ts'
import { instantOf } from '../store/instant.ts'
import type { EventRow, WebhookMessageRow } from '../store/tables.ts'

export type Message = Pick<WebhookMessageRow, 'id' | 'type' | 'body'>

export function eventMessage({ id, type, at, data }: EventRow): Message {
  return messageOf(`evt_${id}`, type, at, JSON.parse(data))
}

/** @param at simulated time, as that of events is */
export function pingMessage(webhookId: string, at: number): Message {
  const data: WirePing['data'] = { webhook_id: webhookId }
  return messageOf(`ping_${randomBytes(8).toString('hex')}`, PING_TYPE, at, data)
}

function messageOf(id: string, type: (WireEvent | WirePing)['type'], at: number, data: unknown): Message {
  const body = { id, type, version: EVENT_VERSION, timestamp: instantOf(at), data }
  return { id: `msg_${randomBytes(12).toString('hex')}`, type, body: JSON.stringify(body) }
}

/**
 * An upstream that changes leads and sends a webhook about each change, until the daemon no longer answers or
 * enough have been sent.
 */
import { expect } from 'vitest'
import { standardHeaders } from '../../../src/contract/webhook.ts'
import type { Upstream } from '../../support/upstream.ts'

export const EVENTS_SECRET = `whsec_${Buffer.from('a secret of a webhook').toString('base64')}`

const AT_ONCE = 5

/** @param choose returns the number of the next lead to change */
export function openSender(upstream: Upstream, choose: () => number) {
  const taken = new Set<string>()
  let count = 0

  async function send(url: string, refusals: readonly number[]): Promise<void> {
    const id = `msg_${++count}`
    const updated_at = new Date().toISOString()
    const lead = upstream.put(choose(), { score: count % 101, updated_at })
    const event = {
      id,
      type: 'lead.updated',
      version: '1',
      timestamp: updated_at,
      data: { lead_id: lead.id },
    }
    const body = JSON.stringify(event)
    const signed = standardHeaders([EVENTS_SECRET], { id, timestamp: Math.floor(Date.now() / 1000), body })
    const headers = { 'content-type': 'application/json', ...signed }
    const { status } = await fetch(`${url}/webhooks/leads`, { method: 'POST', body, headers })
    if (refusals.includes(status)) return
    expect(status).toBe(204)
    taken.add(id)
  }

  return {
    /** The ids of the messages that were answered with 204. */
    taken,
    /** @param refusals statuses allowed in place of 204; such a message does not count as taken */
    async sendUntil(url: string, isEnough: () => boolean, refusals: readonly number[] = []): Promise<void> {
      while (!isEnough()) {
        const sent = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => send(url, refusals)))
        const refused = sent.find((one) => one.status === 'rejected' && !(one.reason instanceof TypeError))
        if (refused?.status === 'rejected') throw refused.reason
      }
    },
  }
}

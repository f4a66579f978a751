/** How webhooks and what was sent to them are told. */

import { EVENT_TYPES } from '../contract/webhook.ts'
import { shellCommand } from '../errors.ts'
import type { WireWebhook, WireWebhookAttempt } from '../upstream/webhooks/registered-webhooks.ts'
import { type Column, formatInstant } from './table.ts'

const DISABLED_WORDS = {
  gone: 'its address answered 410',
  failing: 'it took nothing for days',
} as const

/** Where to look, after a message to our daemon has failed. */
export function whereToLook({ status }: WireWebhookAttempt): string {
  if (status === null) {
    return 'It seems not to have come as far as the daemon: web.public_url has to lead there from the upstream.'
  }
  const log = 'Where the daemon has answered so, its log says why.'
  return status === 401
    ? `${log} If it knows another secret, ${shellCommand('webhooks rotate')} mends that.`
    : log
}

/** Such as `disabled since 2026-11-20 08:15Z: its address answered 410`. */
export function webhookState(webhook: WireWebhook): string {
  const { status, disabled_at, disabled_reason, failing_since } = webhook
  if (status === 'disabled') {
    const since = disabled_at === null ? '' : ` since ${formatInstant(disabled_at)}`
    return `disabled${since}${disabled_reason === null ? '' : `: ${DISABLED_WORDS[disabled_reason]}`}`
  }
  return failing_since === null ? 'active' : `active, failing since ${formatInstant(failing_since)}`
}

/** Of one that sends where ours does. */
export function otherText({ id }: WireWebhook): string {
  return `${id} sends to our address, too, with a secret that is not known here`
}

export function eventsText(events: readonly string[]): string {
  return EVENT_TYPES.every((type) => events.includes(type)) ? 'all' : events.join(', ')
}

/** Such as `arrived: answered 204 after 12 ms`. */
export function attemptText({ outcome, status, error, duration_ms }: WireWebhookAttempt): string {
  const answer = status === null ? null : `answered ${status}`
  const what = outcome === 'delivered' ? (answer ?? 'taken') : (error ?? answer ?? 'no reason is told')
  return `${outcome === 'delivered' ? 'arrived' : 'failed'}: ${what} after ${duration_ms} ms`
}

export const ATTEMPT_COLUMNS: readonly Column<WireWebhookAttempt>[] = [
  { title: 'AT', value: ({ at }) => `${at.slice(0, 10)} ${at.slice(11, 19)}Z`, isWhole: true },
  { title: 'EVENT', value: ({ type }) => type, isWhole: true },
  { title: 'TRY', value: ({ attempt }) => attempt },
  { title: 'OUTCOME', value: attemptText },
  { title: 'NEXT TRY', value: ({ next_attempt_at: next }) => formatInstant(next), isOptional: true },
  { title: 'MESSAGE', value: ({ message_id }) => message_id, isOptional: true },
]

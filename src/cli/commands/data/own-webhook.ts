/** The webhook that this installation registers for itself, and texts about webhooks for the terminal. */

import { profileOf } from '../../../app/configured-upstream.ts'
import { installationOf } from '../../../app/health-installation.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { readFacts } from '../../../checks/facts.ts'
import type { Config } from '../../../config/config.ts'
import { listenText } from '../../../config/schema-web.ts'
import { EVENT_TYPES } from '../../../contract/webhook.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import type { OwnWebhook } from '../../../jobs/events/register-webhook.ts'
import { isSameUrl, requireOwn } from '../../../jobs/events/register-webhook.ts'
import type { Registration } from '../../../jobs/events/webhook-registration.ts'
import { readState, registrationFile } from '../../../jobs/events/webhook-registration.ts'
import type { Source } from '../../../upstream/source.ts'
import type { WireWebhook, WireWebhookAttempt } from '../../../upstream/webhooks/registered-webhooks.ts'
import { WEBHOOK_PATH } from '../../../web/webhooks.ts'
import type { Column } from '../../terminal/table.ts'
import { formatInstant } from '../../terminal/table.ts'

export function ownWebhook({ dataDir }: Config, source: Source): OwnWebhook {
  return { source, file: registrationFile(dataDir), now: () => new Date() }
}

/** Returns the address at which the daemon takes events, or null if `web.public_url` is not set. */
export function receiverUrl({ web: { publicUrl } }: Pick<Config, 'web'>): string | null {
  return publicUrl === null ? null : `${publicUrl}${WEBHOOK_PATH}`
}

/**
 * Returns the address at which the daemon takes events.
 * @throws LeadsheetError config_missing if the settings have no address, config_invalid if the profile cannot
 * read events
 */
export function requireReceiverUrl(config: Config): string {
  const profile = profileOf(config)
  if (profile.webhook === undefined) {
    throw new LeadsheetError(
      'config_invalid',
      `The profile ${profile.name} does not say how events are verified and read: it has no part webhook`,
      { hint: 'Add it; docs/reference/profile.md shows how. Without it changes come with each sync.' },
    )
  }
  if (config.web.listen === null) {
    throw new LeadsheetError('config_missing', 'web.listen is none: nothing would take events', {
      hint: 'Give it an address (LEADSHEET_WEB_LISTEN), and set web.public_url.',
    })
  }
  const url = receiverUrl(config)
  if (url !== null) return url
  const listen = listenText(config.web.listen)
  throw new LeadsheetError('config_missing', 'web.public_url is not set: the upstream could not reach us', {
    hint: `Set it to the https:// address that leads from outside to web.listen (${listen}), such as that of a proxy; for an upstream on this machine http://${listen} will do.`,
  })
}

/**
 * Returns the given id, or the id of this installation's webhook.
 * @throws LeadsheetError usage_invalid, webhook_unreadable
 */
export function webhookIdOf({ dataDir, events }: Config, id: string | undefined): string {
  if (id !== undefined) return id
  const state = readState(registrationFile(dataDir))
  if (state.registration === null && events.secret !== null) {
    throw new LeadsheetError('usage_invalid', 'the webhook of this installation was registered by hand', {
      hint: `${shellCommand('webhooks list')} shows it where the upstream tells, to be named by its ID; else its own interface does.`,
    })
  }
  return requireOwn(state).id
}

export function isOwnWebhook({ dataDir }: Config, id: string): boolean {
  return readState(registrationFile(dataDir)).registration?.id === id
}

/** Reports whether a daemon works on this store, on this machine or another. */
export async function isDaemonAlive(config: Config): Promise<boolean> {
  await using store = await openDataIfThere(config)
  return (await readFacts(installationOf(config, store), {}, new Date()).life()) === 'alive'
}

/**
 * Finds another webhook with the same address. The daemon refuses the messages of the other webhook, because
 * it does not know that webhook's secret.
 */
export function otherAtAddress(webhooks: readonly WireWebhook[], own: Registration): WireWebhook | undefined {
  return webhooks.find(({ id, url }) => id !== own.id && isSameUrl(url, own.url))
}

/**
 * Awaits a request that the upstream may not support.
 * @returns null if the upstream answered "not found"
 */
export async function unlessUnoffered<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return null
  }
}

/**
 * A hint for a failed request. Its idempotency key is kept until the request succeeds, so a repetition has no
 * second effect.
 */
export const ASK_AGAIN = 'Run it again: it is asked for as the same request, and done once.'

export function withHint(thrown: LeadsheetError, hint: string): LeadsheetError {
  return new LeadsheetError(thrown.code, thrown.message, { hint, cause: thrown })
}

const DISABLED_WORDS = {
  gone: 'its address answered 410',
  failing: 'it took nothing for days',
} as const

/** Says where to look after a message to this installation's daemon has failed. */
export function whereToLook({ status }: WireWebhookAttempt): string {
  if (status === null) {
    return 'It seems not to have come as far as the daemon: web.public_url has to lead there from the upstream.'
  }
  const log = 'Where the daemon has answered so, its log says why.'
  return status === 401
    ? `${log} If it knows another secret, ${shellCommand('webhooks rotate')} fixes that.`
    : log
}

/** Formats the state: `disabled since 2026-11-20 08:15Z: its address answered 410`. */
export function webhookState(webhook: WireWebhook): string {
  const { status, disabled_at, disabled_reason, failing_since } = webhook
  if (status === 'disabled') {
    const since = disabled_at === null ? '' : ` since ${formatInstant(disabled_at)}`
    return `disabled${since}${disabled_reason === null ? '' : `: ${DISABLED_WORDS[disabled_reason]}`}`
  }
  return failing_since === null ? 'active' : `active, failing since ${formatInstant(failing_since)}`
}

/** Describes another webhook that sends to this installation's address. */
export function otherText({ id }: WireWebhook): string {
  return `${id} sends to our address, too, with a secret that is not known here`
}

export function eventsText(events: readonly string[]): string {
  return EVENT_TYPES.every((type) => events.includes(type)) ? 'all' : events.join(', ')
}

/** Formats an attempt: `arrived: answered 204 after 12 ms`. */
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

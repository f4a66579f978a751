/** The webhook of this installation, as the settings have it. */
import type { Config } from '../config/config.ts'
import { listenText } from '../config/web-settings.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { isSameUrl, type OwnWebhook, requireOwn } from '../jobs/events/register-webhook.ts'
import { type Registration, readState, registrationFile } from '../jobs/events/webhook-registration.ts'
import { readDaemon } from '../jobs/health/work.ts'
import type { Source } from '../upstream/source.ts'
import type { WireWebhook } from '../upstream/webhooks/registered-webhooks.ts'
import { WEBHOOK_PATH } from '../web/webhooks.ts'
import { openDataIfThere } from './installation.ts'
import { profileOf } from './upstream.ts'

export function ownWebhook({ dataDir }: Config, source: Source): OwnWebhook {
  return { source, file: registrationFile(dataDir), now: () => new Date() }
}

/** Where the daemon takes events; null where the settings give it no address to be reached under. */
export function receiverUrl({ web: { publicUrl } }: Pick<Config, 'web'>): string | null {
  return publicUrl === null ? null : `${publicUrl}${WEBHOOK_PATH}`
}

/**
 * As {@link receiverUrl}, for an upstream whose events can be read.
 * @throws LeadsheetError config_missing, config_invalid
 */
export function requireReceiverUrl(config: Config): string {
  const profile = profileOf(config)
  if (profile.webhook === undefined) {
    throw new LeadsheetError(
      'config_invalid',
      `The profile ${profile.name} does not say how events are verified and read: it has no part webhook`,
      { hint: 'Add it; the README shows how. Without it changes come with each sync.' },
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

/** What was named, or that of this installation. @throws LeadsheetError usage_invalid, webhook_unreadable */
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

/** On these data, whichever machine it runs on. */
export async function isDaemonAlive(config: Config): Promise<boolean> {
  await using store = await openDataIfThere(config)
  return (await readDaemon(store.db, new Date())).life === 'alive'
}

/** Another one that sends where ours does: what it signs with is not known here. */
export function otherAtAddress(webhooks: readonly WireWebhook[], own: Registration): WireWebhook | undefined {
  return webhooks.find(({ id, url }) => id !== own.id && isSameUrl(url, own.url))
}

/** @returns null where the upstream has no such webhook, or does not tell */
export async function unlessUnoffered<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return null
  }
}

/** Of what is kept as begun. */
export const ASK_AGAIN = 'Run it again: it is asked for as the same request, and done once.'

export function withHint(thrown: LeadsheetError, hint: string): LeadsheetError {
  return new LeadsheetError(thrown.code, thrown.message, { hint, cause: thrown })
}

/**
 * Registers the webhook of this installation at the upstream. The secret of a new webhook is saved before the
 * old webhook is removed.
 */
import { randomUUID } from 'node:crypto'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { nullIfNotFound } from '../../upstream/client/upstream-failure.ts'
import type { Source } from '../../upstream/source.ts'
import type { WebhookOrder } from '../../upstream/webhooks/registered-webhooks.ts'
import { type Registration, readRegistration, saveRegistration } from './webhook-registration.ts'

export interface OwnWebhook {
  readonly source: Pick<Source, 'webhooks'>
  readonly file: string
  readonly now: () => Date
}

export interface SelfRegistration {
  readonly registration: Registration
  readonly outcome: 'registered' | 'replaced' | 'already'
  /** A replaced webhook that could not be removed. */
  readonly leftOver: string | null
}

/**
 * Registers a webhook for the URL and the events, unless such a webhook is already active.
 * @throws LeadsheetError api_*, webhook_unreadable, data_unwritable
 */
export async function registerSelf(
  own: OwnWebhook & Pick<WebhookOrder, 'url' | 'events'>,
  signal: AbortSignal,
): Promise<SelfRegistration> {
  const { source, file, now, url, events } = own
  const before = readRegistration(file)
  if (before !== null && isSame(before, own) && (await isActive(own, before, signal)))
    return { registration: before, outcome: 'already', leftOver: null }
  const { id, secret } = await source.webhooks.register({ url, events }, randomUUID(), signal)
  const registration = { id, url, events, secret, registeredAt: now().toISOString() }
  await saveRegistration(file, registration)
  if (before === null) return { registration, outcome: 'registered', leftOver: null }
  // If the upstream allows only one webhook per URL, it returns the existing webhook again.
  const isLeft = before.id !== id && !(await isRemoved(own, before.id, signal))
  return { registration, outcome: 'replaced', leftOver: isLeft ? before.id : null }
}

function isRemoved({ source }: OwnWebhook, id: string, signal: AbortSignal): Promise<boolean> {
  return source.webhooks.remove(id, signal).then(
    () => true,
    (thrown: unknown) => (thrown instanceof LeadsheetError ? false : Promise.reject(thrown)),
  )
}

/**
 * Removes the webhook.
 * @returns the id of the webhook, and whether the upstream removed the webhook, did not know it, or offers no
 *   way to remove it
 * @throws LeadsheetError api_*, webhook_unreadable, data_unwritable, usage_invalid if nothing is registered
 */
export async function removeSelf(
  { source, file }: OwnWebhook,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly outcome: 'removed' | 'not_found' | 'left' }> {
  const { id } = requireOwn(file)
  const removed = await source.webhooks.remove(id, signal).catch(nullIfNotFound)
  await saveRegistration(file, null)
  return { id, outcome: removed === null ? 'left' : removed ? 'removed' : 'not_found' }
}

/**
 * Returns the registration.
 * @throws LeadsheetError webhook_unreadable, usage_invalid if nothing is registered
 */
export function requireOwn(file: string): Registration {
  const registration = readRegistration(file)
  if (registration !== null) return registration
  throw new LeadsheetError('usage_invalid', 'no webhook is registered for this installation', {
    hint: `${shellCommand('webhooks register --self')} registers one; ${shellCommand('webhooks list')} shows others, to be named by their ID.`,
  })
}

/** If the upstream cannot list webhooks, the registration in the file counts as active. */
async function isActive({ source }: OwnWebhook, own: Registration, signal: AbortSignal): Promise<boolean> {
  const webhooks = await source.webhooks.list(signal).catch(nullIfNotFound)
  if (webhooks === null) return true
  return webhooks.some(
    ({ id, url, status }) => id === own.id && isSameUrl(url, own.url) && status === 'active',
  )
}

function isSame(own: Registration, { url, events }: Pick<WebhookOrder, 'url' | 'events'>): boolean {
  return isSameUrl(own.url, url) && String([...own.events].sort()) === String([...events].sort())
}

export function isSameUrl(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href
}

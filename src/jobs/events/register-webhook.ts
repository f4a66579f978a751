/**
 * Registers the webhook of this installation at the upstream. Each step is saved to a file before the next
 * step begins. If the process is killed, the next command repeats the unfinished request with the same key.
 * The secret of a new webhook is saved before the old webhook is removed.
 */
import { randomUUID } from 'node:crypto'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Source } from '../../upstream/source.ts'
import type {
  WebhookOrder,
  WireWebhook,
  WireWebhookWithSecret,
} from '../../upstream/webhooks/registered-webhooks.ts'
import {
  type PendingRequest,
  type Registration,
  type RegistrationState,
  readState,
  saveState,
} from './webhook-registration.ts'

export interface OwnWebhook {
  readonly source: Pick<Source, 'webhooks'>
  readonly file: string
  readonly now: () => Date
}

export interface SelfRegistration {
  readonly registration: Registration
  readonly outcome: 'registered' | 'replaced' | 'already'
  /** A replaced webhook that the upstream offers no way to remove. */
  readonly leftOver: string | null
}

/** The time for which messages signed with the old secret are accepted. */
const BOTH_SECRETS_MS = 24 * 60 * 60_000

/**
 * Registers a webhook for the URL and the events, unless such a webhook is already active. The new webhook is
 * registered before the old one is removed.
 * @throws LeadsheetError api_*, webhook_unreadable, data_unwritable
 */
export async function registerSelf(
  own: OwnWebhook & Pick<WebhookOrder, 'url' | 'events'>,
  signal: AbortSignal,
): Promise<SelfRegistration> {
  const { url, events } = own
  const { state, leftOver, isFinished } = await recover(own, signal)
  const before = state.registration
  if (before !== null && isSame(before, own)) {
    if (isFinished) return { registration: before, outcome: 'registered', leftOver }
    if (await isActive(own, before, signal)) return { registration: before, outcome: 'already', leftOver }
  }
  const pending = { key: randomUUID(), at: own.now().toISOString(), url, events }
  const done = await removeReplaced(own, await request(own, state, pending, signal), signal)
  const registration = requireOwn(done.state)
  return {
    registration,
    outcome: before === null ? 'registered' : 'replaced',
    leftOver: done.leftOver ?? leftOver,
  }
}

/**
 * Removes the webhook.
 * @returns the id of the webhook, and whether the upstream removed the webhook, did not know it, or offers no
 *   way to remove it
 * @throws LeadsheetError the errors of {@link registerSelf}, and usage_invalid if nothing is registered
 */
export async function removeSelf(
  own: OwnWebhook,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly outcome: 'removed' | 'not_found' | 'left' }> {
  const { state } = await recover(own, signal)
  const { id } = requireOwn(state)
  const outcome = await remove(own, id, signal)
  await saveState(own.file, { registration: null, pending: null, replaced: null })
  return { id, outcome }
}

/**
 * Returns the registration.
 * @throws LeadsheetError usage_invalid if nothing is registered
 */
export function requireOwn({ registration }: RegistrationState): Registration {
  if (registration !== null) return registration
  throw new LeadsheetError('usage_invalid', 'no webhook is registered for this installation', {
    hint: `${shellCommand('webhooks register --self')} registers one; ${shellCommand('webhooks list')} shows others, to be named by their ID.`,
  })
}

/** Finishes the request that was in progress when a process was killed. */
async function recover(own: OwnWebhook, signal: AbortSignal) {
  const state = readState(own.file)
  const { pending } = state
  let done = state
  let isFinished = false
  if (pending !== null) {
    try {
      done = await finish(own, state, pending, signal)
      isFinished = true
    } catch (thrown) {
      // A request that the upstream refused is not repeated.
      if (!isRefusal(thrown)) throw thrown
      done = { ...state, pending: null }
    }
  }
  return { ...(await removeReplaced(own, done, signal)), isFinished }
}

async function request(
  own: OwnWebhook,
  before: RegistrationState,
  pending: PendingRequest,
  signal: AbortSignal,
): Promise<RegistrationState> {
  const state = { ...before, pending }
  await saveState(own.file, state)
  return finish(own, state, pending, signal)
}

async function finish(
  own: OwnWebhook,
  state: RegistrationState,
  pending: PendingRequest,
  signal: AbortSignal,
): Promise<RegistrationState> {
  try {
    const webhook = await own.source.webhooks.register(
      { url: pending.url, events: pending.events },
      pending.key,
      signal,
    )
    const done = stateWith(webhook, state, pending, own.now())
    await saveState(own.file, done)
    return done
  } catch (thrown) {
    if (isRefusal(thrown)) await saveState(own.file, { ...state, pending: null })
    throw thrown
  }
}

function stateWith(
  { id, secret }: WireWebhookWithSecret,
  { registration: before }: RegistrationState,
  pending: PendingRequest,
  now: Date,
): RegistrationState {
  const registration = {
    id,
    url: pending.url,
    events: pending.events,
    registeredAt: now.toISOString(),
    secret,
    oldSecret: before?.secret ?? null,
    oldSecretUntil: before && new Date(now.getTime() + BOTH_SECRETS_MS).toISOString(),
  }
  // If the upstream allows only one webhook per URL, it returns the existing webhook again. Then there is no
  // other webhook to remove.
  return { registration, pending: null, replaced: before === null || before.id === id ? null : before.id }
}

async function removeReplaced(own: OwnWebhook, state: RegistrationState, signal: AbortSignal) {
  if (state.replaced === null) return { state, leftOver: null }
  const outcome = await remove(own, state.replaced, signal)
  const done = { ...state, replaced: null }
  await saveState(own.file, done)
  return { state: done, leftOver: outcome === 'left' ? state.replaced : null }
}

async function remove({ source }: OwnWebhook, id: string, signal: AbortSignal) {
  try {
    return (await source.webhooks.remove(id, signal)) ? 'removed' : 'not_found'
  } catch (thrown) {
    if (!isUnoffered(thrown)) throw thrown
    return 'left'
  }
}

/** If the upstream cannot list webhooks, the registration in the file counts as active. */
async function isActive({ source }: OwnWebhook, own: Registration, signal: AbortSignal): Promise<boolean> {
  let webhooks: readonly WireWebhook[]
  try {
    webhooks = await source.webhooks.list(signal)
  } catch (thrown) {
    if (!isUnoffered(thrown)) throw thrown
    return true
  }
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

function isUnoffered(thrown: unknown): boolean {
  return thrown instanceof LeadsheetError && thrown.code === 'api_not_found'
}

/** After any failure but a refusal it is unknown whether the upstream carried out the request. */
function isRefusal(thrown: unknown): boolean {
  return isUnoffered(thrown) || (thrown instanceof LeadsheetError && thrown.code === 'api_rejected')
}

/**
 * Reads the events of a verified webhook request. An event that cannot be read is stored with its problem,
 * because after an error the upstream would only send the same request again.
 */
import { createHash } from 'node:crypto'
import type { UpstreamEvent } from '../../domain/model.ts'
import { isTooDeep, writeJson } from '../mapping/raw-record.ts'
import { readField, toId, toText } from '../profile/field-rule.ts'
import type { WebhookProfile } from '../profile/webhook-profile.ts'
import { parseJson, pathText, readPath } from '../values/json.ts'
import { cleanText, toInstant } from '../values/scalar.ts'
import { valuesOf, type WebhookMessage } from './verify-signature.ts'

type Message = Pick<WebhookMessage, 'headers' | 'body'>

/** The request that carried an event, and the index of the event in it. */
interface Sent {
  readonly message: Message
  readonly index: number
  readonly isAlone: boolean
}

/** Each event becomes a row in the store. No known upstream sends so many. */
const EVENTS_MAX = 1_000
const ID_CHARS_MAX = 256
const TYPE_CHARS_MAX = 200
const SHOWN_CHARS = 100

export function readEvents(webhook: WebhookProfile, message: Message): readonly UpstreamEvent[] {
  const { items } = webhook
  const whole = { message, index: 0, isAlone: true }
  let body: unknown
  try {
    body = parseJson(message.body.toString('utf8'))
  } catch {
    return [unreadable(whole, 'the body is no JSON')]
  }
  const found = items === undefined ? body : readPath(body, items)
  if (items !== undefined && !Array.isArray(found))
    return [unreadable(whole, `no list of events at ${pathText(items) || 'the body'}`)]
  const list: readonly unknown[] = Array.isArray(found) ? found : [found]
  const isAlone = list.length === 1
  const events = list
    .slice(0, EVENTS_MAX)
    .map((event, index) => readEvent(event, webhook, { message, index, isAlone }))
  if (list.length <= EVENTS_MAX) return events
  const surplus = { ...whole, index: EVENTS_MAX }
  return [
    ...events,
    unreadable(surplus, `one message with ${list.length} events: only ${EVENTS_MAX} are read`),
  ]
}

function readEvent(event: unknown, webhook: WebhookProfile, sent: Sent): UpstreamEvent {
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    return unreadable(sent, 'an event is no object')
  if (isTooDeep(event)) return unreadable(sent, 'an event is nested too deep')
  const type = beginningOf(toText(valueAt(webhook.type, event, sent)), TYPE_CHARS_MAX)
  const about = aboutOf(event, webhook)
  return {
    id: idOf(event, webhook.id, sent),
    type,
    occurredAt: toInstant(valueAt(webhook.time, event, sent)),
    ...about,
    isDeletion: about.resource === 'lead' && type !== null && webhook.deleted.includes(type),
  }
}

type About = Pick<UpstreamEvent, 'resource' | 'resourceId' | 'problem'>
const NOTHING: About = { resource: null, resourceId: '', problem: null }

function aboutOf(event: object, webhook: WebhookProfile): About {
  for (const resource of ['lead', 'pipeline'] as const) {
    const id = readField(event, webhook[resource])
    if (id !== null && id !== '') return aboutId(resource, id)
  }
  return readField(event, webhook.agent) === null ? NOTHING : { ...NOTHING, resource: 'agents' }
}

function aboutId(resource: 'lead' | 'pipeline', value: unknown): About {
  const id = toId(value)
  if (id !== null && id.length <= ID_CHARS_MAX) return { ...NOTHING, resource, resourceId: id }
  const shown = beginningOf(cleanText(writeJson(value)), SHOWN_CHARS)
  return { ...NOTHING, problem: `${shown} cannot be the id of a ${resource}` }
}

/** Without an id of the upstream, returns a hash of the event, which stays the same when it is sent again. */
function idOf(event: object, place: WebhookProfile['id'], sent: Sent): string {
  const id = toId(valueAt(place, event, sent))
  if (id === null) return digestOf(writeJson(event))
  const isShared = place !== undefined && 'header' in place && !sent.isAlone
  const own = isShared ? `${id}:${sent.index}` : id
  return own.length > ID_CHARS_MAX ? digestOf(own) : own
}

function valueAt(place: WebhookProfile['id'], event: object, { message }: Sent): unknown {
  if (place === undefined) return null
  if ('path' in place) return readPath(event, place.path) ?? null
  const [value, ...more] = valuesOf(message.headers, place.header)
  return more.length > 0 ? null : (value ?? null)
}

/** Stored so that operators see that something could not be read. */
function unreadable({ message, index }: Sent, problem: string): UpstreamEvent {
  return {
    ...NOTHING,
    problem,
    id: digestOf(`${index}:`, message.body),
    type: null,
    occurredAt: null,
    isDeletion: false,
  }
}

function beginningOf<T extends string | null>(text: T, chars: number): string | T {
  return text === null ? text : text.slice(0, chars).toWellFormed()
}

function digestOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return `sha256:${hash.digest('hex')}`
}

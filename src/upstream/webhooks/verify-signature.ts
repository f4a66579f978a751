/**
 * Verifies that the upstream sent a webhook request. The check uses the bytes of the body as they were
 * received. Its duration does not depend on how nearly a signature fits, or on whether a secret is set. So an
 * attacker who measures the time learns neither.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { standardKey } from '../../contract/webhook.ts'
import { basicOf } from '../client/authorize.ts'
import { SIGNED_PARTS, type WebhookProfile, type WebhookVerify } from '../profile/webhook-profile.ts'
import { toInstant } from '../values/scalar.ts'

export interface WebhookMessage {
  readonly method: string
  readonly url: string
  /** The values of each header. The names are in lower case. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly body: Buffer
}

/** The signatures and the time that a request states, which are not yet verified. */
interface Claim {
  readonly signatures: readonly string[]
  /** The time of the request in milliseconds since 1970; null if the scheme has no time. */
  readonly sentAtMs: number | null
  readonly sign: (key: Buffer) => string
}

/** A random secret for the comparison if no usable secret is set. Its text is also valid hex and base64. */
const NOBODYS = randomBytes(32).toString('hex')
const SECONDS = /^\d{1,12}$/
const HEX = /^(?:[0-9a-f]{2})+$/i

/**
 * Verifies a webhook request.
 * @param secrets the valid secrets; while the secret is being changed, the old and the new one
 * @returns null if the request is genuine, otherwise the reason, which operators see but the sender does not
 */
export function whyRefused(
  { verify }: Pick<WebhookProfile, 'verify'>,
  secrets: readonly string[],
  message: WebhookMessage,
  now: Date,
): string | null {
  const claim = readClaim(verify, message)
  if (claim === null) return null
  if (typeof claim === 'string') return claim
  const tolerance = 'tolerance_seconds' in verify ? verify.tolerance_seconds : Number.POSITIVE_INFINITY
  const late = claim.sentAtMs === null ? null : lateness(claim.sentAtMs, now, tolerance)
  if (late !== null) return late
  const keys = keysIn(verify, secrets)
  const known = keys.length > 0 ? keys : keysIn(verify, [NOBODYS])
  const isSigned = isAnyOf(claim.signatures, known.map(claim.sign))
  if (secrets.length === 0) return 'no secret is known'
  if (keys.length === 0) return 'the secret cannot be read as the profile says'
  return isSigned ? null : 'its signature is by no secret that is known'
}

/**
 * Returns null if the profile accepts every request, and a text if it must be refused whatever the secret is.
 */
function readClaim(verify: WebhookVerify, message: WebhookMessage): Claim | string | null {
  switch (verify.scheme) {
    case 'standard':
      return readStandard(verify.header_prefix, message)
    case 'hmac':
      return readHmac(verify, message)
    case 'stripe':
      return readStripe(verify.header, message)
    case 'token':
      return readToken(verify, message)
    case 'none':
      return null
  }
}

function readStandard(prefix: string, message: WebhookMessage): Claim | string {
  const headers = readOnce(message, {
    id: `${prefix}id`,
    timestamp: `${prefix}timestamp`,
    signatures: `${prefix}signature`,
  })
  if (typeof headers === 'string') return headers
  const { id, timestamp } = headers
  const signatures = headers.signatures.split(' ').filter((each) => each.startsWith('v1,'))
  if (signatures.length === 0) return `${prefix}signature has none that begins with v1`
  if (!SECONDS.test(timestamp)) return `${prefix}timestamp is no time in seconds`
  return {
    signatures,
    sentAtMs: Number(timestamp) * 1000,
    sign: (key) => `v1,${hmacOf(key, [`${id}.${timestamp}.`, message.body], 'sha256', 'base64')}`,
  }
}

type Verify<S extends WebhookVerify['scheme']> = Extract<WebhookVerify, { scheme: S }>

function readHmac(verify: Verify<'hmac'>, message: WebhookMessage): Claim | string {
  const { header, prefix, algorithm, encoding, timestamp_header } = verify
  const headers = readOnce(message, { signature: header, timestamp: timestamp_header })
  if (typeof headers === 'string') return headers
  const { signature, timestamp } = headers
  if (!signature.startsWith(prefix)) return `${header} does not begin with ${prefix}`
  const sentAt = toInstant(timestamp)
  if (timestamp_header !== undefined && sentAt === null) return `${timestamp_header} is no time`
  const signed = signedBy(verify.signed, { ...message, timestamp })
  return {
    signatures: [signature.slice(prefix.length)],
    sentAtMs: sentAt === null ? null : Date.parse(sentAt),
    sign: (key) => hmacOf(key, signed, algorithm, encoding),
  }
}

/** Fills in a template such as `{timestamp}.{body}`. Returns the pieces, because the body is bytes. */
function signedBy(
  template: string,
  parts: Readonly<Record<(typeof SIGNED_PARTS)[number], Buffer | string>>,
): readonly (Buffer | string)[] {
  return template.split(/(\{\w+\})/).map((piece) => {
    const part = SIGNED_PARTS.find((name) => piece === `{${name}}`)
    return part === undefined ? piece : parts[part]
  })
}

function hmacOf(
  key: Buffer,
  signed: readonly (Buffer | string)[],
  algorithm: Verify<'hmac'>['algorithm'],
  encoding: Verify<'hmac'>['encoding'],
): string {
  const hmac = createHmac(algorithm, key)
  for (const part of signed) hmac.update(part)
  return hmac.digest(encoding)
}

function readStripe(header: string, message: WebhookMessage): Claim | string {
  const headers = readOnce(message, { signature: header })
  if (typeof headers === 'string') return headers
  const parts = headers.signature.split(',').map((part) => part.trim())
  const partsOf = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
  const [timestamp = '', ...more] = partsOf('t')
  if (more.length > 0 || !SECONDS.test(timestamp)) return `${header} has not one t with a time in seconds`
  const signatures = partsOf('v1')
  if (signatures.length === 0) return `${header} has no v1`
  return {
    signatures,
    sentAtMs: Number(timestamp) * 1000,
    sign: (key) => hmacOf(key, [`${timestamp}.`, message.body], 'sha256', 'hex'),
  }
}

function readToken({ header, value }: Verify<'token'>, message: WebhookMessage): Claim | string {
  const headers = readOnce(message, { token: header })
  if (typeof headers === 'string') return headers
  return {
    signatures: [headers.token],
    sentAtMs: null,
    sign: (key) =>
      value.replaceAll('{secret}', () => key.toString()).replaceAll('{basic}', () => basicOf(key.toString())),
  }
}

/** If a header does not occur exactly once, returns a text that names it. Empty for an undefined name. */
function readOnce<Name extends string>(
  { headers }: WebhookMessage,
  names: Readonly<Record<Name, string | undefined>>,
): Record<Name, string> | string {
  const found: Partial<Record<Name, string>> = {}
  for (const [key, name] of Object.entries<string | undefined>(names)) {
    const [value, ...more] = name === undefined ? [''] : valuesOf(headers, name)
    if (value === undefined) return `${name} is missing`
    if (more.length > 0) return `${name} came more than once`
    found[key as Name] = value
  }
  return found as Record<Name, string>
}

export function valuesOf(headers: WebhookMessage['headers'], name: string): readonly string[] {
  const key = name.toLowerCase()
  return Object.hasOwn(headers, key) ? (headers[key] ?? []) : []
}

function lateness(sentAtMs: number, now: Date, toleranceSeconds: number): string | null {
  const seconds = Math.round((now.getTime() - sentAtMs) / 1000)
  if (Math.abs(now.getTime() - sentAtMs) <= toleranceSeconds * 1000) return null
  return seconds > 0 ? `it was signed ${seconds} s ago` : `it was signed for ${-seconds} s from now`
}

/** Returns whether a secret can be decoded as the profile says, for example from hex. */
export function isReadableSecret({ verify }: WebhookProfile, secret: string): boolean {
  const isPair = verify.scheme === 'token' && verify.value.includes('{basic}')
  return keyOf(verify, secret).length > 0 && (!isPair || secret.includes(':'))
}

/** A secret that cannot be decoded is left out, because an empty or cut key would be unsafe. */
function keysIn(verify: WebhookVerify, secrets: readonly string[]): readonly Buffer[] {
  return secrets.map((secret) => keyOf(verify, secret)).filter((key) => key.length > 0)
}

function keyOf(verify: WebhookVerify, secret: string): Buffer {
  if (verify.scheme === 'standard') return standardKey(secret)
  const form = verify.scheme === 'hmac' ? verify.key : 'text'
  if (form === 'hex' && !HEX.test(secret)) return Buffer.alloc(0)
  return Buffer.from(secret, form === 'text' ? 'utf8' : form)
}

/** Compares all pairs, so that the time taken does not show how nearly a signature fits. */
function isAnyOf(given: readonly string[], expected: readonly string[]): boolean {
  const digests = expected.map(digestOf)
  let isFound = false
  for (const each of given.map(digestOf)) {
    for (const digest of digests) isFound = timingSafeEqual(each, digest) || isFound
  }
  return isFound
}

/** All hashes have the same length, as `timingSafeEqual` requires. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

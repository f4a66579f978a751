/** Signatures of webhooks after the Standard Webhooks specification: HMAC-SHA256 over id, time and body. No I/O. */
import { createHmac } from 'node:crypto'

/** Headers behind their prefix: `webhook-id`. */
export const STANDARD_PREFIX = 'webhook-'
/** How far the time of a message may be from that of its receiver. */
export const TOLERANCE_SECONDS = 300
const SECRET_PREFIX = 'whsec_'

export interface SignedMessage {
  /** The same for each attempt. */
  readonly id: string
  /** Of this attempt, in whole seconds since 1970. */
  readonly timestamp: number
  /** As sent, to the byte. */
  readonly body: Buffer | string
}

/** `v1,…` for one secret: `whsec_` and a key in base64. */
export function signStandard(secret: string, { id, timestamp, body }: SignedMessage): string {
  const signature = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body)
  return `v1,${signature.digest('base64')}`
}

/** @param secrets the newest first; two while one takes the place of the other */
export function standardHeaders(secrets: readonly string[], message: SignedMessage): Record<string, string> {
  return {
    [`${STANDARD_PREFIX}id`]: message.id,
    [`${STANDARD_PREFIX}timestamp`]: String(message.timestamp),
    [`${STANDARD_PREFIX}signature`]: secrets.map((secret) => signStandard(secret, message)).join(' '),
  }
}

/** The bytes of a secret: `whsec_` and base64. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
}

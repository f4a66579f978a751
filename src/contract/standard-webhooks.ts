/** Signs webhooks by the Standard Webhooks specification: HMAC-SHA256 over id, time and body. No I/O. */
import { createHmac } from 'node:crypto'

/** The prefix of the headers, as in `webhook-id`. */
export const STANDARD_PREFIX = 'webhook-'
/** The largest difference, in seconds, between the time of a message and the receiver's clock. */
export const TOLERANCE_SECONDS = 300
const SECRET_PREFIX = 'whsec_'

export interface SignedMessage {
  /** The id, which is the same for each attempt. */
  readonly id: string
  /** The time of this attempt in whole seconds since 1970. */
  readonly timestamp: number
  /** The bytes as sent. */
  readonly body: Buffer | string
}

/** Signs with one secret (`whsec_` and a key in base64) and returns `v1,…`. */
export function signStandard(secret: string, { id, timestamp, body }: SignedMessage): string {
  const signature = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body)
  return `v1,${signature.digest('base64')}`
}

/** @param secrets the newest first; there are two during a rotation */
export function standardHeaders(secrets: readonly string[], message: SignedMessage): Record<string, string> {
  return {
    [`${STANDARD_PREFIX}id`]: message.id,
    [`${STANDARD_PREFIX}timestamp`]: String(message.timestamp),
    [`${STANDARD_PREFIX}signature`]: secrets.map((secret) => signStandard(secret, message)).join(' '),
  }
}

/** The key of a secret, which is `whsec_` and base64. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
}

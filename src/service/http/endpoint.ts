/** What an endpoint is: one description from which the server answers and the OpenAPI document is made. */
import type { z } from 'zod'
import type { EndpointPath } from '../../contract/paths.ts'
import type { ProblemCode } from '../../contract/problem.ts'
import type { WireWebhookAttempt } from '../../contract/webhook.ts'
import type { Life } from '../simulation/life.ts'
import type { ServiceDatabase } from '../store/database.ts'
import type { KeyScope, WebhookRow } from '../store/tables.ts'

/** What endpoints answer from. */
export interface Context {
  /** For an endpoint that acts once, the transaction that the answer is made in. */
  readonly db: ServiceDatabase
  readonly life: Life
  /** Simulated time, never before `life.until()`. */
  now(): number
  realNow(): number
  readonly webhooks: WebhookContext
}

/** What is asked of the sender of webhooks; both may wait for a network. */
export interface WebhookContext {
  /** Sends a ping at once. */
  ping(webhook: WebhookRow): Promise<WireWebhookAttempt>
  /** @returns why nothing can be sent there, as a clause without a full stop; null where it can */
  checkAddress(url: string): Promise<string | null>
}

export interface Call<Query, Body> {
  /** The `:id` of the path; empty for a path without one. */
  readonly id: string
  readonly query: Query
  readonly body: Body
}

export interface Endpoint<Query = unknown, Body = unknown, Answer = unknown> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: EndpointPath
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly scope: KeyScope
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** Of its success. */
  readonly status: 200 | 201 | 204
  /** None with a 204. */
  readonly answer?: z.ZodType<Answer>
  /** What it may refuse with, beyond what every endpoint may. */
  readonly problems: readonly ProblemCode[]
  /** Not in the API's document, but in the reference service besides. */
  readonly isExtension?: true
  /** Acts once for an Idempotency-Key, in one transaction, which must wait for nothing but the store. */
  readonly actsOnce?: true
  /** What is asked before that and may take its time; refuses by a ProblemError. */
  check?(context: Context, call: Call<Query, Body>): Promise<void>
  answerTo(context: Context, call: Call<Query, Body>): Promise<Answer>
}

/** Infers the types that go together. */
export function endpoint<Query, Body, Answer>(
  described: Endpoint<Query, Body, Answer>,
): Endpoint<Query, Body, Answer> {
  return described
}

/** What an endpoint is: one description from which the server answers and the OpenAPI document is made. */

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { LeadQuery } from '../../contract/lead.ts'
import type { EndpointPath } from '../../contract/paths.ts'
import type { ProblemCode } from '../../contract/problem.ts'
import type { WireWebhookAttempt } from '../../contract/webhook.ts'
import type { Life } from '../simulation/life.ts'
import type { ServiceDatabase } from '../store/database.ts'
import type { LeadPosition } from '../store/lead.ts'
import type { KeyScope, WebhookRow } from '../store/tables.ts'
import { ProblemError } from './problem.ts'

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

/* The opaque cursor of the list: where the page before ended, and which list it belongs to. */

const cursorSchema = z.strictObject({ list: z.string(), value: z.number(), id: z.string() })

export function encodeCursor(query: LeadQuery, { value, id }: LeadPosition): string {
  return Buffer.from(JSON.stringify({ list: listOf(query), value, id })).toString('base64url')
}

/** @throws ProblemError invalid_cursor, also when the filters or the sort are not those it was made for */
export function decodeCursor(query: LeadQuery): LeadPosition | null {
  if (query.cursor === undefined) return null
  const cursor = cursorSchema.safeParse(parseCursor(query.cursor))
  if (!cursor.success) {
    throw new ProblemError(
      'invalid_cursor',
      'The cursor is not one that this service gave out; start the list anew.',
    )
  }
  if (cursor.data.list !== listOf(query)) {
    throw new ProblemError(
      'invalid_cursor',
      'The cursor belongs to a list with other filters or another sort; keep them as they were, or start anew.',
    )
  }
  return cursor.data
}

function parseCursor(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** A digest of what makes the list; the limit may change from page to page. */
function listOf({ cursor: _cursor, limit: _limit, ...list }: LeadQuery): string {
  const parts = Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)
}

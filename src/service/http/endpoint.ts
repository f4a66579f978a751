/**
 * The description of an endpoint, from which the server answers and the OpenAPI document is made, and the
 * cursor of the lead list.
 */

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

/** The dependencies of the endpoints. */
export interface Context {
  /** The database, or the transaction of the answer where the endpoint has `actsOnce`. */
  readonly db: ServiceDatabase
  readonly life: Life
  /** The simulated time, never before `life.until()`. */
  now(): number
  realNow(): number
  readonly webhooks: WebhookContext
}

/** The actions on webhooks. Both may wait for the network. */
interface WebhookContext {
  /** Sends a ping at once. */
  ping(webhook: WebhookRow): Promise<WireWebhookAttempt>
  /** @returns why nothing can be sent to the address, as a clause without a full stop; null where it can */
  checkAddress(url: string): Promise<string | null>
}

export interface Call<Query, Body> {
  /** The `:id` of the path; empty for a path without an id. */
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
  /** The status of a success. */
  readonly status: 200 | 201 | 204
  /** The schema of the answer; a 204 has none. */
  readonly answer?: z.ZodType<Answer>
  /** The problems it may refuse with, beyond those of every endpoint. */
  readonly problems: readonly ProblemCode[]
  /** Marks an endpoint of the reference service that the API's document does not have. */
  readonly isExtension?: true
  /**
   * Makes the endpoint act once for an Idempotency-Key, in one transaction, which may wait only for the
   * database.
   */
  readonly actsOnce?: true
  /** Runs before the transaction and may take its time. Refuses with a ProblemError. */
  check?(context: Context, call: Call<Query, Body>): Promise<void>
  answerTo(context: Context, call: Call<Query, Body>): Promise<Answer>
}

/** Infers the matching types of an endpoint. */
export function endpoint<Query, Body, Answer>(
  described: Endpoint<Query, Body, Answer>,
): Endpoint<Query, Body, Answer> {
  return described
}

/** The content of the opaque cursor: the list it belongs to, and where the page before ended. */

const cursorSchema = z.strictObject({ list: z.string(), value: z.number(), id: z.string() })

export function encodeCursor(query: LeadQuery, { value, id }: LeadPosition): string {
  return Buffer.from(JSON.stringify({ list: listOf(query), value, id })).toString('base64url')
}

/**
 * @throws ProblemError invalid_cursor, also when the filters or the sort have changed since the cursor was
 * made
 */
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

/** A digest of the filters and the sort. The limit may change from page to page. */
function listOf({ cursor: _cursor, limit: _limit, ...list }: LeadQuery): string {
  const parts = Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)
}

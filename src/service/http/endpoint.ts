/** Describes endpoints, their error answers (RFC 9457), and the cursor of the lead list. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { EndpointPath, Problem, ProblemCode } from '../../contract/api.ts'
import { PROBLEMS } from '../../contract/api.ts'
import type { LeadQuery } from '../../contract/lead.ts'
import type { WireWebhookAttempt } from '../../contract/webhook.ts'
import type { Simulation } from '../simulation/simulation.ts'
import type { KeyScope, ServiceDatabase, WebhookRow } from '../store/database.ts'
import type { LeadPosition } from '../store/lead.ts'

/** The values that every endpoint needs to answer a request. */
export interface Context {
  /** The database. If the endpoint has `actsOnce`, this is the transaction in which the answer is made. */
  readonly db: ServiceDatabase
  readonly simulation: Simulation
  /** Returns the simulated time in milliseconds since 1970, never earlier than `simulation.until()`. */
  now(): number
  /** Returns the real time in milliseconds since 1970. */
  realNow(): number
  readonly webhooks: WebhookContext
}

/** The actions on webhooks that may wait for the network. */
interface WebhookContext {
  /** Sends a test message immediately. */
  ping(webhook: WebhookRow): Promise<WireWebhookAttempt>
  /** @returns the reason why not, as a clause without a full stop; null if messages can be sent */
  refusalOf(url: URL): string | null
}

/** A request to an endpoint, after its input was checked. */
interface Call<Query, Body> {
  /** The `:id` of the path; empty for a path without an id. */
  readonly id: string
  readonly query: Query
  readonly body: Body
}

export interface Endpoint<Query = unknown, Body = unknown, Answer = unknown> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: EndpointPath
  readonly scope: KeyScope
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  /** The status of a success. */
  readonly status: 200 | 201 | 204
  /** The schema of the answer; a 204 has none. */
  readonly answer?: z.ZodType<Answer>
  /** `answerTo` then runs in one transaction and must wait for nothing but the database. */
  readonly actsOnce?: true
  answerTo(context: Context, call: Call<Query, Body>): Promise<Answer>
}

/** Lets TypeScript infer the types of query, body and answer. */
export function endpoint<Query, Body, Answer>(
  described: Endpoint<Query, Body, Answer>,
): Endpoint<Query, Body, Answer> {
  return described
}

/** The content of a cursor: a digest of the filters and the sort, and the position of the last lead. */
const cursorSchema = z.strictObject({ list: z.string(), value: z.number(), id: z.string() })

export function encodeCursor(query: LeadQuery, { value, id }: LeadPosition): string {
  return Buffer.from(JSON.stringify({ list: listOf(query), value, id })).toString('base64url')
}

/**
 * Null without a cursor.
 * @throws ProblemError invalid_cursor, also if the filters or the sort have changed
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

/** The limit is left out, because a client may change it from page to page. */
function listOf({ cursor: _cursor, limit: _limit, ...list }: LeadQuery): string {
  const parts = Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)
}

type FieldErrors = NonNullable<Problem['errors']>

/** An error that the server sends to the client as an answer. */
export class ProblemError extends Error {
  readonly problem: Problem
  readonly headers: Readonly<Record<string, string>>

  /** @param detail a text that names the thing, the value and what is accepted */
  constructor(
    code: ProblemCode,
    detail: string,
    options: { readonly errors?: FieldErrors; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail)
    this.name = 'ProblemError'
    this.problem = problemOf(code, detail, options.errors)
    this.headers = options.headers ?? {}
  }
}

export function problemOf(code: ProblemCode, detail: string, errors?: FieldErrors): Problem {
  const { status, title } = PROBLEMS[code]
  const problem = { type: `urn:leadsheet:problem:${code}`, title, status, code, detail }
  return errors === undefined ? problem : { ...problem, errors }
}

/**
 * @throws ProblemError invalid_request, which lists every mistake
 * @param what the name of the input for the error text, such as `query`
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const errors = result.error.issues.flatMap(fieldErrors)
  const first = errors[0]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const place = first === undefined || first.path === '' ? '' : ` ${first.path}:`
  throw new ProblemError('invalid_request', `The ${what} is wrong:${place} ${first?.message}${more}.`, {
    errors,
  })
}

function fieldErrors(issue: z.core.$ZodIssue): FieldErrors {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...issue.path, key].join('.'),
      message: 'there is no such name here',
    }))
  const given = JSON.stringify(issue.input)?.slice(0, 80)
  const message = given === undefined ? issue.message : `${issue.message}; got ${given}`
  return [{ path: issue.path.join('.'), message }]
}

/** What an endpoint is: one description from which the server answers and the OpenAPI document is made. */
import type { z } from 'zod'
import type { EndpointPath } from '../../contract/paths.ts'
import type { ProblemCode } from '../../contract/problem.ts'
import type { Life } from '../simulation/life.ts'
import type { ServiceDatabase } from '../store/database.ts'
import type { KeyScope } from '../store/tables.ts'

/** What endpoints answer from. */
export interface Context {
  /** For a POST, the transaction that the answer is made in. */
  readonly db: ServiceDatabase
  readonly life: Life
  /** Simulated time, never before `life.until()`. */
  now(): number
}

export interface Call<Query, Body> {
  /** The `:id` of the path; empty for a path without one. */
  readonly id: string
  readonly query: Query
  readonly body: Body
}

export interface Endpoint<Query = unknown, Body = unknown, Answer = unknown> {
  readonly method: 'GET' | 'POST'
  readonly path: EndpointPath
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly scope: KeyScope
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  readonly answer: z.ZodType<Answer>
  /** What it may refuse with, beyond what every endpoint may. */
  readonly problems: readonly ProblemCode[]
  answerTo(context: Context, call: Call<Query, Body>): Promise<Answer>
}

/** Infers the types that go together. */
export function endpoint<Query, Body, Answer>(
  described: Endpoint<Query, Body, Answer>,
): Endpoint<Query, Body, Answer> {
  return described
}

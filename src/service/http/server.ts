/**
 * The HTTP server. Every endpoint has the same checks, and every failure is answered with a JSON problem
 * (RFC 9457). The answer to a request with an Idempotency-Key is stored for a day, so that the request acts
 * only once even if it is sent twice.
 */
import { createHash } from 'node:crypto'
import { maxHeaderSize } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { ProblemCode } from '../../contract/api.ts'
import { PROBLEM_TYPE } from '../../contract/api.ts'
import { injectFaults } from '../faults/inject.ts'
import type { Faults } from '../faults/rules.ts'
import type { IdempotentAnswer, ServiceDatabase } from '../store/database.ts'
import type { RateLimiter } from './authentication.ts'
import { authenticate } from './authentication.ts'
import type { Context, Endpoint } from './endpoint.ts'
import { ProblemError, parseInput, problemOf } from './endpoint.ts'

const BODY_LIMIT_BYTES = 256 * 1024
/** The maximum time, in milliseconds, that a request may take to arrive. */
const REQUEST_TIMEOUT_MS = 30_000

/** The part of the logger pino that the service uses. */
export interface ServiceLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface ServerOptions {
  readonly context: Context
  readonly endpoints: readonly Endpoint[]
  readonly limiter: RateLimiter
  readonly log: ServiceLog
  /** The faults to inject; none by default. */
  readonly faults?: Faults | undefined
}

export function createServer(options: ServerOptions): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: maxHeaderSize },
    frameworkErrors: (error, _request, reply) => void sendFailure(options.log, error, reply),
  })
  app.removeContentTypeParser('text/plain')
  app.setErrorHandler((error, _request, reply) => sendFailure(options.log, error, reply))
  app.setNotFoundHandler((request) => {
    throw new ProblemError('not_found', `There is no ${request.method} ${request.url}.`)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, url } = request
    const durationMs = Math.round(reply.elapsedTime)
    options.log.info({ method, url, status: reply.statusCode, duration_ms: durationMs }, 'request answered')
  })
  if (options.faults !== undefined) injectFaults(app, options.faults)
  for (const endpoint of options.endpoints) addEndpoint(app, endpoint, options)
  return app
}

function addEndpoint(app: FastifyInstance, endpoint: Endpoint, options: ServerOptions): void {
  const { context, limiter } = options
  const callers = new WeakMap<FastifyRequest, string>()
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    onRequest: async (request, reply) => {
      if (endpoint.body === undefined && !hasBody(request)) delete request.headers['content-type']
      callers.set(request, await authenticate(context.db, limiter, endpoint.scope, request, reply))
    },
    handler: (request, reply) => answer(endpoint, options, callers.get(request) ?? '', request, reply),
  })
}

/** Some clients name a content type without sending a body, which Fastify would refuse. */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

const pathParameters = z.object({ id: z.string().default('') })
const noQuery = z.strictObject({})
const noBody = z
  .strictObject({})
  .nullish()
  .transform(() => undefined)

async function answer(
  endpoint: Endpoint,
  { context }: ServerOptions,
  keyId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const call = {
    id: pathParameters.parse(request.params).id,
    query: parseInput(endpoint.query ?? noQuery, request.query, 'query'),
    body: parseInput(endpoint.body ?? noBody, request.body, 'body'),
  }
  const answerFrom = async (db: ServiceDatabase): Promise<unknown> => {
    const given = await endpoint.answerTo({ ...context, db }, call)
    // The answer is checked too, because every answer must fit the contract. Checking 1,000 leads takes 2 ms.
    return endpoint.answer?.parse(given)
  }
  const idempotencyKey = endpoint.actsOnce && parseIdempotencyKey(request.headers[IDEMPOTENCY_HEADER])
  reply.code(endpoint.status)
  if (endpoint.actsOnce !== true) return answerFrom(context.db)
  const { path } = endpoint
  const name =
    idempotencyKey === undefined ? undefined : { key_id: keyId, path, idempotency_key: idempotencyKey }
  const once = await answerOnce(context.db, name, call.body, context.realNow(), answerFrom)
  if (once.isReplay) reply.header(REPLAYED_HEADER, 'true')
  return once.answer
}

function sendFailure(log: ServiceLog, failure: unknown, reply: FastifyReply): FastifyReply {
  const error = failure instanceof ProblemError ? failure : fromFastify(failure)
  if (error === undefined) log.error({ err: failure }, 'request failed')
  const problem = error?.problem ?? problemOf('internal', 'The service failed; its log says why.')
  return reply
    .code(problem.status)
    .headers(error?.headers ?? {})
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problem))
}

/** By Fastify's error code. All its other errors with status 400 are about the body. */
const FASTIFY_PROBLEMS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', `A body may have ${BODY_LIMIT_BYTES} bytes at most.`],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body with "Content-Type: application/json".',
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'The address is not well-formed: check its percent-encoding.'],
}

function fromFastify(failure: unknown): ProblemError | undefined {
  if (!(failure instanceof Error) || !('statusCode' in failure) || failure.statusCode === 500)
    return undefined
  const known = 'code' in failure ? FASTIFY_PROBLEMS[String(failure.code)] : undefined
  if (known !== undefined) return new ProblemError(...known)
  if (failure.statusCode !== 400) return undefined
  return new ProblemError('invalid_json', `The body cannot be read as JSON: ${failure.message}.`)
}

// The created resource and the stored answer are committed together.

const IDEMPOTENCY_HEADER = 'idempotency-key'
const REPLAYED_HEADER = 'idempotency-replayed'
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** @throws ProblemError invalid_request if the key is not valid */
function parseIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === 'string' && KEY_PATTERN.test(header))) return header
  throw new ProblemError(
    'invalid_request',
    'The header Idempotency-Key must be 1 to 255 visible ASCII characters without blanks.',
  )
}

const KEPT_MS = 24 * 60 * 60_000

/**
 * Returns the stored answer for the key. If there is none, makes and stores the answer.
 * @param name the columns that name the request; undefined if the request has no Idempotency-Key
 * @param body the parsed body; spaces and the order of its keys make no difference
 * @param create makes the answer inside the given transaction
 * @throws ProblemError idempotency_conflict if the key was already used with another body
 */
function answerOnce(
  db: ServiceDatabase,
  name: Pick<IdempotentAnswer, 'key_id' | 'path' | 'idempotency_key'> | undefined,
  body: unknown,
  now: number,
  create: (trx: ServiceDatabase) => Promise<unknown>,
): Promise<{ readonly answer: unknown; readonly isReplay: boolean }> {
  return db.transaction().execute(async (trx) => {
    // Deleting comes first, so that the transaction locks the database for writing from the start.
    const old = now - KEPT_MS
    await trx.deleteFrom('idempotent_answer').where('created_at', '<=', old).execute()
    if (name === undefined) return { answer: await create(trx), isReplay: false }
    const request_sha256 = createHash('sha256')
      .update(JSON.stringify(body ?? null))
      .digest('hex')
    const kept = await trx
      .selectFrom('idempotent_answer')
      .select(['request_sha256', 'answer'])
      .where((eb) => eb.and(name))
      .executeTakeFirst()
    if (kept !== undefined && kept.request_sha256 !== request_sha256) {
      throw new ProblemError(
        'idempotency_conflict',
        `The Idempotency-Key ${JSON.stringify(name.idempotency_key)} was used for another body; take a new key.`,
      )
    }
    if (kept !== undefined) return { answer: JSON.parse(kept.answer), isReplay: true }
    const answer = await create(trx)
    const made = { ...name, request_sha256, answer: JSON.stringify(answer), created_at: now }
    await trx.insertInto('idempotent_answer').values(made).execute()
    return { answer, isReplay: false }
  })
}

/**
 * Makes the OpenAPI 3.1 document from the endpoints and the schemas that check requests and answers. Because
 * the service uses the same definitions, the document always describes what the service does.
 */
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode, problemSchema } from '../../contract/api.ts'
import type { Endpoint } from './endpoint.ts'
import {
  Components,
  describeWebhooks,
  type Json,
  toSchema,
  WEBHOOK_PARAMETERS,
  WEBHOOK_RESPONSES,
  WEBHOOK_WORDS,
} from './openapi-webhooks.ts'

/** The errors that any endpoint may answer with. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'invalid_request',
  'unauthorized',
  'rate_limited',
  'internal',
]
/** The additional errors of an endpoint that writes, with or without a request body. */
const WRITE_PROBLEMS: readonly ProblemCode[] = [
  'forbidden',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
]

export function describeApi(endpoints: readonly Endpoint[]): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: describeEndpoint(endpoint, components) }
  }
  const webhooks = describeWebhooks(components)
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Lead pipeline service',
      version: '1.0.0',
      summary: 'Automated lead-discovery pipelines: leads, statistics, agents and events.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'the service that serves this document' }],
    security: [{ apiKey: [] }],
    tags: TAGS,
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `lsk_…`. Its scope is `read` or `write`; write includes read.',
        },
      },
      headers: HEADERS,
      parameters: WEBHOOK_PARAMETERS,
      responses: WEBHOOK_RESPONSES,
      schemas: components.schemas,
    },
  }
}

const DESCRIPTION = [
  'Every error is `application/problem+json` (RFC 9457) with a stable `code`.',
  'Instants are RFC 3339 in UTC. Answers may gain fields: ignore fields that you do not know.',
  '`updated_at` of a lead changes with every change of the lead, including its activity, and is never in the future.',
  'A removed lead is no longer listed and answers 404.',
  'In the reference service everything is simulated; contacts, scores, values and enrichment are invented.',
].join(' ')

const TAGS = [
  { name: 'leads', description: 'Companies that agents discovered, with their state in a pipeline' },
  { name: 'pipelines', description: 'Searches with targeting criteria, and their statistics' },
  { name: 'webhooks', description: WEBHOOK_WORDS },
  { name: 'agents', description: 'The agents that search for leads and work on them' },
]

const integerHeader = (description: string): Json => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
})

const HEADERS: Json = {
  'RateLimit-Limit': integerHeader('Requests that the key may make in a minute'),
  'RateLimit-Remaining': integerHeader('Requests that are left in this minute'),
  'RateLimit-Reset': integerHeader('Seconds until the next minute begins'),
  'Retry-After': integerHeader('Seconds to wait before the next request'),
  'WWW-Authenticate': {
    description: 'A Bearer challenge (RFC 6750)',
    required: true,
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: 'Present if this is the stored answer to an earlier request with the same Idempotency-Key',
    schema: { type: 'string', const: 'true' },
  },
}
const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

const IDEMPOTENCY_PARAMETER: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Names the request for 24 hours. A request that is sent again with the same key and body gets the stored answer and does nothing.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}

const EXTENSION = "An extension: not in the API's document."

const SUCCESSES = { 200: 'The answer', 201: 'Created', 204: 'Deleted' }

function describeEndpoint(endpoint: Endpoint, components: Components): Json {
  const { path, operationId, summary, body, answer, scope, status, isExtension, actsOnce } = endpoint
  const description = [isExtension ? EXTENSION : [], endpoint.description ?? []].flat().join(' ')
  const success = {
    description: SUCCESSES[status],
    headers: headerRefs([...RATE_HEADERS, ...(actsOnce ? ['Idempotency-Replayed'] : [])]),
    ...(answer === undefined
      ? {}
      : { content: { 'application/json': { schema: components.refer(answer, 'output') } } }),
  }
  return {
    operationId,
    summary,
    ...(description === '' ? {} : { description }),
    ...(isExtension ? { 'x-extension': true } : {}),
    tags: TAGS.map((tag) => tag.name).filter((name) => path.includes(`/${name}`)),
    security: [{ apiKey: [scope] }],
    parameters: [
      ...pathParameters(path),
      ...queryParameters(endpoint),
      ...(actsOnce ? [IDEMPOTENCY_PARAMETER] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.refer(body, 'input') } },
          },
        }),
    responses: { [String(status)]: success, ...problemResponses(problemsOf(endpoint), components) },
  }
}

function problemsOf({ method, problems, body, actsOnce }: Endpoint): readonly ProblemCode[] {
  const ofWriting = method === 'GET' ? [] : WRITE_PROBLEMS
  // A conflict arises if a key is sent again with another body. An endpoint without a body has no conflicts.
  const ofKeys: readonly ProblemCode[] = actsOnce && body !== undefined ? ['idempotency_conflict'] : []
  return [...new Set([...problems, ...COMMON_PROBLEMS, ...ofWriting, ...ofKeys])]
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Endpoint): readonly Json[] {
  if (query === undefined) return []
  const { properties } = toSchema(query, 'output') as { properties: Record<string, Json> }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description === undefined ? {} : { description }),
    schema,
    ...(schema.type === 'array' ? { style: 'form', explode: true } : {}),
  }))
}

function problemResponses(codes: readonly ProblemCode[], components: Components): Json {
  const problem = components.refer(problemSchema, 'output')
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      String(status),
      {
        description: own.map((code) => `${PROBLEMS[code].title} (\`${code}\`)`).join('; '),
        headers: headerRefs(problemHeaders(status)),
        content: {
          [PROBLEM_TYPE]: {
            schema: { allOf: [problem, { type: 'object', properties: { code: { enum: own } } }] },
          },
        },
      },
    ]),
  )
}

function problemHeaders(status: number): readonly string[] {
  if (status === 401) return ['WWW-Authenticate']
  return status === 429 ? [...RATE_HEADERS, 'Retry-After'] : RATE_HEADERS
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

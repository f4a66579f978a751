/** The OpenAPI document: valid in itself, and true of what the service answers. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PATHS } from '../../src/contract/paths.ts'
import { PROBLEMS } from '../../src/contract/problem.ts'
import {
  EVENT_TYPES,
  EVENT_VERSION,
  type EventType,
  PING_TYPE,
  webhookWithSecretSchema,
} from '../../src/contract/webhook.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { type Answer, DAY_MS, HOUR_MS, startService, type TestService } from './support/service.ts'

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly 'x-extension'?: boolean
  readonly parameters: readonly {
    readonly $ref?: string
    readonly name: string
    readonly in: string
    readonly schema: object
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly headers: Headers; readonly content?: Content }>>
}
type Content = Readonly<Record<string, { readonly schema: object }>>
type Headers = Readonly<Record<string, { readonly $ref: string }>>

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly parameters: Readonly<Record<string, { readonly schema: object }>>
  }
}

const LONG = { timeout: 20_000 }
const DOCUMENT = 'https://service.example/openapi.json'

let api: TestService
let receiver: Receiver
let document: Document
let ajv: Ajv2020
beforeAll(async () => {
  receiver = await openReceiver()
  api = await startService({ historyDays: 30, webhooksToLoopback: true })
  document = (await api.get('/openapi.json', { authorization: null })).json as Document
  ajv = new Ajv2020({ allErrors: true, strictTypes: false })
  addFormats.default(ajv)
  ajv.addSchema(withRefs({ $id: DOCUMENT, $defs: document.components.schemas }))
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

function compile(schema: object): ValidateFunction {
  return ajv.compile(withRefs(schema))
}

/** The document's references in terms of what ajv has been given. */
function withRefs(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${DOCUMENT}#/$defs/`))
}

function operation(path: string, method: string): Operation {
  const found = document.paths[path]?.[method]
  if (found === undefined) throw new Error(`the document has no ${method} ${path}`)
  return found
}

/** @returns the id */
async function registered(url: string, events: readonly EventType[]): Promise<string> {
  const answer = await api.post('/webhooks', { url, events })
  return webhookWithSecretSchema.parse(answer.json).id
}

/** Of what is POSTed to webhooks, by its type. */
function messageValidator(type: string): ValidateFunction {
  const { schema } = document.webhooks[type]?.post.requestBody?.content['application/json'] ?? {}
  if (schema === undefined) throw new Error(`the document has no message ${type}`)
  return compile(schema)
}

/** What of the answer is not as the document says; empty when all is. */
function deviations(path: string, method: string, answer: Answer): unknown[] {
  const response = operation(path, method).responses[String(answer.status)]
  if (response === undefined) return [`status ${answer.status} is not described`]
  const missing = Object.keys(response.headers)
    .filter((name) => name !== 'Idempotency-Replayed' && answer.headers[name.toLowerCase()] === undefined)
    .map((name) => `header ${name} is missing`)
  if (response.content === undefined && answer.text === '') return missing
  const type = String(answer.headers['content-type']).split(';')[0] ?? ''
  const described = response.content?.[type]
  if (described === undefined) return [`content type ${type} is not described`]
  const validate = compile(described.schema)
  return validate(answer.json) ? missing : [...missing, ...(validate.errors ?? [])]
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...structuredClone(document) })
    expect(result).toEqual({ valid: true })
  })

  test('describes the six endpoints, and beside them extensions that are marked as such', () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, described]) => ({
        name: `${method.toUpperCase()} ${path}`,
        isExtension: described['x-extension'] === true,
        says: described.description?.startsWith("An extension: not in the API's document.") === true,
      })),
    )
    expect(described.filter(({ isExtension, says }) => isExtension !== says)).toEqual([])
    const names = Map.groupBy(described, ({ isExtension }) => isExtension)
    expect(names.get(false)?.map(({ name }) => name)).toEqual([
      `GET ${PATHS.leads}`,
      `GET ${PATHS.lead.replace(':id', '{id}')}`,
      `POST ${PATHS.pipelines}`,
      `GET ${PATHS.pipelineStats.replace(':id', '{id}')}`,
      `POST ${PATHS.webhooks}`,
      `GET ${PATHS.agents}`,
    ])
    expect(names.get(true)?.map(({ name }) => name)).toEqual([
      `GET ${PATHS.webhooks}`,
      'GET /api/v1/webhooks/{id}',
      'DELETE /api/v1/webhooks/{id}',
      'GET /api/v1/webhooks/{id}/attempts',
      'POST /api/v1/webhooks/{id}/rotate',
      'POST /api/v1/webhooks/{id}/test',
      'POST /api/v1/webhooks/{id}/enable',
    ])
  })

  test('names every parameter of the list, with what it takes', () => {
    const { parameters } = operation(PATHS.leads, 'get')
    expect(parameters.map((parameter) => parameter.name)).toEqual([
      'pipeline_id',
      'status',
      'updated_since',
      'created_since',
      'min_score',
      'q',
      'sort',
      'limit',
      'cursor',
    ])
    expect(parameters.find((parameter) => parameter.name === 'limit')?.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
    })
  })

  test('describes each message that a webhook is sent, with the headers that sign it', () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES, PING_TYPE])
    for (const { post } of Object.values(document.webhooks)) {
      expect(post.parameters.map(({ $ref }) => $ref)).toEqual([
        '#/components/parameters/webhook-id',
        '#/components/parameters/webhook-timestamp',
        '#/components/parameters/webhook-signature',
      ])
      expect(Object.keys(post.responses)).toEqual(['410', '429', '503', '2XX', 'default'])
    }
  })

  test('has each problem code that an operation can answer with', () => {
    const text = JSON.stringify(document.paths)
    const absent = Object.keys(PROBLEMS).filter((code) => !text.includes(`\`${code}\``))
    // Refused before any operation is chosen.
    expect(absent).toEqual(['method_not_allowed'])
  })

  test('defines each schema, and refers to none that it lacks', () => {
    const { schemas } = document.components
    for (const [name, schema] of Object.entries(schemas)) {
      expect(Object.keys(schema), name).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(type|oneOf)$/)]),
      )
    }
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    )
    expect(new Set(names)).toEqual(new Set(Object.keys(schemas)))
  })

  test('takes defaults as optional in a request and as given in an answer', () => {
    const { CriteriaInput, Criteria } = document.components.schemas
    expect(CriteriaInput).not.toHaveProperty('required')
    expect(Criteria).toHaveProperty('required', ['industries', 'regions', 'countries', 'keywords'])
  })
})

/** Asks about a webhook, and compares the answer with the document. */
async function askAbout(method: 'GET' | 'POST' | 'DELETE', path: string, id: string, key = api.writeKey) {
  const authorization = `Bearer ${key}`
  const answer = await api.get(`/webhooks${path.replace('{id}', id)}`, { method, authorization })
  const found = deviations(`${PATHS.webhooks}${path}`, method.toLowerCase(), answer)
  return { status: answer.status, deviations: found }
}

describe('an answer is as the document says', () => {
  const asReader = () => ({ authorization: `Bearer ${api.readKey}` })
  const asXml = { headers: { 'content-type': 'text/xml' } }

  test.each([
    ...['', '?limit=1000', '?status=won', '?pipeline_id=none', '?sort=-score'].map(
      (query) => [PATHS.leads, query] as const,
    ),
    [PATHS.agents, ''],
    ['/api/v1/pipelines/{id}/stats', ''],
    ['/api/v1/pipelines/{id}/stats', '?from=2026-11-01T00:00:00Z&to=2026-11-08T00:00:00Z'],
  ] as const)('GET %s%s', async (path, query) => {
    const answer = await api.get(path.replace('/api/v1', '').replace('{id}', 'pl_emea') + query)
    expect(answer.status).toBe(200)
    expect(deviations(path, 'get', answer)).toEqual([])
  })

  test('GET a lead of each status', async () => {
    const leads = await api.walk('limit=1000')
    const byStatus = Map.groupBy(leads, (lead) => lead.status)
    expect(byStatus.size).toBe(9)
    for (const [lead] of byStatus.values()) {
      const answer = await api.get(`/leads/${lead?.id}`)
      expect(deviations('/api/v1/leads/{id}', 'get', answer)).toEqual([])
    }
  })

  test.each([
    [PATHS.pipelines, { name: 'P', criteria: { employees: { min: 1 }, limit: 3 } }],
    [PATHS.webhooks, { url: 'http://127.0.0.1:65535/', events: ['lead.created'] }],
  ])('POST %s', async (path, body) => {
    const validate = compile(operation(path, 'post').requestBody?.content['application/json']?.schema ?? {})
    expect([validate(body), validate.errors]).toEqual([true, null])
    const answer = await api.post(path.replace('/api/v1', ''), body)
    expect(answer.status).toBe(201)
    expect(deviations(path, 'post', answer)).toEqual([])
  })

  test.each([
    ['GET', '/{id}'],
    ['GET', '/{id}/attempts'],
    ['POST', '/{id}/rotate'],
    ['POST', '/{id}/test'],
    ['POST', '/{id}/enable'],
    ['DELETE', '/{id}'],
  ] as const)('%s /api/v1/webhooks%s', async (method, path) => {
    const id = await registered(receiver.url, ['agent.status_changed'])
    await askAbout('POST', '/{id}/test', id)
    const asked = [
      await askAbout(method, path, 'none'),
      await askAbout(method, path, id, 'lsk_none'),
      ...(method === 'GET' ? [] : [await askAbout(method, path, id, api.readKey)]),
      await askAbout(method, path, id),
    ]
    const success = method === 'DELETE' ? 204 : 200
    const statuses = method === 'GET' ? [404, 401, success] : [404, 401, 403, success]
    expect(asked).toEqual(statuses.map((status) => ({ status, deviations: [] })))
  })

  test('GET /api/v1/webhooks, of one that is disabled, and what failed there', async () => {
    const id = await registered(receiver.url, ['agent.status_changed'])
    receiver.answer = 410
    expect(await askAbout('POST', '/{id}/test', id)).toEqual({ status: 200, deviations: [] })
    receiver.answer = 200
    expect(await askAbout('GET', '/{id}/attempts', id)).toEqual({ status: 200, deviations: [] })
    const answer = await api.get('/webhooks')
    expect(deviations(PATHS.webhooks, 'get', answer)).toEqual([])
    expect(answer.text).toContain('"disabled_reason":"gone"')
  })

  test.each<readonly [string, string, string, () => Promise<Answer>]>([
    ['400', 'get', PATHS.leads, () => api.get('/leads?limit=0')],
    ['400', 'get', PATHS.leads, () => api.get('/leads?cursor=0')],
    ['401', 'get', PATHS.leads, () => api.get('/leads', { authorization: null })],
    ['404', 'get', '/api/v1/leads/{id}', () => api.get('/leads/none')],
    ['404', 'get', '/api/v1/pipelines/{id}/stats', () => api.get('/pipelines/none/stats')],
    ['400', 'post', PATHS.pipelines, () => api.post('/pipelines', {})],
    ['403', 'post', PATHS.pipelines, () => api.post('/pipelines', {}, asReader())],
    ['413', 'post', PATHS.webhooks, () => api.post('/webhooks', 'x'.repeat(300_000))],
    ['415', 'post', PATHS.webhooks, () => api.post('/webhooks', 'x', asXml)],
  ])('problem %s of %s %s', async (status, method, path, provoke) => {
    const answer = await provoke()
    expect(String(answer.status)).toBe(status)
    expect(deviations(path, method, answer)).toEqual([])
  })

  test('problem 429', async () => {
    await using limited = await startService({ historyDays: 1, rateLimitPerMinute: 0 })
    expect(deviations(PATHS.agents, 'get', await limited.get('/agents/status'))).toEqual([])
  })

  test('and a deviation would be seen', async () => {
    const answer = await api.get('/leads?limit=1')
    const { data, page } = await api.leads('limit=1')
    const wrong = (json: unknown): unknown[] => deviations(PATHS.leads, 'get', { ...answer, json })
    expect(wrong({ data, page })).toEqual([])
    expect(wrong({ data: [{ ...data[0], id: 1 }], page })).toHaveLength(1)
    expect(wrong({ data: [{ ...data[0], updated_at: 'today' }], page })).toHaveLength(1)
    expect(wrong({ data })).toHaveLength(1)
    const headers = { ...answer.headers, 'ratelimit-reset': undefined }
    expect(deviations(PATHS.leads, 'get', { ...answer, headers })).toEqual([
      'header RateLimit-Reset is missing',
    ])
  })
})

test('the recorded events are as the document says a webhook receives them', () => {
  const rows = api.rows<{ id: number; type: string; at: number; data: string }>(
    'select id, type, at, data from event',
  )
  expect(rows.length).toBeGreaterThan(1000)
  for (const [type, own] of Map.groupBy(rows, (row) => row.type)) {
    const validate = messageValidator(type)
    for (const { id, at, data } of own) {
      validate({
        ...{ id: `evt_${id}`, type, version: EVENT_VERSION, timestamp: new Date(at).toISOString() },
        data: JSON.parse(data),
      })
      expect(validate.errors).toBeNull()
    }
  }
})

test('what a webhook is sent is as the document says, of every type', async () => {
  await using own = await openReceiver()
  const types = () => new Set(own.posts.map(({ body }) => JSON.parse(body).type))
  const rare = ['lead.removed', 'agent.status_changed'] as const
  const frequent = EVENT_TYPES.filter((type) => !rare.some((one) => one === type))
  const id = await registered(own.url, frequent)
  await askAbout('POST', '/{id}/test', id)
  await api.post('/pipelines', { name: 'Two', criteria: { limit: 2 } })
  await api.pass(6 * HOUR_MS)
  await vi.waitFor(() => expect(types()).toEqual(new Set([...frequent, PING_TYPE])), LONG)
  await askAbout('DELETE', '/{id}', id)
  await registered(own.url, rare)
  await api.pass(14 * DAY_MS)
  await vi.waitFor(() => expect(types()).toEqual(new Set([...EVENT_TYPES, PING_TYPE])), LONG)
  const headers = compile({ type: 'object', ...headersOf(document.components.parameters) })
  const validators = new Map([...types()].map((type) => [type, messageValidator(type)]))
  for (const post of own.posts) {
    const message = JSON.parse(post.body)
    const validate = validators.get(message.type)
    expect([validate?.(message), validate?.errors]).toEqual([true, null])
    const timestamp = Number(post.headers['webhook-timestamp'])
    headers({ ...post.headers, 'webhook-timestamp': timestamp })
    expect(headers.errors).toBeNull()
  }
})

/** Of headers that are described as parameters, as those of an object. */
function headersOf(parameters: Document['components']['parameters']): object {
  const properties = Object.entries(parameters).map(([name, { schema }]) => [name, schema])
  return { properties: Object.fromEntries(properties), required: Object.keys(parameters) }
}

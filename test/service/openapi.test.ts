/** The OpenAPI document: valid in itself, and true of what the service answers. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATHS } from '../../src/contract/paths.ts'
import { PROBLEMS } from '../../src/contract/problem.ts'
import { EVENT_VERSION } from '../../src/contract/webhook.ts'
import { type Answer, startService, type TestService } from './support/service.ts'

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly 'x-extension'?: boolean
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly headers: Headers; readonly content: Content }>>
}
type Content = Readonly<Record<string, { readonly schema: object }>>
type Headers = Readonly<Record<string, { readonly $ref: string }>>

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: { readonly event: { readonly post: Operation } }
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const DOCUMENT = 'https://service.example/openapi.json'

let api: TestService
let document: Document
let ajv: Ajv2020
beforeAll(async () => {
  api = await startService({ historyDays: 30 })
  document = (await api.get('/openapi.json', { authorization: null })).json as Document
  ajv = new Ajv2020({ allErrors: true, strictTypes: false })
  addFormats.default(ajv)
  ajv.addSchema(withRefs({ $id: DOCUMENT, $defs: document.components.schemas }))
})
afterAll(() => api[Symbol.asyncDispose]())

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

/** What of the answer is not as the document says; empty when all is. */
function deviations(path: string, method: string, answer: Answer): unknown[] {
  const response = operation(path, method).responses[String(answer.status)]
  if (response === undefined) return [`status ${answer.status} is not described`]
  const type = String(answer.headers['content-type']).split(';')[0] ?? ''
  const described = response.content[type]
  if (described === undefined) return [`content type ${type} is not described`]
  const missing = Object.keys(response.headers)
    .filter((name) => name !== 'Idempotency-Replayed' && answer.headers[name.toLowerCase()] === undefined)
    .map((name) => `header ${name} is missing`)
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
    [PATHS.webhooks, { url: 'https://a.example', events: ['lead.created'] }],
  ])('POST %s', async (path, body) => {
    const validate = compile(operation(path, 'post').requestBody?.content['application/json']?.schema ?? {})
    expect([validate(body), validate.errors]).toEqual([true, null])
    const answer = await api.post(path.replace('/api/v1', ''), body)
    expect(answer.status).toBe(201)
    expect(deviations(path, 'post', answer)).toEqual([])
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
  const { schema } = document.webhooks.event.post.requestBody?.content['application/json'] ?? {}
  const validate = compile(schema ?? {})
  const rows = api.rows<{ id: number; type: string; at: number; data: string }>(
    'select id, type, at, data from event',
  )
  expect(rows.length).toBeGreaterThan(1000)
  for (const { id, type, at, data } of rows) {
    validate({
      ...{ id: `evt_${id}`, type, version: EVENT_VERSION, timestamp: new Date(at).toISOString() },
      data: JSON.parse(data),
    })
    expect(validate.errors).toBeNull()
  }
})

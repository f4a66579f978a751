/** The OpenAPI document is valid and complete. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATHS, PROBLEMS } from '../../../src/contract/api.ts'
import { EVENT_TYPES, PING_TYPE } from '../../../src/contract/webhook.ts'
import { type Described, readDescription } from '../support/openapi.ts'
import { startService, type TestService } from '../support/service.ts'

let api: TestService
let described: Described
beforeAll(async () => {
  api = await startService({ historyDays: 1 })
  described = await readDescription(api)
})
afterAll(() => api[Symbol.asyncDispose]())

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...structuredClone(described.document) })
    expect(result).toEqual({ valid: true })
  })

  test('describes the six endpoints, and beside them extensions that are marked as such', () => {
    const endpoints = Object.entries(described.document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        isExtension: operation['x-extension'] === true,
        says: operation.description?.startsWith("An extension: not in the API's document.") === true,
      })),
    )
    expect(endpoints.filter(({ isExtension, says }) => isExtension !== says)).toEqual([])
    const names = Map.groupBy(endpoints, ({ isExtension }) => isExtension)
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
    const { parameters } = described.operation(PATHS.leads, 'get')
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
    expect(Object.keys(described.document.webhooks)).toEqual([...EVENT_TYPES, PING_TYPE])
    for (const { post } of Object.values(described.document.webhooks)) {
      expect(post.parameters.map(({ $ref }) => $ref)).toEqual([
        '#/components/parameters/webhook-id',
        '#/components/parameters/webhook-timestamp',
        '#/components/parameters/webhook-signature',
      ])
      expect(Object.keys(post.responses)).toEqual(['410', '429', '503', '2XX', 'default'])
    }
  })

  test('has each problem code that an operation can answer with', () => {
    const text = JSON.stringify(described.document.paths)
    const absent = Object.keys(PROBLEMS).filter((code) => !text.includes(`\`${code}\``))
    // This request is refused before an operation is chosen.
    expect(absent).toEqual(['method_not_allowed'])
  })

  test('defines each schema, and refers to none that it lacks', () => {
    const { schemas } = described.document.components
    for (const [name, schema] of Object.entries(schemas)) {
      expect(Object.keys(schema), name).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(type|oneOf)$/)]),
      )
    }
    const names = [...JSON.stringify(described.document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    )
    expect(new Set(names)).toEqual(new Set(Object.keys(schemas)))
  })

  test('takes defaults as optional in a request and as given in an answer', () => {
    const { CriteriaInput, Criteria } = described.document.components.schemas
    expect(CriteriaInput).not.toHaveProperty('required')
    expect(Criteria).toHaveProperty('required', ['industries', 'regions', 'countries', 'keywords'])
  })
})

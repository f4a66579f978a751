/** Compares the answers and messages of a service in a test with its OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Answer, TestService } from './service.ts'

export interface Operation {
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

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly parameters: Readonly<Record<string, { readonly schema: object }>>
  }
}

export interface Described {
  readonly document: Document
  operation(path: string, method: string): Operation
  /** Returns the validator of a schema of the document. */
  validator(schema: object): ValidateFunction
  /** Returns the validator of the messages of a type that are sent to webhooks. */
  messageValidator(type: string): ValidateFunction
  /** Lists the deviations of an answer from the document; empty if there are none. */
  deviations(path: string, method: string, answer: Answer): readonly unknown[]
}

const DOCUMENT = 'https://service.example/openapi.json'

export async function readDescription(api: TestService): Promise<Described> {
  const document = (await api.get('/openapi.json', { authorization: null })).json as Document
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false })
  addFormats.default(ajv)
  ajv.addSchema(withRefs({ $id: DOCUMENT, $defs: document.components.schemas }))

  const validator: Described['validator'] = (schema) => ajv.compile(withRefs(schema))

  const operation: Described['operation'] = (path, method) => {
    const found = document.paths[path]?.[method]
    if (found === undefined) throw new Error(`the document has no ${method} ${path}`)
    return found
  }

  return {
    document,
    operation,
    validator,
    messageValidator: (type) => {
      const { schema } = document.webhooks[type]?.post.requestBody?.content['application/json'] ?? {}
      if (schema === undefined) throw new Error(`the document has no message ${type}`)
      return validator(schema)
    },
    deviations: (path, method, answer) => {
      const response = operation(path, method).responses[String(answer.status)]
      if (response === undefined) return [`status ${answer.status} is not described`]
      const missing = Object.keys(response.headers)
        .filter((name) => name !== 'Idempotency-Replayed' && answer.headers[name.toLowerCase()] === undefined)
        .map((name) => `header ${name} is missing`)
      if (response.content === undefined && answer.text === '') return missing
      const type = String(answer.headers['content-type']).split(';')[0] ?? ''
      const described = response.content?.[type]
      if (described === undefined) return [`content type ${type} is not described`]
      const validate = validator(described.schema)
      return validate(answer.json) ? missing : [...missing, ...(validate.errors ?? [])]
    },
  }
}

/** Rewrites the document's references for ajv. */
function withRefs(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${DOCUMENT}#/$defs/`))
}

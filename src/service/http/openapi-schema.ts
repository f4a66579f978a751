/** The schemas of the OpenAPI document: zod's JSON Schema, with each named schema once. */
import { z } from 'zod'

export type Json = Record<string, unknown>

export type Direction = 'input' | 'output'

/**
 * The named schemas of the document. A schema that differs as an input (defaults) gets the suffix `Input`.
 */
export class Components {
  readonly schemas: Record<string, Json> = {}

  /** Adds the schema with all that it refers to, and returns a reference to it. */
  refer(schema: z.ZodType, direction: Direction): Json {
    const id = z.globalRegistry.get(schema)?.id
    if (id === undefined) throw new TypeError('a schema of the document has no id')
    // The array makes zod put the schema's definition among those that it refers to.
    const { $defs } = toSchema(z.array(schema), direction) as { $defs: Record<string, Json> }
    for (const [name, definition] of Object.entries($defs)) {
      this.schemas[componentName(name, direction)] = pointToComponents(definition, direction)
    }
    return { $ref: `#/components/schemas/${componentName(id, direction)}` }
  }
}

function componentName(id: string, direction: Direction): string {
  return direction === 'input' && !id.endsWith('Create') ? `${id}Input` : id
}

function pointToComponents(schema: Json, direction: Direction): Json {
  const text = JSON.stringify(schema, (key, value) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  )
  return JSON.parse(
    text.replace(/"#\/\$defs\/(\w+)"/g, (_, id) => `"#/components/schemas/${componentName(id, direction)}"`),
  )
}

/** Writes a zod schema as JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export function toSchema(schema: z.ZodType, direction: Direction): Json {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: direction,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema),
  })
  return described
}

/** Removes empty statements, and closes only strict objects, because an answer may gain fields. */
function tidy({ _zod: { def } }: z.core.$ZodTypes, schema: z.core.JSONSchema.BaseSchema): void {
  if (def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties
  // The format says enough; zod's pattern for it is half a page.
  if (schema.format === 'date-time' || schema.format === 'email') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

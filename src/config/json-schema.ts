/** The settings file as a JSON Schema: for editors, and for looking up what the schema knows of a setting. */
import { z } from 'zod'
import { isTree, type SettingPath } from './setting-path.ts'
import { settingsSchema } from './settings.ts'

/** The part of JSON Schema that is met here. */
export interface SettingSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, SettingSchema>>
  readonly items?: SettingSchema
  /** Where a value may be of several kinds, such as a text or a group. */
  readonly anyOf?: readonly SettingSchema[]
}

/** What `leadsheet config schema` prints and docs/leadsheet.schema.json holds. */
export function settingsJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(settingsSchema, {
    io: 'input',
    // A group may be empty: all of its settings are optional.
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === 'object' && jsonSchema.required === undefined) {
        Object.assign(jsonSchema, { type: ['object', 'null'] })
      }
      if (isTree(jsonSchema.default)) delete jsonSchema.default
    },
  })
  return { $schema, title: 'Settings of leadsheet', ...schema }
}

/** What is known of a setting; undefined when there is none of that name. */
export function schemaAt(path: SettingPath): SettingSchema | undefined {
  return path.reduce<SettingSchema | undefined>((schema, key) => {
    const kinds = [schema, ...(schema?.anyOf ?? [])]
    const inner = kinds.map((kind) => (typeof key === 'number' ? kind?.items : kind?.properties?.[key]))
    return inner.find((found) => found !== undefined)
  }, settingsJsonSchema())
}

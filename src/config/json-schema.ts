/** The settings file as a JSON Schema: for editors, and for looking up what the schema knows of a setting. */
import { z } from 'zod'
import { type SettingPath, valueAt } from './setting-path.ts'
import { settingsSchema } from './settings.ts'

/** The part of JSON Schema that is met here. */
export interface SettingSchema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, SettingSchema>>
  readonly items?: SettingSchema
}

/** What `leadsheet config schema` prints and docs/leadsheet.schema.json holds. */
export function settingsJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(settingsSchema, { io: 'input' })
  return { $schema, title: 'Settings of leadsheet', ...schema }
}

/** What is known of a setting; undefined when there is none of that name. */
export function schemaAt(path: SettingPath): SettingSchema | undefined {
  const inSchema = path.flatMap((key) => (typeof key === 'number' ? ['items'] : ['properties', key]))
  return valueAt(settingsJsonSchema(), inSchema) as SettingSchema | undefined
}

/** Names of the program are in camelCase; those of settings, columns and JSON are in snake_case. */

export type CamelCase<S> = S extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : S
type SnakeName<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeName<Rest>}`
  : S

/** An object whose own names are in camelCase. */
export type InCamelCase<T> = { readonly [Name in keyof T as CamelCase<Name>]: T[Name] }
/** An object whose own names are in snake_case. */
export type SnakeCase<T> = { readonly [Name in keyof T as SnakeName<Name & string>]: T[Name] }

export function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Converts `maxMb` to `max_mb`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function inCamelCase<T extends object>(values: T): InCamelCase<T> {
  const entries = Object.entries(values).map(([name, value]) => [camelCase(name), value])
  return Object.fromEntries(entries) as InCamelCase<T>
}

export function inSnakeCase<T extends object>(values: T): SnakeCase<T> {
  const entries = Object.entries(values).map(([name, value]) => [snakeCase(name), value])
  return Object.fromEntries(entries) as SnakeCase<T>
}

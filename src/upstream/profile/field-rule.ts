/**
 * Says where a record has a field and how it is converted. An unreadable value becomes null, never a wrong
 * type.
 */
import { z } from 'zod'
import { type FieldPath, fieldPathSchema, pathText, readPath, splitPath } from '../values/json.ts'
import { cleanText, escapeId, isBlank, toInstant, toNumber } from '../values/scalar.ts'
import { group } from './profile-mistakes.ts'

/** The place of a value in an answer or a webhook request: a path in the body, or a header. */
export const placeSchema = z.union([
  fieldPathSchema.transform((path) => ({ path })),
  group({ header: z.string().min(1) }),
])

export const TRANSFORMS = ['lower', 'trim', 'first', 'join', 'domain', 'count'] as const
type Transform = (typeof TRANSFORMS)[number]
const NOWHERE: readonly FieldPath[] = []

/** The parts of a rule, which the declared fields of a profile share. */
export const ruleParts = {
  /** The paths to look at, in this order. The first value that is not null or false is used. */
  from: z
    .union([z.string().transform((path) => [splitPath(path)]), z.array(fieldPathSchema).min(1)])
    .optional(),
  /** Several paths whose values become one list, without absent values. `join` turns the list into a text. */
  all: z.array(fieldPathSchema).min(1).optional(),
  transform: z.union([z.enum(TRANSFORMS).transform((one) => [one]), z.array(z.enum(TRANSFORMS))]).default([]),
  /** Maps values of the upstream to the values to store. A value that is not listed stays unchanged. */
  values: z.record(z.string(), z.string()).optional(),
  /** The decimal sign of a number that is sent as text. Without it, the sign is a point. */
  decimal: z.enum(['comma', 'point']).optional(),
  default: z.union([z.string(), z.number()]).optional(),
}
const full = group(ruleParts)

/** The short form is a path. A list of names is refused, because it could also mean several paths. */
export const fieldRuleSchema = z.union([
  z
    .union([z.string(), z.array(z.string().min(1))])
    .refine((path) => typeof path === 'string' || path.length < 2, { error: twoMeanings })
    .transform(
      (path): z.output<typeof full> => ({
        from: [typeof path === 'string' ? splitPath(path) : path],
        transform: [],
      }),
    ),
  full,
])
export type FieldRule = z.output<typeof full>

function twoMeanings({ input }: { input?: unknown }): string {
  const names = (input as readonly string[]).join(', ')
  return `a path: {from: [${names}]} takes the first of these that is there, ${pathText(input as FieldPath)} what is inside the other`
}

export function readField(record: unknown, rule: FieldRule | undefined): unknown {
  if (rule === undefined) return null
  let value: unknown = readFirst(record, rule.from) ?? readAll(record, rule.all) ?? rule.default ?? null
  for (const transform of rule.transform) value = applyTransform(value, transform)
  if (rule.values === undefined) return value
  const name = toText(value)
  // Looks only at the table's own names. Otherwise a status "constructor" would find an inherited property.
  return name !== null && Object.hasOwn(rule.values, name) ? rule.values[name] : value
}

/** Some servers, such as Odoo, write false for an empty field, so that a value at a later path comes first. */
function readFirst(record: unknown, paths: readonly FieldPath[] = NOWHERE): unknown {
  let first: unknown = null
  for (const path of paths) {
    const value = readPath(record, path) ?? null
    if (value !== null && value !== false) return value
    first ??= value
  }
  return first
}

function readAll(record: unknown, paths: readonly FieldPath[] = NOWHERE): readonly unknown[] | null {
  const values = paths.map((path) => readPath(record, path) ?? null).filter((value) => value !== null)
  return values.length === 0 ? null : values
}

export function readText(record: unknown, rule: FieldRule | undefined): string | null {
  return toText(readField(record, rule))
}

export function readNumber(record: unknown, rule: FieldRule | undefined): number | null {
  return toNumber(readField(record, rule), rule?.decimal)
}

export function readCount(record: unknown, rule: FieldRule | undefined): number | null {
  const number = readNumber(record, rule)
  return Number.isSafeInteger(number) ? number : null
}

export function readInstant(record: unknown, rule: FieldRule | undefined): string | null {
  return toInstant(readField(record, rule))
}

/** Returns a value as cleaned text; null for a list, an object, or a text in which nothing can be seen. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string') return isBlank(value) ? null : cleanText(value)
  return Number.isFinite(value) || typeof value === 'boolean' ? String(value) : null
}

/**
 * Null for a boolean, an empty text, a list or an object. Escaped and not cleaned, so that ids stay apart.
 */
export function toId(value: unknown): string | null {
  if (typeof value === 'string') return escapeId(value) || null
  return typeof value === 'boolean' ? null : toText(value)
}

function applyTransform(value: unknown, transform: Transform): unknown {
  switch (transform) {
    case 'lower':
      return typeof value === 'string' ? value.toLowerCase() : value
    case 'trim':
      return typeof value === 'string' ? value.trim() : value
    case 'first':
      return Array.isArray(value) ? (value[0] ?? null) : value
    case 'join':
      return Array.isArray(value)
        ? value
            .map(toText)
            .filter((text) => text !== null)
            .join(' ')
        : value
    case 'domain':
      return typeof value === 'string' ? domainOf(value) : value
    case 'count':
      return Array.isArray(value) ? value.length : value
  }
}

/** Turns `https://www.acme.com/about` into `acme.com`. */
function domainOf(value: string): string | null {
  const url = URL.parse(value.includes('://') ? value : `https://${value}`)
  return url?.hostname.replace(/^www\./, '') || null
}

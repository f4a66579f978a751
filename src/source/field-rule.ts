/**
 * How one field of the model is found in a record: one or several candidate places, a named transform, a table
 * of values. What cannot be read is null with a note, never the wrong type.
 */
import { z } from 'zod'
import { type FieldPath, fieldPathSchema, readPath, splitPath } from './field-path.ts'
import { toInstant } from './instant.ts'
import { toNumber } from './number.ts'
import { cleanText } from './text.ts'

export const TRANSFORMS = ['lower', 'trim', 'first', 'join', 'domain', 'count'] as const
type Transform = (typeof TRANSFORMS)[number]

const full = z.strictObject({
  /** Candidates; the first that is there and not null counts. */
  from: z
    .union([z.string().transform((path) => [splitPath(path)]), z.array(fieldPathSchema).min(1)])
    .optional(),
  /** Several places at once, as a list: for `join`. Those that are not there are left out. */
  all: z.array(fieldPathSchema).min(1).optional(),
  /** Applied in order. */
  transform: z.union([z.enum(TRANSFORMS).transform((one) => [one]), z.array(z.enum(TRANSFORMS))]).default([]),
  /** What upstream's values are called here; others stay as they are. */
  values: z.record(z.string(), z.string()).optional(),
  /** Where nothing was found. */
  default: z.union([z.string(), z.number()]).optional(),
})

/** A path alone is the short form. */
export const fieldRuleSchema = z.union([
  fieldPathSchema.transform((path) => full.parse({ from: [path] })),
  full,
])
export type FieldRule = z.output<typeof full>

/** What the rule finds in a record; null where there is nothing. */
export function readField(record: unknown, rule: FieldRule | undefined): unknown {
  if (rule === undefined) return null
  const found = readPlaces(record, rule.from)[0] ?? listOrNull(readPlaces(record, rule.all))
  const value = rule.transform.reduce(applyTransform, found ?? rule.default ?? null)
  const name = toText(value)
  // Only the table's own names: a value of "constructor" must not find what every object has.
  return name !== null && rule.values && Object.hasOwn(rule.values, name) ? rule.values[name] : value
}

function readPlaces(record: unknown, paths: readonly FieldPath[] = []): unknown[] {
  return paths.map((path) => readPath(record, path)).filter((value) => value !== undefined && value !== null)
}

function listOrNull(values: readonly unknown[]): readonly unknown[] | null {
  return values.length === 0 ? null : values
}

export function readText(record: unknown, rule: FieldRule | undefined): string | null {
  return toText(readField(record, rule))
}

/** Null where it is no number by the rules of {@link toNumber}. */
export function readNumber(record: unknown, rule: FieldRule | undefined): number | null {
  return toNumber(readField(record, rule))
}

/** Null where it is no whole number. */
export function readCount(record: unknown, rule: FieldRule | undefined): number | null {
  const number = readNumber(record, rule)
  return Number.isSafeInteger(number) ? number : null
}

/** Null where it is no instant by the rules of {@link toInstant}. */
export function readInstant(record: unknown, rule: FieldRule | undefined): string | null {
  return toInstant(readField(record, rule))
}

/** Identifiers and words, cleaned: numbers digit for digit, nothing else. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string') return cleanText(value) || null
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
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

/** `https://www.acme.com/about` -> `acme.com` */
function domainOf(value: string): string | null {
  const url = URL.parse(value.includes('://') ? value : `https://${value}`)
  return url?.hostname.replace(/^www\./, '') || null
}

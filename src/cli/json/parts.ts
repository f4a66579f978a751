/** Schemas of the parts that the `--json` output of several commands shares. */
import { z } from 'zod'
import type { Period } from '../../domain/model.ts'

export const text = z.string()
export const count = z.int()
export const flag = z.boolean()
/** An instant in UTC. */
export const instant = z.iso.datetime()
export const texts = z.array(text)
/** A record as the upstream sends it. */
export const record = z.unknown()

export const period = z
  .strictObject({ from: instant, to: instant.describe('the end, not included'), time_zone: text })
  .describe('the days that the report or the figures cover')

export function periodJson({ from, to, timeZone }: Period) {
  return { from, to, time_zone: timeZone }
}

export const leadCounts = z.strictObject({
  ...{ seen: count, inserted: count, updated: count, unchanged: count, deleted: count },
  quarantined: count.describe('records that could not be mapped'),
})

export const check = z.strictObject({
  what: text,
  status: z.enum(['ok', 'warn', 'fail']),
  found: text,
  remedy: text.nullable().describe('what to do; null if nothing is wrong'),
})

export const problem = z.strictObject({
  part: text.describe('leads, stats, agents or details'),
  code: text.describe('an error code'),
  message: text,
  hint: text.nullable(),
})

export const messageState = z.enum([
  'pending',
  'sending',
  'data',
  'sent',
  'failed',
  'unconfirmed',
  'withdrawn',
])

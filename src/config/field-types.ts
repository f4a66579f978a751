/**
 * The kinds of values that settings have. Each `error` names the accepted values, worded to follow
 * "expected".
 */
import { z } from 'zod'
import { BLOCKS } from '../report/blocks/registry.ts'
import { isTree, valueAt } from './setting-path.ts'
import { ADDRESS, dateFault, isMailbox, localeFault, scheduleFault, timeZoneFault } from './validators.ts'

/** A text that passes a rule. The error names the accepted values, then the rule's reason. */
export function text(accepted: string, fault: (value: string) => string | null = () => null) {
  return z
    .string({ error: accepted })
    .trim()
    .min(1, { error: accepted, abort: true })
    .refine((value) => fault(value) === null, {
      error: (issue) => `${accepted}; ${fault(String(issue.input))}`,
    })
}

export function pattern(regex: RegExp, error: string) {
  return z.string({ error }).regex(regex, { error })
}

export function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/**
 * A list whose items differ. `key` names the part of a group that must differ. A repeated item is reported
 * beside other mistakes.
 */
export function listOf<T extends z.ZodType>(item: T, accepted: string, key?: string) {
  return z.array(item, { error: accepted }).superRefine(
    (items, context) => {
      const pathIn = (item: unknown) => (key !== undefined && isTree(item) ? [key] : [])
      const values = items.map((item) => valueAt(item, pathIn(item)))
      // Because mail servers ignore the case of an address.
      const compared = values.map((value) =>
        key === 'address' && typeof value === 'string' ? value.toLowerCase() : value,
      )
      for (const [index, input] of values.entries()) {
        if (input === undefined || compared.indexOf(compared[index]) === index) continue
        context.addIssue({
          code: 'custom',
          path: [index, ...pathIn(items[index])],
          message: 'each only once',
          input,
        })
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  )
}

export function section<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: 'a group of settings, indented below the name' })
}

export const path = text('a path')
export const schedule = text(
  'cron of five fields (minute hour day month weekday), or words such as "every weekday at 07:00"',
  scheduleFault,
)
export const timeZone = text('a time zone of the IANA database, such as Europe/Berlin', timeZoneFault)
export const locale = text('a locale such as en-GB or de-DE', localeFault)
export const date = text('a date such as 2026-12-25', dateFault)
export const slug = pattern(
  /^[a-z0-9]+(-[a-z0-9]+)*$/,
  'lower-case letters, digits and single hyphens, such as daily or weekly-emea',
)
export const address = pattern(ADDRESS, 'an e-mail address, such as ana@example.com')
export const mailbox = text('an e-mail address, or Name <address>', (value) =>
  isMailbox(value) ? null : 'this is neither',
)
export const pipelineIds = listOf(text('the id of a pipeline'), 'a list of pipeline ids')
export const blocks = listOf(
  z.enum(BLOCKS, { error: `one of ${BLOCKS.join(', ')}` }),
  'a list of blocks',
).min(1, { error: 'at least one block' })

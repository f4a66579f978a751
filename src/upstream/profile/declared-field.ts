/**
 * The part `fields` of a profile: the fields of the records that become columns of the snapshot, each under a
 * stable name. A name maps to a path, which is a text then, or to a rule with a type.
 */
import { z } from 'zod'
import { type DeclaredField, FIELD_NAME, FIELD_TYPES, TAKEN_NAMES } from '../../domain/declared-fields.ts'
import type { FieldPath } from '../values/json.ts'
import { type FieldRule, ruleParts } from './field-rule.ts'
import { group } from './profile-mistakes.ts'

/** SQLite allows 2,000 columns, and the view `lead_now` has others too. */
const FIELDS_MAX = 1000

export interface FieldDeclaration extends DeclaredField {
  readonly rule: FieldRule
  /** The name of a group and the path in it, if the rule is no more than a path into a group. */
  readonly member: { readonly group: string; readonly path: FieldPath } | null
}

const declaration = group({
  ...ruleParts,
  type: z.enum(FIELD_TYPES).default('text'),
  /** Becomes the meaning of the column in the dictionary, so it is one line. */
  meaning: z
    .string()
    .regex(/^[^\p{Cc}]{1,300}$/u, { error: 'one line of at most 300 characters' })
    .optional(),
  /** Marks personal data: the dictionary says so, and no value of it is quoted anywhere. */
  personal: z.boolean().default(false),
  /** Keeps each change of the value in the table `field_change`. */
  history: z.boolean().default(false),
})

const shortForm = z
  .string()
  .min(1)
  .transform((path) => declaration.parse({ from: path }))

export const declaredFieldsSchema = z
  .record(z.string(), z.union([shortForm, declaration]))
  .superRefine((fields, context) => {
    const names = Object.keys(fields)
    const refuse = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    for (const name of names) {
      if (TAKEN_NAMES.has(name)) refuse(name, `another name, because leads have a column ${name} already`)
      else if (!FIELD_NAME.test(name))
        refuse(name, 'a name of small letters, digits and _ that begins with a letter, such as deal_size')
    }
    const [last] = names.slice(FIELDS_MAX)
    if (last !== undefined) refuse(last, `at most ${FIELDS_MAX} fields`)
  })
  .transform((fields) =>
    Object.entries(fields).map(
      ([name, { type, meaning = null, personal, history, ...rule }]): FieldDeclaration => ({
        name,
        type,
        meaning,
        isPersonal: personal,
        hasHistory: history,
        rule,
        member: memberOf(rule),
      }),
    ),
  )

function memberOf({ from = [], ...rule }: FieldRule): FieldDeclaration['member'] {
  const [[group, ...path] = [], ...others] = from
  const { all, values, default: otherwise, transform } = rule
  const isMore = [all, values, otherwise].some((part) => part !== undefined) || transform.length > 0
  if (isMore || others.length > 0 || group === undefined || path.length === 0) return null
  return { group, path }
}

/** Writes the rules as JSON, which the store keeps to see whether they have changed. */
export function ruledFieldsOf({ fields }: { readonly fields: readonly FieldDeclaration[] }) {
  return fields.map(({ member: _, ...field }) => ({ ...field, rule: JSON.stringify(field.rule) }))
}

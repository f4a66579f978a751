/** The schema of recipients and of what each of them gets; as settings, and row by row in a CSV file. */
import { z } from 'zod'
import { ATTACHED_FORMATS, FILTER_COLUMNS, type FilterColumn } from '../domain/choices.ts'
import { attachmentFault } from './rules.ts'
import { address, blocks, listOf, locale, pipelineIds, section, text, timeZone } from './value-kinds.ts'

const number = z.number({ error: 'a number' })
const bounds = section({
  min: number.optional().meta({ description: 'The least, included.' }),
  max: number.optional().meta({ description: 'The most, included.' }),
}).refine(({ min, max }) => (min ?? max) !== undefined && (min ?? -Infinity) <= (max ?? Infinity), {
  error: 'min, max, or both with min not above max',
})
const texts = listOf(text('a text'), 'a list of texts').min(1, { error: 'at least one text' })

type ConditionSettings = z.output<typeof bounds> | z.output<typeof texts>

function conditionOn([column, kind]: [string, string]): [string, z.ZodType] {
  const description =
    kind === 'number'
      ? `Only leads whose ${column} is within these bounds.`
      : `Only leads with one of these as ${column}.`
  return [column, (kind === 'number' ? bounds : texts).optional().meta({ description })]
}

export const filterSchema = section({
  pipelines: pipelineIds.optional().meta({ description: 'Only leads of these pipelines.' }),
  ...(Object.fromEntries(Object.entries(FILTER_COLUMNS).map(conditionOn)) as Record<
    FilterColumn,
    z.ZodOptional<z.ZodType<ConditionSettings>>
  >),
})
export type FilterSettings = z.output<typeof filterSchema>

export const attachments = listOf(
  text(`charts, or a list or query with .${ATTACHED_FORMATS.join(' or .')}`, attachmentFault),
  'a list of files, such as [stalled.xlsx]',
)

const recipientSchema = section({
  address: address.meta({ description: 'The e-mail address.' }),
  name: text('a name without < > " or line breaks', (name) =>
    /[<>"\p{Cc}]/u.test(name) ? 'it holds such a character' : null,
  )
    .optional()
    .meta({ description: 'Who that is.' }),
  locale: locale.optional().meta({
    description: 'Language, and number and date formats; those of the report if absent.',
  }),
  time_zone: timeZone.optional().meta({
    description: 'Zone in which times are told; the days stay those of the report.',
  }),
  filter: filterSchema.optional().meta({
    description: 'Only these leads, of those that the report is about.',
  }),
  blocks: blocks.optional().meta({ description: 'Only these blocks, in this order.' }),
  attachments: attachments.optional().meta({
    description: 'Files that come with it, in place of those of the report.',
  }),
})

export const recipients = listOf(
  z.union([address, recipientSchema], { error: 'an e-mail address, or a group that begins with one' }),
  'a list of e-mail addresses',
  'address',
)
export type RecipientSettings = z.output<typeof recipients>[number]

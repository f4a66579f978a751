/**
 * Leads with no known fields, made from the rows of LEAD_FIELDS. A test names only the fields that it is
 * about.
 */
import {
  fieldsWith,
  LEAD_FIELDS,
  type LeadColumns,
  type LeadValues,
  LISTED_FIELDS,
} from '../../../src/domain/lead-fields.ts'
import type { TrackedColumn } from '../../../src/store/tables/tables.ts'

const blank = (names: readonly string[]): unknown => Object.fromEntries(names.map((name) => [name, null]))

export const BLANK_LEAD = {
  ...(blank(LEAD_FIELDS.map(({ name }) => name)) as LeadValues),
  tags: [],
  fields: null,
}
export const BLANK_LISTED = blank(LISTED_FIELDS) as Pick<LeadValues, (typeof LISTED_FIELDS)[number]>
export const BLANK_STATE = blank(fieldsWith('hasHistory').map(({ column }) => column)) as Pick<
  LeadColumns,
  TrackedColumn
>

/** The columns that the probe proposes for the fields that the mapping does not read. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { fieldNameOf, proposeFields } from '../../src/probe/field-proposals.ts'
import { declaredFieldsSchema } from '../../src/upstream/profile/declared-field.ts'
import { splitPath } from '../../src/upstream/values/json.ts'

test.each([
  ['customFields.Deal Size', 'deal_size'],
  ['properties.hs_lead_status', 'hs_lead_status'],
  ['contacts[0].email', 'contacts_email'],
  ['CustomFields[name=Budget (EUR)].value', 'budget_eur'],
  ['expectedCloseDate', 'expected_close_date'],
  ['Prénom', 'prenom'],
  ['2fa', 'field_2fa'],
  ['スコア', 'field'],
  ['fields', 'fields'],
  [`custom.${'long name '.repeat(20)}`, 'long_name_long_name_long_name_long_name_long_name'],
])('the name of the path %s is %s', (path, name) => {
  expect(fieldNameOf(splitPath(path))).toBe(name)
})

describe('a proposal', () => {
  const RECORDS = [
    {
      id: 1,
      size: 1.5,
      count: 3,
      hot: true,
      since: '2026-11-20T10:00:00Z',
      due: '2026-11-20',
      zip_code: '01234',
      Phone: '+49 170 1234567',
      memo: 'call ana@example.com',
      tags: ['a'],
      none: null,
      status: 'x',
      data: { status: 'y', deep: { est: 'a:\tb # c' } },
      contacts: [{ role: 'boss', email: 'ana@example.com' }],
      CustomFields: [
        { name: 'Budget', value: 5 },
        { name: 'Region', value: null },
      ],
      empty: [],
      'a.b': 1,
    },
    { id: 2, CustomFields: [{ name: 'Region', value: 'North' }], contacts: [] },
  ]
  const lines = proposeFields(RECORDS, new Set(['id']))

  test('has type, share, and an example unless it is personal', async () => {
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/proposals.txt')
  })

  test('names the items of lists by what tells them apart, and leaves out what a mapping reads', () => {
    const record = {
      emails: [{ label: 'work', value: 'ana@example.com' }],
      user_id: [7, 'Mia'],
      meta: [{ key: 'k', value: 1 }],
      custom_fields: [
        { id: 'a1', value: 2 },
        { id: 'a2', value: 3 },
      ],
    }
    expect(proposeFields([record], new Set(['emails.0.value', 'user_id.1']))).toEqual([
      'emails_label: { from: emails.0.label, type: text, personal: true } # in 1 of 1 records',
      'k: { from: "meta[key=k].value", type: integer } # 1',
      'a1: { from: "custom_fields[id=a1].value", type: integer } # 2',
      'a2: { from: "custom_fields[id=a2].value", type: integer } # 3',
    ])
  })

  test('is a part of a profile as it stands', () => {
    const fields = declaredFieldsSchema.parse(parse(lines.join('\n')))
    expect(fields).toHaveLength(lines.length)
  })
})

// @both-stores
/** Fields that the profile declares: their values, their history, and what follows a change of the profile. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { publishIfDue, publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { readFieldTable } from '../../../src/store/leads/declared-fields.ts'
import { mapFields } from '../../../src/upstream/mapping/field-mapping.ts'
import { declaredFieldsSchema } from '../../../src/upstream/profile/declared-field.ts'
import { type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { ask, publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { MAPPING, openListing, PAGE, paged, records } from '../../support/source/listing.ts'
import { type Story, tellSyncs } from '../../support/source/sync-stories.ts'

const NEVER = new AbortController().signal

function cellOf(type: string, value: unknown, rule: object = {}) {
  const fields = declaredFieldsSchema.parse({ x: { from: 'x', type, ...rule } })
  const mapped = mapFields({ x: value }, fields)
  return mapped?.unfit.length === 0 ? mapped.cells[0] : 'UNFIT'
}

/** Values of records, each of which has every type. */
const SENT = [
  ...['A', 12, true, false, 1, 1.5, 42, 42.5, Number.POSITIVE_INFINITY, '  ', '\u0000a', null, '', undefined],
  ...['1,234.50', 'n/a', '42', '9007199254740993', 'Yes', 'maybe', 'soon', ['a', { b: 1 }], { a: 1 }],
  ...['2026-11-20T10:00:00+02:00', '2026-11-20T23:30:00-05:00', '2026-11-20', '2026-11-31'],
  ...[1_795_168_800, 1_795_168_800_000, '0000-00-00 00:00:00'],
]
const TYPES = ['text', 'number', 'integer', 'boolean', 'time', 'date', 'json']

it('a value becomes a cell of the type of its field, or does not fit', async () => {
  const lines = SENT.map((value) => {
    const cells = TYPES.map((type) => `${type} ${inspect(cellOf(type, value))}`)
    return `${inspect(value)}: ${cells.join(', ')}`
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/field-values.txt')
})

describe('a value', () => {
  it('follows the rule of its field', () => {
    expect(cellOf('number', '1.234,5', { decimal: 'comma' })).toBe(1234.5)
    expect(cellOf('text', ['a', 'b'], { transform: 'join' })).toBe('a b')
    expect(cellOf('text', 3, { values: { 3: 'Gold' } })).toBe('Gold')
    expect(cellOf('text', null, { default: 'none' })).toBe('none')
  })

  it('is found in the first item of a list, and in the item that has a name', () => {
    const fields = declaredFieldsSchema.parse({
      email: 'contacts[0].email',
      second: 'contacts[1].email',
      budget: { from: 'CustomFields[name=Budget].value', type: 'number' },
      absent: 'CustomFields[name=Size].value',
      odd: 'contacts[x].email',
    })
    const record = { contacts: [{ email: 'a@b.c' }], CustomFields: [{ name: 'Budget', value: '5' }] }
    expect(mapFields(record, fields)?.cells).toEqual(['a@b.c', null, 5, null, null])
  })
})

it.each([
  [{ status: 'x' }, 'fields.status: found "x", expected another name, because leads have a column status'],
  [{ pipeline_name: 'x' }, 'because leads have a column pipeline_name already'],
  [{ 'Deal Size': 'x' }, 'expected a name of small letters, digits and _'],
  [{ a: { from: 'x', type: 'money' } }, 'fields.a.type: found "money", expected one of "text"|"number"'],
  [{ a: { from: 'x', kind: 'text' } }, 'p.yaml  fields.a.kind: there is no such part'],
  [{ a: { from: 'x', meaning: 'a\nb' } }, 'expected one line of at most 300 characters'],
])('the declaration %j is refused', (fields, message) => {
  expect(() =>
    parseProfile({ name: 'p', paging: { kind: 'none' }, mapping: MAPPING, fields }, 'p.yaml'),
  ).toThrow(message)
})

const SIZE = { from: 'size', type: 'integer' } as const
const KEPT = { ...SIZE, history: true } as const
const sized = (sizes: readonly unknown[], note = 'a', updated = '2026-11-01T00:00:00.000Z') => {
  const rows = records(2).map((row, index) => ({ ...row, size: sizes[index], note, updated }))
  return paged('page', rows)
}
const one = (updated: string, size: number) => paged('page', [{ id: 'a', updated, size }])
const RAW = records(2).map((row, index) => ({ ...row, a: `A${index}`, n: String(index), when: '2026-01-02' }))
/** A list that says nothing more, so that all values can come only from what is stored. */
const mapped = (fields: ProfileInput['fields']) => ({ answer: () => ({}), profile: { fields } })

const STORIES: readonly Story[] = [
  [
    'values that do not fit, whose records are not read again, and that fit then',
    { ...PAGE, fields: { size: { ...SIZE, type: 'number' } } },
    { answer: sized([0, 'large']), times: 2 },
    sized([5, 5]),
  ],
  [
    'a declared field alone has changed, under the same time of update, and then with another',
    { ...PAGE, fields: { size: KEPT, note: 'note' } },
    sized([1, 1]),
    { answer: sized([2, 2]), hoursLater: 24 },
    { answer: sized([2, 2], 'b', '2026-11-22T09:00:00.000Z'), hoursLater: 24 },
    sized([3, 3], 'b', '2026-11-23T05:00:00.000Z'),
  ],
  [
    'a record that arrives late, in changes and then in the whole list',
    { ...PAGE, fields: { size: KEPT } },
    one('2026-11-20T00:00:00Z', 2),
    { answer: one('2026-11-19T00:00:00Z', 1), full: false },
    {},
  ],
  [
    'a profile with other fields, whose values are read from the stored records',
    { ...PAGE, fields: { a: 'a', n: 'n' } },
    { answer: paged('page', RAW), times: 2 },
    mapped({ n: { from: 'n', type: 'integer', history: true }, due: { from: 'when', type: 'date' } }),
    mapped({ n: { from: 'a', type: 'integer' }, b: 'a' }),
    mapped({ b: 'a' }),
    mapped({}),
  ],
]

it('what each sync finds of declared fields, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/fields.txt')
})

it('a changed profile goes on with the records that a stopped run has not mapped', async () => {
  const many = records(1200).map((row, index) => ({ ...row, n: index }))
  await using listing = await openListing(PAGE, paged('page', many))
  await listing.sync({ pageSize: 400 })
  listing.profile = { ...listing.profile, fields: { n: { from: 'n', type: 'integer' } } }
  let writes = 0
  const { writeSoon } = listing.store
  const stop = new AbortController()
  Object.assign(listing.store, {
    writeSoon: async (work: Parameters<typeof writeSoon>[0]) => {
      if (++writes === 2) stop.abort(new Error('stopped'))
      return writeSoon.call(listing.store, work)
    },
  })
  await listing.sync({ signal: stop.signal }).catch(() => undefined)
  Object.assign(listing.store, { writeSoon })
  const mapped = () => listing.store.db.selectFrom('field_mapping').select('mapped_no').executeTakeFirst()
  expect(await mapped()).toEqual({ mapped_no: 1000 })
  listing.answer = () => ({ records: [] })
  await listing.sync()
  expect(await mapped()).toEqual({ mapped_no: null })
  expect((await readFieldTable(listing.store.db, ['l1199'])).rows).toEqual([['l1199', [1199]]])
})

it('a snapshot shows the fields as typed columns of lead_now, with their meaning', async () => {
  const rows = records(2).map((row, index) => ({
    ...row,
    custom: { 'Deal Size': index + 0.5, vip: index === 0, order: 'x', list: ['a'], mail: 'a@b.c' },
  }))
  const fields = {
    deal_size: { from: 'custom.Deal Size', type: 'number', meaning: 'size -- of the "deal", in EUR' },
    vip: { from: 'custom.vip', type: 'boolean' },
    order: 'custom.order',
    list: { from: 'custom.list', type: 'json' },
    mail: { from: 'custom.mail', personal: true },
  } as const
  await using listing = await openListing({ ...PAGE, fields }, paged('page', rows), folderWith())
  await listing.sync()
  const folder = folderWith()
  const deps = () => ({
    ...publishing(listing.store, folder, { now: () => listing.clock.now }),
    profile: parseProfile(listing.profile, 'p'),
  })
  const { file } = await publishSnapshot(deps(), NEVER)
  const columns = `SELECT column_name, type, meaning, source_path FROM dictionary
    WHERE table_name = 'lead_now' ORDER BY position DESC LIMIT 5`
  const values = 'SELECT id, deal_size, vip, "order", list, mail FROM lead_now ORDER BY id'
  const told = [columns, values].flatMap((query) => ask(file, query)).map((row) => JSON.stringify(row))
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/fields-shown.txt')
  // Another set of fields is due at once, although no lead has changed.
  listing.clock.now = new Date('2026-11-21T08:00:00Z')
  listing.profile = { ...listing.profile, fields: { vip: 'custom.vip' } }
  await listing.sync()
  listing.clock.now = new Date('2026-11-21T08:00:01Z')
  expect(await publishIfDue(deps(), NEVER)).not.toBeNull()
  expect(ask(file, 'SELECT vip FROM lead_now ORDER BY id')).toEqual([{ vip: 'true' }, { vip: 'false' }])
  listing.profile = { ...listing.profile, fields: {} }
  await listing.sync()
  await publishSnapshot(deps(), NEVER)
  expect(ask(file, "SELECT name FROM sqlite_schema WHERE name = 'lead_field'")).toEqual([])
})

// @both-stores
/** Fields that the profile declares: their values, their history, and what follows a change of the profile. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { publishIfDue, publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { listFields, readFieldTable } from '../../../src/store/leads/declared-fields.ts'
import { mapFields } from '../../../src/upstream/mapping/field-mapping.ts'
import { declaredFieldsSchema } from '../../../src/upstream/profile/declared-field.ts'
import { type ProfileInput, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { type Listing, MAPPING, openListing, PAGE, paged, records } from '../../support/source/listing.ts'

const NEVER = new AbortController().signal

function cellOf(type: string, value: unknown, rule: object = {}) {
  const fields = declaredFieldsSchema.parse({ x: { from: 'x', type, ...rule } })
  const mapped = mapFields({ x: value }, fields)
  return mapped?.unfit.length === 0 ? mapped.cells[0] : 'UNFIT'
}

/** Returns the values of a lead by name. */
async function valuesOf({ store }: Listing, id: string) {
  const { columns, rows } = await readFieldTable(store.db, [id])
  return Object.fromEntries(columns.map(({ name }, index) => [name, rows[0]?.[1][index]]))
}

function openFields(fields: ProfileInput['fields'], rows: readonly object[]) {
  return openListing({ ...PAGE, fields }, paged('page', rows))
}

/** Each type, a value of a record, and the stored cell. */
const VALUES: readonly (readonly [string, unknown, unknown])[] = [
  ['text', 'A', 'A'],
  ['text', 12, '12'],
  ['text', true, 'true'],
  ['text', '  ', null],
  ['text', '\u0000a', 'a'],
  ['text', ['a'], 'UNFIT'],
  ['text', { a: 1 }, 'UNFIT'],
  ['number', 1.5, 1.5],
  ['number', '1,234.50', 1234.5],
  ['number', 'n/a', 'UNFIT'],
  ['number', true, 'UNFIT'],
  ['number', Number.POSITIVE_INFINITY, 'UNFIT'],
  ['integer', '42', 42],
  ['integer', 42.5, 'UNFIT'],
  ['integer', '9007199254740993', 'UNFIT'],
  ['boolean', false, 0],
  ['boolean', 'Yes', 1],
  ['boolean', 1, 1],
  ['boolean', 'maybe', 'UNFIT'],
  ['time', '2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
  ['time', 1_795_168_800, '2026-11-20T10:00:00.000Z'],
  ['time', '0000-00-00 00:00:00', null],
  ['time', false, null],
  ['time', 'soon', 'UNFIT'],
  ['date', '2026-11-20', '2026-11-20'],
  ['date', '2026-11-31', 'UNFIT'],
  ['date', '2026-11-20T23:30:00-05:00', '2026-11-20'],
  ['date', 1_795_168_800_000, '2026-11-20'],
  ['json', ['a', { b: 1 }], '["a",{"b":1}]'],
  ['json', 'a', '"a"'],
  ...['text', 'number', 'integer', 'boolean', 'time', 'date', 'json'].flatMap((type) => [
    [type, null, null] as const,
    [type, '', null] as const,
    [type, undefined, null] as const,
  ]),
]

describe('a value', () => {
  it.each(VALUES)('as %s: %j becomes %j', (type, value, cell) => {
    expect(cellOf(type, value)).toEqual(cell)
  })

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

describe('a name', () => {
  const parse = (fields: unknown) =>
    parseProfile({ name: 'p', paging: { kind: 'none' }, mapping: MAPPING, fields }, 'p.yaml')

  it.each([
    [
      { status: 'x' },
      'p.yaml  fields.status: found "x", expected another name, because leads have a column status already',
    ],
    [{ pipeline_name: 'x' }, 'because leads have a column pipeline_name already'],
    [{ 'Deal Size': 'x' }, 'expected a name of small letters, digits and _'],
    [
      { a: { from: 'x', type: 'money' } },
      'p.yaml  fields.a.type: found "money", expected one of "text"|"number"',
    ],
    [{ a: { from: 'x', kind: 'text' } }, 'p.yaml  fields.a.kind: there is no such part'],
    [{ a: { from: 'x', meaning: 'a\nb' } }, 'expected one line of at most 300 characters'],
  ])('%j is refused', (fields, message) => {
    expect(() => parse(fields)).toThrow(message)
  })
})

describe('a sync', () => {
  it('stores each value, keeps those that do not fit as null, and counts them', async () => {
    const rows = records(3).map((row, index) => ({ ...row, size: index === 1 ? 'large' : index }))
    await using listing = await openFields({ size: { from: 'size', type: 'number' } }, rows)
    const { scan } = await listing.sync()
    expect(await valuesOf(listing, 'l001')).toEqual({ size: null })
    expect(await valuesOf(listing, 'l002')).toEqual({ size: 2 })
    const warning =
      'size is empty in 1 lead whose value is no number, such as l001; correct fields.size of the profile'
    expect(scan?.warnings).toEqual([warning])
    // An unchanged record is not read again, and its value still does not fit.
    const again = await listing.sync()
    expect(again).toMatchObject({ leads: { unchanged: 3 }, scan: { warnings: [warning] } })
    listing.answer = paged(
      'page',
      records(3).map((row) => ({ ...row, size: 5 })),
    )
    expect((await listing.sync()).scan?.warnings).toEqual([])
    expect(await valuesOf(listing, 'l001')).toEqual({ size: 5 })
  })

  it('takes a lead for changed if only a declared field has changed, even under the same time of update', async () => {
    const fields = { size: { from: 'size', type: 'integer', history: true }, note: 'note' } as const
    const rows = (size: number, note = 'a') => records(2).map((row) => ({ ...row, size, note }))
    await using listing = await openFields(fields, rows(1))
    await listing.sync()
    listing.clock.now = new Date('2026-11-22T06:00:00Z')
    listing.answer = paged('page', rows(2))
    expect((await listing.sync()).leads).toMatchObject({ updated: 2, unchanged: 0 })
    listing.clock.now = new Date('2026-11-23T06:00:00Z')
    listing.answer = paged(
      'page',
      rows(2, 'b').map((row) => ({ ...row, updated: '2026-11-22T09:00:00.000Z' })),
    )
    await listing.sync()
    listing.answer = paged(
      'page',
      rows(3, 'b').map((row) => ({ ...row, updated: '2026-11-23T05:00:00.000Z' })),
    )
    await listing.sync()
    const changes = await listing.store.db
      .selectFrom('field_change')
      .where('lead_id', '=', 'l001')
      .orderBy('changed_at')
      .select(['field', 'changed_at', 'value_before', 'value'])
      .execute()
    expect(changes).toEqual([
      { field: 'size', changed_at: '2026-11-22T06:00:00.000Z', value_before: '1', value: '2' },
      { field: 'size', changed_at: '2026-11-23T05:00:00.000Z', value_before: '2', value: '3' },
    ])
  })

  it('leaves the values to a record that arrives late', async () => {
    const at = (updated: string, size: number) => paged('page', [{ id: 'a', updated, size }])
    await using listing = await openFields({ size: { from: 'size', type: 'integer', history: true } }, [])
    listing.answer = at('2026-11-20T00:00:00Z', 2)
    await listing.sync()
    listing.answer = at('2026-11-19T00:00:00Z', 1)
    await listing.sync({ full: false })
    await listing.sync()
    expect(await listing.store.db.selectFrom('field_change').selectAll().execute()).toMatchObject([
      { value_before: '2', value: '1', changed_at: '2026-11-21T06:00:00.000Z' },
    ])
  })
})

describe('a changed profile', () => {
  const RAW = records(30).map((row, index) => ({
    ...row,
    a: `A${index}`,
    n: String(index),
    when: '2026-01-02',
  }))

  it('maps the stored records again without asking for them, and tells what came, went and changed', async () => {
    await using listing = await openFields({ a: 'a', n: 'n' }, RAW)
    await listing.sync()
    expect((await listing.sync()).scan?.warnings).toEqual([])
    // The list has nothing more to say, so that all values can come only from what is stored.
    listing.answer = () => ({ records: [] })
    listing.profile = {
      ...listing.profile,
      fields: { n: { from: 'n', type: 'integer', history: true }, due: { from: 'when', type: 'date' } },
    }
    const { scan, leads } = await listing.sync({ acceptsDeletions: false })
    expect(scan?.warnings).toEqual([
      'fields of the profile added: due; removed: a; changed: n; read from 30 stored records',
    ])
    expect(leads).toMatchObject({ updated: 0, inserted: 0 })
    expect(await valuesOf(listing, 'l007')).toEqual({ n: 7, due: '2026-01-02' })
    expect(await listing.store.db.selectFrom('field_change').selectAll().execute()).toEqual([])
    // The place of the field that went is free again.
    const places = await listing.store.db.selectFrom('declared_field').select('place').execute()
    expect(places).toHaveLength(2)
    listing.profile = { ...listing.profile, fields: { n: { from: 'a', type: 'integer' }, b: 'a' } }
    await listing.sync()
    expect(await valuesOf(listing, 'l007')).toEqual({ n: null, b: 'A7' })
    listing.profile = { ...listing.profile, fields: {} }
    await listing.sync()
    expect(await listFields(listing.store.db)).toEqual([])
  })

  it('goes on with the records that a stopped run has not mapped', async () => {
    const many = records(1200).map((row, index) => ({ ...row, n: index }))
    await using listing = await openFields({}, many)
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
    expect(await valuesOf(listing, 'l1199')).toEqual({ n: 1199 })
  })
})

describe('a snapshot', () => {
  it('shows the fields as typed columns of lead_now, with their meaning, to any program', async () => {
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
    const sqlite = (sql: string) =>
      execFileSync('sqlite3', ['-readonly', file, sql]).toString().trim().split('\n')
    expect(sqlite('SELECT id, deal_size, vip, "order", list, mail FROM lead_now ORDER BY id')).toEqual([
      'l000|0.5|1|x|["a"]|a@b.c',
      'l001|1.5|0|x|["a"]|a@b.c',
    ])
    expect(sqlite('SELECT typeof(deal_size), typeof(vip), typeof("order") FROM lead_now LIMIT 1')).toEqual([
      'real|integer|text',
    ])
    expect(
      sqlite(`SELECT column_name, type, meaning, source_path FROM dictionary
        WHERE table_name = 'lead_now' ORDER BY position DESC LIMIT 5`),
    ).toEqual([
      'mail|TEXT|field of the records; personal data|custom.mail',
      'list|TEXT|field of the records; JSON|custom.list',
      'order|TEXT|field of the records|custom.order',
      'vip|INTEGER|field of the records; 1: yes, 0: no|custom.vip',
      'deal_size|REAL|size -- of the "deal", in EUR|custom.Deal Size',
    ])
    // Another set of fields is due at once, although no lead has changed.
    listing.clock.now = new Date('2026-11-21T08:00:00Z')
    listing.profile = { ...listing.profile, fields: { vip: 'custom.vip' } }
    await listing.sync()
    listing.clock.now = new Date('2026-11-21T08:00:01Z')
    expect(await publishIfDue(deps(), NEVER)).not.toBeNull()
    expect(sqlite('SELECT vip FROM lead_now ORDER BY id')).toEqual(['true', 'false'])
    listing.profile = { ...listing.profile, fields: {} }
    await listing.sync()
    await publishSnapshot(deps(), NEVER)
    expect(sqlite("SELECT count(*) FROM sqlite_schema WHERE name = 'lead_field'")).toEqual(['0'])
    expect(join(folder, 'snapshot.db')).toBe(file)
  })
})

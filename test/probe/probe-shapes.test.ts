/** How many fields of well-known products are recognised rightly. */
import { expect, test } from 'vitest'
import { LEAD_FIELDS } from '../../src/domain/lead-fields.ts'
import { type FoundField, findFields } from '../../src/probe/field-probe.ts'
import { splitPath } from '../../src/upstream/values/json.ts'
import { CRM_SHAPES, type CrmShape, readShapes, recordsOfShape } from '../support/source/crm-shapes.ts'

/** The place that a rule reads first, and `a + b` for a text of two parts. */
function placeOf({ rule }: FoundField): string {
  if (typeof rule === 'string') return rule
  return 'all' in rule ? rule.all.join(' + ') : String(Array.isArray(rule) ? rule : [rule.from].flat()[0])
}

function decide(shape: CrmShape, count: number) {
  const found = findFields(recordsOfShape(shape, count), splitPath(shape.right.get('id')?.[0] ?? ''))
  return LEAD_FIELDS.filter(({ column }) => column !== 'id').map(({ column }) => {
    const field = found.find((each) => each.field === column)
    const place = field ? placeOf(field) : null
    const right = shape.right.get(column) ?? [null]
    const verdict = right.includes(place) ? 'right' : place === null ? 'missed' : 'wrong'
    return {
      what: `${shape.name}, ${column}: ${place}, not ${right[0]}`,
      verdict,
      confidence: field?.confidence,
      exists: right[0] !== null,
    }
  })
}

test.each([6, 30, 200])(
  'of %i records, nearly all fields are found, and what is likely is right',
  (count) => {
    const decisions = CRM_SHAPES.flatMap((shape) => decide(shape, count))
    const existing = decisions.filter(({ exists }) => exists)
    const missed = existing.filter(({ verdict }) => verdict !== 'right')
    expect(existing.length).toBeGreaterThan(680)
    expect(missed.length / existing.length, missed.map(({ what }) => what).join('\n')).toBeLessThan(0.05)
    const likely = decisions.filter(({ confidence }) => confidence === 'likely')
    const wrong = likely.filter(({ verdict }) => verdict === 'wrong')
    expect(wrong.length / likely.length, wrong.map(({ what }) => what).join('\n')).toBeLessThan(0.05)
  },
)

const ROWS = `== Acme leads
id                        id              7 + n * 3 % 2
labels[]                  tags?           "{tagNo + 1}: {tag}"
fields[name=Person].name  -               "Person"
fields[name=Person].of    contact_name    pick(n, last, first)
company                   -               pick(n, [], below)
company.name              company_name 2  company
company.since             company_name 1  iso(created, "Z")
fields[name=Person].in    contact_name    maybe(city, 1, "nowhere")`

test('rows make a record and say which places are right', () => {
  const [shape] = readShapes(ROWS)
  expect(shape && recordsOfShape(shape, 2)[1]).toEqual({
    id: 8,
    labels: ['1: vip', '2: europe'],
    fields: [{ name: 'Person', of: 'Elif', in: 'nowhere' }],
    company: { name: 'Contoso GmbH', since: '2025-09-13T02:45:00Z' },
  })
  expect(shape?.right).toEqual(
    new Map([
      ['id', ['id']],
      ['tags', ['labels', null]],
      ['contact_name', ['fields[name=Person].of + fields[name=Person].in']],
      ['company_name', ['company.since', 'company.name']],
    ]),
  )
})

test.each([
  ['name  contact_nam  full', 'expected - or a field of ours in the place of contact_nam'],
  ['name  -  ful', 'expected a known word in the place of ful'],
  ['name  -  maybe(full', 'expected ) at the end of maybe('],
  ['name  -  full + 1', 'expected a text, a number, true, false, null or a list'],
  ['company.since  -  n', 'expected a path that has no value yet'],
  ['id.code  -  n', 'expected a path that has no value yet'],
  ['fields  -  n', 'expected a path that has no value yet'],
])('refuses %s as a row of a shape', (row, why) => {
  expect(() => readShapes(`${ROWS}\n${row}`)).toThrow(`Acme leads: found ${row}: ${why}`)
})

/** How many fields of well-known products are recognised rightly. */
import { expect, test } from 'vitest'
import { LEAD_FIELDS } from '../../src/domain/lead-fields.ts'
import { type FoundField, findFields } from '../../src/probe/field-probe.ts'
import { splitPath } from '../../src/upstream/values/json.ts'
import { CRM_SHAPES, type CrmShape, recordsOfShape } from '../support/source/crm-shapes.ts'

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

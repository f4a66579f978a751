import { describe, expect, test } from 'vitest'
import { findFields } from '../../src/source/probe/fields.ts'
import { pickId } from '../../src/source/probe/id-field.ts'
import { factsOf } from '../support/foreign.ts'

const records = (count: number, of: (number: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, number) => of(number))

describe('the id of a record', () => {
  test('is its name where many records have nothing else, and an id wherever there is one', () => {
    expect(pickId(records(10, (number) => ({ name: `queue ${number}`, kind: 'classic' })))?.path).toEqual([
      'name',
    ])
    expect(pickId(records(10, (number) => ({ name: `queue ${number}`, key: number })))?.path).toEqual(['key'])
  })

  test('is no name of a few, which may well be unique by chance', () => {
    expect(pickId(records(9, (number) => ({ name: `queue ${number}` })))).toBeNull()
    expect(pickId(records(10, (number) => ({ name: `queue ${number % 9}` })))).toBeNull()
  })

  test('is not whatever a single record has', () => {
    expect(pickId([{ hash: 'x1', version: '4.7.3' }])).toBeNull()
    expect(pickId([{ uuid: 'x1', version: '4.7.3' }])?.path).toEqual(['uuid'])
  })
})

describe('the fields of a record', () => {
  test.each(['doc', 'attributes', 'resource', 'metadata'])('are known below %s as on top', (wrapper) => {
    const wrapped = records(12, (number) => {
      const { status, updated, email } = factsOf(number)
      return { id: `r${number}`, [wrapper]: { status, email, updated_at: updated.toISOString() } }
    })
    expect(findFields(wrapped, ['id']).map(({ field, rule }) => [field, rule])).toEqual(
      expect.arrayContaining([
        ['status', `${wrapper}.status`],
        ['updated_at', `${wrapper}.updated_at`],
        ['contact_email', `${wrapper}.email`],
      ]),
    )
  })
})

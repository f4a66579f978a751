import { describe, expect, it } from 'vitest'
import {
  condition,
  conditionsOf,
  type GivenCondition,
} from '../../../../src/cli/commands/data/figure-scope.ts'
import { declaredTypesOf } from '../../../../src/config/declared-types.ts'
import type { FilterCondition } from '../../../../src/domain/figures.ts'

function parse(...texts: string[]): FilterCondition[] {
  const given = texts.reduce<readonly GivenCondition[]>((before, text) => condition(text, before), [])
  const data = {
    fields: { segment: 'custom.segment', deal_size: { from: 'size', type: 'number' }, due: { type: 'date' } },
  }
  return conditionsOf(given, declaredTypesOf({ data }))
}

describe('conditions of the command line', () => {
  it('are texts, of which one of a column must be met, and bounds, which all must be', () => {
    expect(parse('company_country=Germany', ' score >= 60 ', 'company_country=Austria', 'score<=90')).toEqual(
      [
        { field: 'company_country', in: ['Germany', 'Austria'] },
        { field: 'score', min: 60, max: 90 },
      ],
    )
    expect(parse('score>=10', 'score>=60', 'value_amount=5')).toEqual([
      { field: 'score', min: 60, max: null },
      { field: 'value_amount', min: 5, max: 5 },
    ])
  })

  it('take everything after the sign as the text', () => {
    expect(parse('company_name=a = b >= c')).toEqual([{ field: 'company_name', in: ['a = b >= c'] }])
    expect(parse('source=')).toEqual([{ field: 'source', in: [''] }])
  })

  it('ask for fields of the profile by their types', () => {
    expect(parse('segment=A', 'deal_size>=100')).toEqual([
      { field: 'segment', type: 'text', in: ['A'] },
      { field: 'deal_size', type: 'number', min: 100, max: null },
    ])
  })

  it.each([
    ['company_contry=Germany', 'did you mean company_country?'],
    ['constructor=1', 'known: status, '],
    ['score>=high', '--where score: expected a number'],
    ['score>=', '--where score: expected a number'],
    ['source>=crawl', 'so ask for source=VALUE'],
    ['deal_siz=5', 'did you mean deal_size?'],
    ['due=2026-01-01', 'a filter cannot ask for a field of the type date'],
    ['score', 'Expected a column of lead and a value'],
  ])('refuse %s', (text, message) => {
    expect(() => parse(text)).toThrow(message)
  })
})

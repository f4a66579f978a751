import { describe, expect, it } from 'vitest'
import {
  condition,
  conditionsOf,
  type GivenCondition,
} from '../../../../src/cli/commands/data/figure-scope.ts'
import type { FilterCondition } from '../../../../src/domain/figures.ts'

function parse(...texts: string[]): FilterCondition[] {
  return conditionsOf(texts.reduce<readonly GivenCondition[]>((before, text) => condition(text, before), []))
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

  it.each([
    ['company_contry=Germany', 'Did you mean company_country?'],
    ['constructor=1', 'There are status, '],
    ['score>=high', 'Expected a number for score'],
    ['score>=', 'Expected a number for score'],
    ['source>=crawl', 'source is text'],
    ['score', 'Expected a column of lead and a value'],
  ])('refuse %s', (text, message) => {
    expect(() => parse(text)).toThrow(message)
  })
})

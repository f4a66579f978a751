import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPartialSign, isErrorValue } from '../../../src/upstream/paging/partial-answer.ts'
import { profileWith } from '../../support/source/test-source.ts'

function profileOf(leads: string, error?: string, kind: 'cursor' | 'range' = 'cursor') {
  const paging = kind === 'range' ? { kind } : ({ kind, param: 'after', next: 'next' } as const)
  const envelope = { leads, ...(error === undefined ? {} : { error }) }
  return profileWith({ paging, envelope })
}

describe('the value of an error field', () => {
  const none = [null, undefined, false, 0, '', '0', 'false', 'none', 'OK', 'No errors', [], {}]
  const empty = [[null], { code: 0, message: '' }, { code: '0', text: 'ok', details: [] }, [{}, '']]
  it.each([...none, ...empty].map((value) => [value]))('%j is no error', (value) =>
    expect(isErrorValue(value)).toBe(false),
  )
  const errors = [true, 1, 'timed out', '500', ['x'], { code: 5 }, [{ message: 'Internal' }], [[], 'x']]
  it.each(errors.map((value) => [value]))('%j is an error', (value) => expect(isErrorValue(value)).toBe(true))
})

/** Answers that say something of themselves: that they are whole, that something failed, or that more follow. */
const SIGNS = readFileSync(join(import.meta.dirname, 'signs.txt'), 'utf8')
  .trimEnd()
  .split('\n')

describe('an answer with a good status', () => {
  const list = [{ id: 1, error: 'of the lead', status: 'failed', success: false }]

  it('is whole or not by what it says beside its list, around it, and on its last page', async () => {
    const told = SIGNS.map((said) => {
      const signs: object = JSON.parse(said)
      const judge = (leads: string, body: object, isLast: boolean) =>
        findPartialSign(profileOf(leads), 200, {}, body, isLast) ?? 'whole'
      const judged = [
        judge('data', { data: list, ...signs }, false),
        judge('page.rows', { page: { rows: list, ...signs } }, false),
        judge('page.rows', { page: { rows: list }, ...signs }, false),
        `last: ${judge('data', { data: list, ...signs }, true)}`,
      ]
      return `${said}\n  ${[...new Set(judged)].join('; ')}\n`
    })
    await expect(told.join('')).toMatchFileSnapshot('golden/signs.txt')
  })

  it.each([
    [202, {}, 'cursor', 'status 202'],
    [206, {}, 'cursor', 'status 206'],
    [206, { 'content-range': 'items 0-9/40' }, 'cursor', null],
    [206, {}, 'range', null],
    [207, {}, 'cursor', 'status 207'],
    [207, {}, 'range', 'status 207'],
    [200, {}, 'cursor', null],
  ] as const)('%i with %j of a list by %s: %s', (status, headers, kind, sign) => {
    expect(findPartialSign(profileOf('data', undefined, kind), status, headers, { data: list })).toBe(sign)
  })

  it('is judged by the place that the profile names, and by no other', () => {
    const profile = profileOf('data', 'meta.problem')
    expect(findPartialSign(profile, 200, {}, { data: list, error: 'always there' })).toBeNull()
    expect(findPartialSign(profile, 200, {}, { data: list, meta: { problem: 'cut' } })).toBe(
      'meta.problem: cut',
    )
    expect(findPartialSign(profile, 207, {}, { data: list, meta: { problem: 0 } })).toBe('status 207')
  })
})

import { describe, expect, it } from 'vitest'
import { findPartialSign, isErrorValue } from '../../../src/upstream/paging/partial-answer.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'

function profileOf(leads: string, error?: string, kind: 'cursor' | 'range' = 'cursor') {
  const paging = kind === 'range' ? { kind } : ({ kind, param: 'after', next: 'next' } as const)
  const envelope = { leads, ...(error === undefined ? {} : { error }) }
  return parseProfile({ name: 'test', paging, envelope, mapping: { lead: { id: 'id' } } }, 'test')
}

describe('the value of an error field', () => {
  it.each([null, undefined, false, 0, '', '0', 'false', 'none', 'OK', 'No errors', [], {}])(
    '%j is no error',
    (value) => expect(isErrorValue(value)).toBe(false),
  )
  it.each([[[null]], [{ code: 0, message: '' }], [{ code: '0', text: 'ok', details: [] }], [[{}, '']]])(
    '%j is no error',
    (value) => expect(isErrorValue(value)).toBe(false),
  )
  it.each([true, 1, 'timed out', '500', ['x'], { code: 5 }, [{ message: 'Internal' }], [[], 'x']])(
    '%j is an error',
    (value) => expect(isErrorValue(value)).toBe(true),
  )
})

/** What answers say of themselves: that they are whole, that something failed, or that more follow. */
const SIGNS: readonly object[] = [
  { errors: [] },
  { error: null, error_code: 0 },
  { success: true, status: 'success' },
  { timed_out: false, _shards: { total: 5, failed: 0 } },
  { partial: false, hasErrors: false, numErrors: 0 },
  { incomplete_results: false, warnings: ['old version'] },
  { error: { code: 200, message: 'OK' }, errorMessage: 'Success.' },
  { error: 'N/A', error_desc: '-', status: { error_message: 'No errors found' } },
  { meta: { won: 20, failed: 12 }, code: 0, statusCode: '200' },
  { included: [{ error: 'x' }], links: { error: '/errors' } },
  { responseHeader: { status: 0, QTime: 5, partialResults: false }, '@odata.error': null },
  { _shards: { total: 5, successful: 5, skipped: 2, failed: 0 }, _clusters: { total: 1, successful: 1 } },
  { has_more: false, truncated: false, done: true, isComplete: true, last: 0, more: null },
  { errors: [{ code: 'INTERNAL', message: 'Search backend timed out' }] },
  { error: 'quota' },
  { error: true },
  { success: false },
  { ok: 0 },
  { status: 'error' },
  { result: 'PARTIAL_SUCCESS' },
  { timed_out: true },
  { errcode: 45009, errmsg: 'api freq out of limit' },
  { error_code: 'E1' },
  { code: 50001, message: 'busy' },
  { status: 500 },
  { meta: { code: 503 } },
  { errorMessages: ['no index'] },
  { 'odata.error': { message: 'busy' } },
  { err: 'timeout' },
  { ExceptionMessage: 'null' + ' reference' },
  { header: { status: 'ERROR' } },
  { status: 'NOT_OK' },
  { success: 'N' },
  { timeout: true },
  { partialResultsReturned: true },
  { extensions: { errors: [{ message: 'shard' }] } },
  { numErrors: 40 },
  { incomplete_results: true },
  { isPartial: true },
  { meta: { partial: true } },
  { errorMessage: 'no' + ' backend' },
  { failures: [{ reason: 'shard' }] },
  { responseHeader: { status: 0, partialResults: true } },
  { response_metadata: { partial: true } },
  { '@odata.error': { code: '500', message: 'timeout' } },
  { '@error': 'rows left out' },
  { 'm:error': { code: 'E1' } },
  { _shards: { total: 5, failed: 2 } },
  { _shards: { total: 5, successful: 4, skipped: 0, failed: 0 } },
  { _clusters: { total: 2, successful: 1, skipped: 1 } },
  { truncated: true },
  { exceededTransferLimit: true },
  { has_more: true },
  { pageInfo: { hasNextPage: true } },
  { isComplete: false },
  { complete: 'false' },
  { done: false, totalSize: 5000 },
  { meta: { last: false } },
]

describe('an answer with a good status', () => {
  const list = [{ id: 1, error: 'of the lead', status: 'failed', success: false }]

  it('is whole or not by what it says beside its list, around it, and on its last page', async () => {
    const told = SIGNS.map((signs) => {
      const judge = (leads: string, body: object, isLast: boolean) =>
        findPartialSign(profileOf(leads), 200, {}, body, isLast) ?? 'whole'
      const judged = [
        judge('data', { data: list, ...signs }, false),
        judge('page.rows', { page: { rows: list, ...signs } }, false),
        judge('page.rows', { page: { rows: list }, ...signs }, false),
        `last: ${judge('data', { data: list, ...signs }, true)}`,
      ]
      return `${JSON.stringify(signs)}\n  ${[...new Set(judged)].join('; ')}\n`
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

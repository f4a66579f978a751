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

describe('an answer with a good status', () => {
  const list = [{ id: 1, error: 'of the lead', status: 'failed', success: false }]

  it.each([
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
  ])('is whole if it says %j', (signs) => {
    expect(findPartialSign(profileOf('data'), 200, {}, { data: list, ...signs }, true)).toBeNull()
  })

  it.each([
    [
      { errors: [{ code: 'INTERNAL', message: 'Search backend timed out' }] },
      'errors: Search backend timed out',
    ],
    [{ error: 'quota' }, 'error: quota'],
    [{ error: true }, 'error: true'],
    [{ success: false }, 'success: false'],
    [{ ok: 0 }, 'ok: 0'],
    [{ status: 'error' }, 'status: error'],
    [{ result: 'PARTIAL_SUCCESS' }, 'result: PARTIAL_SUCCESS'],
    [{ timed_out: true }, 'timed_out: true'],
    [{ errcode: 45009, errmsg: 'api freq out of limit' }, 'errcode: 45009'],
    [{ error_code: 'E1' }, 'error_code: E1'],
    [{ code: 50001, message: 'busy' }, 'code: 50001'],
    [{ status: 500 }, 'status: 500'],
    [{ meta: { code: 503 } }, 'code: 503'],
    [{ errorMessages: ['no index'] }, 'errorMessages: no index'],
    [{ 'odata.error': { message: 'busy' } }, 'odata.error: busy'],
    [{ err: 'timeout' }, 'err: timeout'],
    [{ ExceptionMessage: 'null' + ' reference' }, 'ExceptionMessage: null reference'],
    [{ header: { status: 'ERROR' } }, 'status: ERROR'],
    [{ status: 'NOT_OK' }, 'status: NOT_OK'],
    [{ success: 'N' }, 'success: N'],
    [{ timeout: true }, 'timeout: true'],
    [{ partialResultsReturned: true }, 'partialResultsReturned: true'],
    [{ extensions: { errors: [{ message: 'shard' }] } }, 'errors: shard'],
    [{ numErrors: 40 }, 'numErrors: 40'],
    [{ incomplete_results: true }, 'incomplete_results: true'],
    [{ isPartial: true }, 'isPartial: true'],
    [{ meta: { partial: true } }, 'partial: true'],
    [{ errorMessage: 'no' + ' backend' }, 'errorMessage: no backend'],
    [{ failures: [{ reason: 'shard' }] }, 'failures: [{"reason":"shard"}]'],
    [{ responseHeader: { status: 0, partialResults: true } }, 'partialResults: true'],
    [{ response_metadata: { partial: true } }, 'partial: true'],
    [{ '@odata.error': { code: '500', message: 'timeout' } }, '@odata.error: timeout'],
    [{ '@error': 'rows left out' }, '@error: rows left out'],
    [{ 'm:error': { code: 'E1' } }, 'm:error: {"code":"E1"}'],
  ])('is not whole if it says %j', (signs, sign) => {
    expect(findPartialSign(profileOf('data'), 200, {}, { data: list, ...signs })).toBe(sign)
    expect(findPartialSign(profileOf('page.rows'), 200, {}, { page: { rows: list, ...signs } })).toBe(sign)
    expect(findPartialSign(profileOf('page.rows'), 200, {}, { page: { rows: list }, ...signs })).toBe(sign)
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

  it.each([
    [{ _shards: { total: 5, failed: 2 } }, 'failed shards: 2'],
    [{ _shards: { total: 5, successful: 4, skipped: 0, failed: 0 } }, 'successful shards: 4 of 5'],
    [{ _clusters: { total: 2, successful: 1, skipped: 1 } }, 'successful clusters: 1 of 2'],
  ])('is not whole if shards or clusters did not answer the search: %j', (signs, sign) => {
    expect(findPartialSign(profileOf('hits'), 200, {}, { hits: list, ...signs })).toBe(sign)
  })

  it.each([
    [{ truncated: true }, 'truncated: true'],
    [{ exceededTransferLimit: true }, 'exceededTransferLimit: true'],
    [{ has_more: true }, 'has_more: true'],
    [{ pageInfo: { hasNextPage: true } }, 'hasNextPage: true'],
    [{ isComplete: false }, 'isComplete: false'],
    [{ complete: 'false' }, 'complete: false'],
    [{ done: false, totalSize: 5000 }, 'done: false'],
    [{ meta: { last: false } }, 'last: false'],
  ])('is not whole if it is the last page and says that more follow: %j', (signs, sign) => {
    expect(findPartialSign(profileOf('data'), 200, {}, { data: list, ...signs }, true)).toBe(sign)
    expect(findPartialSign(profileOf('data'), 200, {}, { data: list, ...signs }, false)).toBeNull()
    expect(findPartialSign(profileOf('data', 'error'), 200, {}, { data: list, ...signs }, true)).toBeNull()
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

import { describe, expect, it } from 'vitest'
import { composeListRequest } from '../../../src/upstream/paging/list-request.ts'
import { listOverwritten } from '../../../src/upstream/profile/overwritten.ts'
import type { ProfileInput } from '../../../src/upstream/profile/profile.ts'
import { profileWith } from '../../support/source/test-source.ts'

const PAGE = { kind: 'page', param: 'page', size_param: 'limit' } as const

function overwrittenBy(parts: Partial<ProfileInput>, query: string): string[] {
  const list = new URL(`https://crm.example.com/leads?${query}`)
  return listOverwritten(profileWith({ paging: PAGE, ...parts }), list).map(
    ({ path, found }) => `${path.join('.')} ${found}`,
  )
}

const since = (value: string) => ({ filters: { updated_since: { param: '$filter', value } } })

describe('a parameter in the address of the list', () => {
  it.each<readonly [string, Partial<ProfileInput>, string, string]>([
    ['page', {}, 'page=2', 'paging.param page=2'],
    ['size', {}, 'limit=10', 'paging.size_param limit=10'],
    ['cursor', { paging: { kind: 'cursor', param: 'after', next: 'n' } }, 'after=', 'paging.param after='],
    ['order', { sort: { sort: 'id' } }, 'sort=-created', 'sort.sort sort=-created'],
    ['status', { filters: { status: 'status' } }, 'status=lead', 'filters.status status=lead'],
    [
      'filter of changes',
      since('changed ge {value}'),
      "$filter=status eq 'lead'",
      "filters.updated_since.value $filter=status eq 'lead'",
    ],
    [
      'filter of creation',
      { filters: { created_since: { param: 'q' } } },
      'q=acme',
      'filters.created_since.value q=acme',
    ],
  ])('is not overwritten by the %s of the profile', (_, parts, query, found) => {
    expect(overwrittenBy(parts, query)).toEqual([found])
  })

  it.each<readonly [string, Partial<ProfileInput>, string]>([
    ['has another name', { filters: { status: 'state' } }, 'status=lead'],
    [
      'is part of the filter',
      since("(status eq 'lead') and (changed ge {value})"),
      "$filter=status eq 'lead'",
    ],
    [
      'has the name of a header',
      { filters: { updated_since: { param: 'If-Modified-Since', in: 'header' } } },
      'If-Modified-Since=1',
    ],
  ])('is no mistake if it %s', (_, parts, query) => {
    expect(overwrittenBy(parts, query)).toEqual([])
  })
})

it('a filter by time has the time at each place of its value', () => {
  const list = new URL('https://crm.example.com/leads')
  const at = '2026-11-21T00:00:00.000Z'
  const profile = profileWith(since('changed ge {value} or created ge {value}'))
  const { url } = composeListRequest(profile, list, { updatedSince: at }, null, 10)
  expect(url.searchParams.get('$filter')).toBe(`changed ge ${at} or created ge ${at}`)
})

import { expect, it } from 'vitest'
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

const LEAD = "status eq 'lead'"
const created = { filters: { created_since: { param: 'q' } } }
const header = { filters: { updated_since: { param: 'If-Modified-Since', in: 'header' } } } as const

it.each<readonly [string, Partial<ProfileInput>, string, string[]]>([
  ['not by the page', {}, 'page=2', ['paging.param page=2']],
  ['not by the size', {}, 'limit=10', ['paging.size_param limit=10']],
  [
    'not by the cursor',
    { paging: { kind: 'cursor', param: 'after', next: 'n' } },
    'after=',
    ['paging.param after='],
  ],
  ['not by the order', { sort: { sort: 'id' } }, 'sort=-created', ['sort.sort sort=-created']],
  ['not by the status', { filters: { status: 'status' } }, 'status=lead', ['filters.status status=lead']],
  [
    'not by the filter of changes',
    since('changed ge {value}'),
    `$filter=${LEAD}`,
    [`filters.updated_since.value $filter=${LEAD}`],
  ],
  ['not by the filter of creation', created, 'q=acme', ['filters.created_since.value q=acme']],
  ['by nothing of another name', { filters: { status: 'state' } }, 'status=lead', []],
  ['by nothing that it is a part of', since(`(${LEAD}) and (changed ge {value})`), `$filter=${LEAD}`, []],
  ['by nothing in the body of a POST', { request: { method: 'POST' } }, 'page=2', []],
  ['by no header of its name', header, 'If-Modified-Since=1', []],
])('a parameter in the address of the list is overwritten %s of the profile', (_, parts, query, found) => {
  expect(overwrittenBy(parts, query)).toEqual(found)
})

it('a filter by time has the time at each place of its value', () => {
  const list = new URL('https://crm.example.com/leads')
  const at = '2026-11-21T00:00:00.000Z'
  const profile = profileWith(since('changed ge {value} or created ge {value}'))
  const { url } = composeListRequest(profile, list, { updatedSince: at }, null, 10)
  expect(url.searchParams.get('$filter')).toBe(`changed ge ${at} or created ge ${at}`)
})

/** A filter of changes must keep what the list's address asks for, and give records that never changed too. */
import { describe, expect, test } from 'vitest'
import {
  type ForeignRecord,
  factsOf,
  filtered,
  iso,
  PLAIN,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { probeForeign, probeShape, syncBy } from '../support/source/probing.ts'

function record(number: number): ForeignRecord {
  const { company, created, updated } = factsOf(number)
  const status = number % 2 === 0 ? 'lead' : 'customer'
  return { id: `r${number}`, company, status, created: iso(created), changed: iso(updated) }
}

/** Understands `$filter` with `status eq '…'` and `changed ge …`, joined by `and`. */
const ODATA = filtered((query) => {
  const text = query.get('$filter') ?? ''
  const [, status] = /status eq '(\w+)'/.exec(text) ?? []
  const [, since = ''] = /changed ge ([^\s)]+)/.exec(text) ?? []
  return (record) => (status === undefined || record.status === status) && String(record.changed) >= since
})

describe('a filter in the address of the list', () => {
  test('is combined with the filter of changes', async () => {
    const probed = await probeShape({ ...ODATA, record }, "?$filter=status eq 'lead'")
    expect(probed.profile?.filters.updated_since).toMatchObject({
      param: '$filter',
      value: "(status eq 'lead') and (changed ge {value})",
    })
    expect(probed.gaps.filter(({ problem }) => problem.includes('overwrite'))).toEqual([])
  })

  test('is not overwritten where both cannot be combined', async () => {
    const shape = filtered((query) => (each) => String(each.changed) >= (query.get('from') ?? ''))
    const probed = await probeShape({ ...shape, record }, '?from=2026-04-20')
    expect(probed.profile?.filters.updated_since).toBeUndefined()
  })

  test('leaves the path of a list without the parameters of its paging', async () => {
    await using foreign = await startForeign({ ...PLAIN, record })
    const probed = await probeForeign(foreign.url, '', '/leads?limit=5&view=all')
    expect(probed.profile?.endpoints.leads).toBe('/leads?view=all')
    expect((await syncBy(probed.text, foreign.url)).size).toBe(230)
  })

  test('is told where it sets the size of pages in the address itself', async () => {
    const probed = await probeShape({ ...PLAIN, record }, '?limit=5')
    expect(probed.gaps).toContainEqual({
      place: 'paging.size_param',
      problem: 'the address that was probed has limit=5, which this would overwrite',
      remedy: 'take limit out of api.url',
    })
  })
})

describe('records without a time of change', () => {
  const changing = (number: number): ForeignRecord => {
    const { updated } = factsOf(number)
    // The creation is late, so that new records are among the latest.
    return {
      ...record(number),
      created: iso(updated),
      ...(number % 2 === 0 && { changed: null }),
    }
  }

  test('have the probe leave out a filter that does not list them, and say why', async () => {
    const shape = filtered((query) => {
      const since = query.get('updated_since')
      return ({ changed }) => since === null || (changed !== null && String(changed) >= since)
    })
    const probed = await probeShape({ ...shape, record: changing })
    expect(probed.profile?.filters.updated_since).toBeUndefined()
    const gap = probed.gaps.find(({ place }) => place === 'filters.updated_since')
    expect(gap?.problem).toMatch(/^\d+ of \d+ records have no changed, and none of the usual filters/)
  })

  test('are found by a filter for both times, as Directus has it', async () => {
    const ofBoth = /"changed":\{"_gte":"([^"]+)"\}.*"created":\{"_gte":"\1"/
    const sinceIn = (query: URLSearchParams) => ofBoth.exec(query.get('filter') ?? '')?.[1]
    const shape = filtered((query) => {
      const since = sinceIn(query) ?? ''
      return ({ changed, created }) => String(changed ?? created) >= since
    })
    const list: Shape['list'] = (all, url, request) => {
      const isOdd = url.searchParams.has('filter') && sinceIn(url.searchParams) === undefined
      return isOdd ? { status: 400, body: { error: 'invalid query' } } : shape.list(all, url, request)
    }
    const { profile } = await probeShape({ ...shape, list, record: changing })
    expect(profile?.filters.updated_since?.value).toBe(
      '{"_or":[{"changed":{"_gte":"{value}"}},{"created":{"_gte":"{value}"}}]}',
    )
    expect(profile?.mapping.lead.updated_at?.from).toEqual([['changed'], ['created']])
  })
})

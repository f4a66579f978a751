/** A filter of changes must keep what the list's address asks for, and give records that never changed too. */
import { describe, expect, test } from 'vitest'
import {
  type ForeignRecord,
  factsOf,
  iso,
  numberIn,
  PLAIN,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { probeForeign, syncBy } from '../support/source/probing.ts'

const LIST: Shape = {
  ...PLAIN,
  record: (number) => {
    const { company, created, updated } = factsOf(number)
    const status = number % 2 === 0 ? 'lead' : 'customer'
    return { id: `r${number}`, company, status, created: iso(created), changed: iso(updated) }
  },
  list: (all, url) => ({ body: { data: page(all, url) } }),
}

function page(all: readonly ForeignRecord[], url: URL): readonly ForeignRecord[] {
  const offset = numberIn(url, 'offset', 0)
  return all.slice(offset, offset + numberIn(url, 'limit', 20, 100))
}

/** Understands `$filter` with `status eq '…'` and `changed ge …`, joined by `and`. */
const odata: Shape['list'] = (all, url) => {
  const text = url.searchParams.get('$filter') ?? ''
  const [, status] = /status eq '(\w+)'/.exec(text) ?? []
  const [, since] = /changed ge ([^\s)]+)/.exec(text) ?? []
  const matching = all.filter(
    (record) =>
      (status === undefined || record.status === status) &&
      (since === undefined || String(record.changed) >= since),
  )
  return { body: { data: page(matching, url) } }
}

describe('a filter in the address of the list', () => {
  test('is combined with the filter of changes', async () => {
    await using foreign = await startForeign({ ...LIST, list: odata })
    const probed = await probeForeign(`${foreign.url}/leads?$filter=status eq 'lead'`)
    expect(probed.profile?.filters.updated_since).toMatchObject({
      param: '$filter',
      value: "(status eq 'lead') and (changed ge {value})",
    })
    expect(probed.gaps.filter(({ problem }) => problem.includes('overwrite'))).toEqual([])
  })

  test('is not overwritten where both cannot be combined', async () => {
    const list: Shape['list'] = (all, url) => {
      const from = url.searchParams.get('from') ?? ''
      return {
        body: {
          data: page(
            all.filter((record) => String(record.changed) >= from),
            url,
          ),
        },
      }
    }
    await using foreign = await startForeign({ ...LIST, list })
    const probed = await probeForeign(`${foreign.url}/leads?from=2026-04-20`)
    expect(probed.profile?.filters.updated_since).toBeUndefined()
  })

  test('leaves the path of a list without the parameters of its paging', async () => {
    await using foreign = await startForeign(LIST)
    const probed = await probeForeign(foreign.url, '', '/leads?limit=5&view=all')
    expect(probed.profile?.endpoints.leads).toBe('/leads?view=all')
    expect((await syncBy(probed.text, foreign.url)).size).toBe(230)
  })

  test('is told where it sets the size of pages in the address itself', async () => {
    await using foreign = await startForeign(LIST)
    const probed = await probeForeign(`${foreign.url}/leads?limit=5`)
    expect(probed.gaps).toContainEqual({
      place: 'paging.size_param',
      problem: 'the address that was probed has limit=5, which this would overwrite',
      remedy: 'take limit out of api.url',
    })
  })
})

describe('records without a time of change', () => {
  const record = (number: number): ForeignRecord => {
    const { updated } = factsOf(number)
    // The creation is late, so that new records are among the latest.
    return {
      ...LIST.record(number),
      created: iso(updated),
      ...(number % 2 === 0 && { changed: null }),
    }
  }

  test('have the probe leave out a filter that does not list them, and say why', async () => {
    const list: Shape['list'] = (all, url) => {
      const since = url.searchParams.get('updated_since')
      const matching = all.filter(
        ({ changed }) => since === null || (changed !== null && String(changed) >= since),
      )
      return { body: { data: page(matching, url) } }
    }
    await using foreign = await startForeign({ ...LIST, record, list })
    const probed = await probeForeign(`${foreign.url}/leads`)
    expect(probed.profile?.filters.updated_since).toBeUndefined()
    const gap = probed.gaps.find(({ place }) => place === 'filters.updated_since')
    expect(gap?.problem).toMatch(/^\d+ of \d+ records have no changed, and none of the usual filters/)
  })

  test('are found by a filter for both times, as Directus has it', async () => {
    const list: Shape['list'] = (all, url) => {
      const filter = url.searchParams.get('filter')
      const since = /"changed":\{"_gte":"([^"]+)"\}.*"created":\{"_gte":"\1"/.exec(filter ?? '')?.[1]
      if (filter !== null && since === undefined) return { status: 400, body: { error: 'invalid query' } }
      const matching = all.filter(
        (each) => since === undefined || String(each.changed ?? each.created) >= since,
      )
      return { body: { data: page(matching, url) } }
    }
    await using foreign = await startForeign({ ...LIST, record, list })
    const { profile } = await probeForeign(`${foreign.url}/leads`)
    expect(profile?.filters.updated_since?.value).toBe(
      '{"_or":[{"changed":{"_gte":"{value}"}},{"created":{"_gte":"{value}"}}]}',
    )
    expect(profile?.mapping.lead.updated_at?.from).toEqual([['changed'], ['created']])
  })
})

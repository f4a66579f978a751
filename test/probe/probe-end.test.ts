import { describe, expect, test } from 'vitest'
import {
  type ForeignRecord,
  factsOf,
  inHeader,
  numberIn,
  pageIn,
  type Shape,
  startForeign,
} from '../support/source/foreign.ts'
import { probeForeign, probeShape, problemsOf, recordsOf, syncBy } from '../support/source/probing.ts'

/**
 * Without page parameters, the whole list. With them, pages in an envelope of their own, and an error after
 * the last one.
 */
const PAGED_ON_DEMAND: Shape = {
  path: '/queues',
  lets: inHeader('authorization', 'Basic {basic}'),
  refusal: { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: '' },
  record: (number) => ({ name: `q-${number}`, state: factsOf(number).status }),
  idOf: (record) => String(record.name),
  list: (all, url) => {
    const { items, isBehind } = sliceOf(all, url)
    if (!url.searchParams.has('page')) return { body: all }
    return isBehind ? OUT_OF_RANGE : { body: { items, total_count: all.length } }
  },
}

const OUT_OF_RANGE = { status: 400, body: { error: 'page_out_of_range' } }

/** Returns at most 20 records. A larger page is an error. */
function sliceOf(all: readonly ForeignRecord[], url: URL) {
  const page = pageIn(all, url, 'page', ['page_size', 10])
  const items = page.size > 20 ? [] : page.items
  return { items, isBehind: items.length === 0 }
}

function emptyBehind(all: readonly ForeignRecord[], url: URL) {
  return { body: sliceOf(all, url).items }
}

describe('the end of a numbered list', () => {
  test('is known by a total that only pages tell, where an error is behind it and the end is far', async () => {
    await using foreign = await startForeign(PAGED_ON_DEMAND, 233)
    const { text, profile, gaps } = await probeForeign(`${foreign.url}/queues`)
    expect(profile?.paging).toMatchObject({
      kind: 'page',
      total: { path: ['total_count'] },
      stop_at_total: true,
    })
    const open = gaps.filter(({ remedy }) => remedy !== null)
    expect(open.map(({ place }) => place)).toEqual(['mapping.lead.company_name'])
    expect(await syncBy(text, `${foreign.url}/queues`)).toEqual(recordsOf(foreign))
  })

  test('is told to be missing where an error is behind it and nothing tells how many there are', async () => {
    const probed = await probeShape({
      ...PAGED_ON_DEMAND,
      list: (all, url) => {
        const { items, isBehind } = sliceOf(all, url)
        return isBehind ? OUT_OF_RANGE : { body: items }
      },
    })
    expect(problemsOf(probed)).toContain('behind the last page')
  })
})

describe('an id that repeats behind the first page', () => {
  const withNames = (record: (number: number) => ForeignRecord): Shape => ({ ...PAGED_ON_DEMAND, record })

  test('gives way to one that does not', async () => {
    const shape = withNames((number) => ({ ref: `r${number % 15}`, code: `c${number}`, number: number % 50 }))
    await using foreign = await startForeign(
      { ...shape, list: emptyBehind, idOf: (record) => String(record.code) },
      60,
    )
    const { text, profile } = await probeForeign(`${foreign.url}/queues`)
    expect(profile?.mapping.lead.id?.from).toEqual([['code']])
    expect(await syncBy(text, `${foreign.url}/queues`)).toEqual(recordsOf(foreign))
  })

  test('is told where there is no other', async () => {
    const shape = withNames((number) => ({ name: `q-${number % 50}`, size: number % 7 }))
    await using foreign = await startForeign({ ...shape, list: emptyBehind }, 60)
    const { gaps } = await probeForeign(`${foreign.url}/queues`)
    expect(gaps.filter(({ remedy }) => remedy !== null).map(({ place }) => place)).toContain(
      'mapping.lead.id',
    )
  })
})

test('a key that a server cannot read in some form is not taken to be let in by an answer of 400', async () => {
  const bearer = inHeader('authorization', 'Bearer {key}')
  const shape: Shape = {
    ...PAGED_ON_DEMAND,
    lets: (request, url) => /^\S+$/.test(request.headers.authorization ?? '') || bearer(request, url),
    list: (all, url, request) =>
      bearer(request, url) ? { body: all } : { status: 400, body: { error: 'bad_request' } },
  }
  expect(problemsOf(await probeShape(shape, '', 'another-key'))).toMatch(/^auth: /m)
})

test('an empty page that names a next one is no end, neither for the probe nor for the sync', async () => {
  await using foreign = await startForeign(
    {
      ...PAGED_ON_DEMAND,
      list: (all, url) => {
        const at = numberIn(url, 'after', 0)
        // The third page is empty: what it had is left out after the page was cut.
        const from = at > 2 ? at - 1 : at
        const data = at === 2 ? [] : all.slice(from * 10, from * 10 + 10)
        return { body: { data, next: from * 10 + 10 < all.length || at === 2 ? String(at + 1) : null } }
      },
    },
    35,
  )
  const { text, profile, findings } = await probeForeign(`${foreign.url}/queues`)
  expect(profile?.paging).toMatchObject({ kind: 'cursor', param: 'after' })
  expect(findings).toContainEqual(
    expect.objectContaining({
      place: 'paging',
      confidence: 'proved',
      evidence: expect.stringContaining('35 records'),
    }),
  )
  expect(await syncBy(text, `${foreign.url}/queues`)).toEqual(recordsOf(foreign))
})

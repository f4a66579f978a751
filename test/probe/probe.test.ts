import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import { KEY, startForeign } from '../support/source/foreign.ts'
import { SHAPES } from '../support/source/foreign-shapes.ts'
import { probeForeign, recordsOf, syncBy } from '../support/source/probing.ts'
import { PRODUCTS } from '../support/source/product-shapes.ts'
import { HUBSPOT_CONTACTS } from '../support/source/vendors/hubspot.ts'
import { STRAPI } from '../support/source/vendors/strapi.ts'
import { STRIPE } from '../support/source/vendors/stripe.ts'
import { shapeOf } from '../support/source/vendors/vendor.ts'

/** The parameters that Strapi takes; others are errors, such as `page` outside of `pagination`. */
const STRAPI_KNOWS = 'sort pagination[page] pagination[pageSize] filters[updatedAt][$gte]'

/** Each shape, those of products with the filter of changes that is to be found. */
const CASES = [
  ['cursor in paging.next.after, Bearer', shapeOf(HUBSPOT_CONTACTS), null],
  ['starting_after with has_more, Bearer', shapeOf(STRIPE), null],
  [
    'all parameters in brackets',
    shapeOf({ ...STRAPI, knows: STRAPI_KNOWS, isWrong: () => false }),
    'filters[updatedAt][$gte]',
  ],
  ...Object.entries(SHAPES).map(([name, shape]) => [name, shape, null] as const),
  ...PRODUCTS,
] as const

test.each(CASES)(
  '%s is probed, and a sync by what was written stores its records',
  async (_, shape, since) => {
    await using foreign = await startForeign(shape)
    const url = foreign.url + shape.path
    const { text, profile, gaps } = await probeForeign(url)
    const isNoStatusOrCompany = (place: string) => /lead\.(status|company_name)$/.test(place)
    expect(gaps.filter(({ remedy, place }) => remedy !== null && !isNoStatusOrCompany(place))).toEqual([])
    if (since !== null) expect(profile?.filters.updated_since?.param).toBe(since)
    expect(foreign.requests.length).toBeLessThanOrEqual(45)
    expect(foreign.requests.every((request) => request.startsWith('GET '))).toBe(true)
    expect(foreign.requests.filter(hasClash)).toEqual([])
    expect(text).not.toContain(KEY)
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
  },
)

test('what a written profile says of webhooks holds once its lines count', async () => {
  const [shape] = Object.values(SHAPES)
  if (shape === undefined) throw new Error('there is no shape')
  await using foreign = await startForeign(shape)
  const { text } = await probeForeign(foreign.url + shape.path)
  expect(parseProfile(parse(text), 'profile.yaml').webhook).toBeUndefined()
  const counted = text
    .replace(/^#(?! )/gm, '')
    .replace(/^#( {2,}(?:verify|id|type|time|lead|deleted):)/gm, '$1')
  expect(parseProfile(parse(counted), 'profile.yaml').webhook).toMatchObject({
    verify: { scheme: 'standard' },
    id: { header: 'webhook-id' },
    type: { path: ['type'] },
    time: { path: ['timestamp'] },
    deleted: ['lead.deleted'],
  })
})

/** True if a query has the same name with and without brackets. */
function hasClash(request: string): boolean {
  const names = [...new URL(request.split(' ')[1] ?? '/', 'http://127.0.0.1').searchParams.keys()]
  return names.some((name) => names.some((other) => other.startsWith(`${name}[`)))
}

/** Servers that answer like the products of the same names. */
import { describe, expect, test } from 'vitest'
import { startForeign } from '../support/source/foreign.ts'
import { probeForeign, recordsOf, syncBy } from '../support/source/probing.ts'
import { PRODUCTS } from '../support/source/product-shapes.ts'

describe('a product is probed to its filter for changes, and a sync by what was written stores its records', () => {
  test.each(Object.entries(PRODUCTS))('%s', async (_, { shape, since }) => {
    await using foreign = await startForeign(shape)
    const url = foreign.url + shape.path
    const { text, profile, gaps } = await probeForeign(url)
    expect(gaps.filter(({ remedy }) => remedy !== null)).toEqual([])
    expect(profile?.filters.updated_since?.param).toBe(since)
    expect(foreign.requests.filter(hasClash)).toEqual([])
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
  })
})

/** True if a query has the same name with and without brackets. */
function hasClash(request: string): boolean {
  const names = [...new URL(request.split(' ')[1] ?? '/', 'http://127.0.0.1').searchParams.keys()]
  return names.some((name) => names.some((other) => other.startsWith(`${name}[`)))
}

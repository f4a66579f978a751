import { describe, expect, test } from 'vitest'
import { KEY, startForeign } from '../support/foreign.ts'
import { SHAPES } from '../support/foreign-shapes.ts'
import { probeForeign, recordsOf, syncBy } from '../support/probing.ts'

describe('an upstream of a usual shape is probed, and a sync by what was written stores its records', () => {
  test.each(Object.entries(SHAPES))('%s', async (_, shape) => {
    await using foreign = await startForeign(shape)
    const url = foreign.url + shape.path
    const { text, profile, gaps } = await probeForeign(url)
    expect(gaps.filter(({ remedy }) => remedy !== null)).toEqual([])
    expect(profile).not.toBeNull()
    expect(foreign.requests.length).toBeLessThanOrEqual(60)
    expect(foreign.requests.every((request) => request.startsWith('GET '))).toBe(true)
    expect(text).not.toContain(KEY)
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
  })
})

import { describe, expect, test } from 'vitest'
import { KEY, startForeign } from '../support/source/foreign.ts'
import { ODD_SHAPES } from '../support/source/odd-shapes.ts'
import { probeForeign, recordsOf, syncBy } from '../support/source/probing.ts'

describe('an odd upstream is probed, and a sync by what was written stores its records', () => {
  test.each(Object.entries(ODD_SHAPES))('%s', async (_, shape) => {
    await using foreign = await startForeign(shape)
    const url = foreign.url + shape.path
    const { text, gaps } = await probeForeign(url)
    expect(gaps.filter(({ remedy }) => remedy !== null)).toEqual([])
    expect(text).not.toContain(KEY)
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
  })
})

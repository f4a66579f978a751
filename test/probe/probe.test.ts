import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import { KEY, startForeign } from '../support/source/foreign.ts'
import { SHAPES } from '../support/source/foreign-shapes.ts'
import { probeForeign, recordsOf, syncBy } from '../support/source/probing.ts'

describe('an upstream of a usual shape is probed, and a sync by what was written stores its records', () => {
  test.each(Object.entries(SHAPES))('%s', async (_, shape) => {
    await using foreign = await startForeign(shape)
    const url = foreign.url + shape.path
    const { text, profile, gaps } = await probeForeign(url)
    expect(gaps.filter(({ remedy }) => remedy !== null)).toEqual([])
    expect(profile).not.toBeNull()
    expect(foreign.requests.length).toBeLessThanOrEqual(70)
    expect(foreign.requests.every((request) => request.startsWith('GET '))).toBe(true)
    expect(text).not.toContain(KEY)
    expect(await syncBy(text, url)).toEqual(recordsOf(foreign))
  })
})

test('what a written profile says of webhooks holds once its lines count', async () => {
  const [shape] = Object.values(SHAPES)
  if (shape === undefined) throw new Error('there is no shape')
  await using foreign = await startForeign(shape)
  const { text } = await probeForeign(foreign.url + shape.path)
  expect(parseProfile(parse(text), 'profile.yaml').webhook).toBeUndefined()
  const counted = text
    .replace(/^#(?! )/gm, '')
    .replace(/^#( {2,}(?:verify|id|type|time|lead|removed):)/gm, '$1')
  expect(parseProfile(parse(counted), 'profile.yaml').webhook).toMatchObject({
    ...{ verify: { scheme: 'standard' }, id: { header: 'webhook-id' } },
    ...{ type: { path: ['type'] }, time: { path: ['timestamp'] }, removed: ['lead.deleted'] },
  })
})

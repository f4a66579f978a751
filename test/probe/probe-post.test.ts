/** Lists that are asked for by POST, found by the probe. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import { KEY } from '../support/source/foreign.ts'
import { probeForeign } from '../support/source/probing.ts'
import { ATTIO } from '../support/source/vendors/attio.ts'
import { COPPER } from '../support/source/vendors/copper.ts'
import { GRAPHQL } from '../support/source/vendors/graphql.ts'
import { HUBSPOT_SEARCH as HUBSPOT } from '../support/source/vendors/hubspot.ts'
import { NOTION } from '../support/source/vendors/notion.ts'
import { BEARER, refused, startVendor } from '../support/source/vendors/vendor.ts'
import { openSyncing } from '../support/syncing.ts'

describe('a list by POST', () => {
  test.each([
    ['HubSpot', HUBSPOT, ['cursor', 'after', 'limit'], 'filterGroups', 10_000],
    ['Attio', ATTIO, ['offset', 'offset', 'limit'], null, null],
    ['Copper', COPPER, ['page', 'page_number', 'page_size'], 'minimum_modified_date', 100_000],
    ['Notion', NOTION, ['cursor', 'start_cursor', 'page_size'], 'filter', 10_000],
  ] as const)('of %s is found with its paging and filter, and read by what was written', async (...row) => {
    const [, dialect, [kind, param, size_param], since, records] = row
    await using vendor = await startVendor({ ...dialect, headers: BEARER }, 330)
    const url = vendor.url + dialect.path
    const { findings, profile, text, gaps } = await probeForeign(url, KEY)
    const proved = { place: 'request', value: 'POST', confidence: 'proved' }
    expect(findings).toContainEqual(expect.objectContaining(proved))
    expect(profile).toMatchObject({ request: { method: 'POST' }, paging: { kind, param, size_param } })
    expect(profile?.filters.updated_since?.param ?? null).toBe(since)
    expect(profile?.limits.search_records ?? null).toBe(records)
    expect(gaps.filter(({ remedy }) => remedy !== null)).toEqual([])
    expect(findings.every(({ evidence }) => !evidence.includes('\n') && evidence.length < 300)).toBe(true)
    if (dialect === HUBSPOT) expect(profile?.endpoints.lead).toBe(url.replace(/[^/]+$/, '{id}'))
    expect(text).not.toContain(KEY)
    await using copy = await openSyncing(url, KEY, {
      source: { profile: parseProfile(parse(text), 'p.yaml') },
    })
    const { scan } = await copy.sync({ parts: ['leads'], pageSize: 100 })
    expect(scan).toMatchObject({ result: 'complete', distinct: 330 })
  })

  test('in GraphQL is told, with what to write', async () => {
    await using vendor = await startVendor(GRAPHQL, 5)
    const { gaps } = await probeForeign(vendor.url + GRAPHQL.path, KEY)
    expect(gaps).toMatchObject([
      {
        problem: expect.stringContaining('GET /graphql -> 405: this is GraphQL, whose query you must write'),
        remedy: expect.stringContaining('request: { method: POST, body: { query:'),
      },
    ])
    expect(vendor.asked.filter(({ method }) => method === 'POST')).toEqual([])
  })

  test('that wants more than the usual bodies is told, with what it says', async () => {
    await using vendor = await startVendor(ATTIO, 5)
    vendor.before = (_, { method }) => (method === 'POST' ? refused('a segment is required') : null)
    const { gaps } = await probeForeign(vendor.url + ATTIO.path, KEY)
    expect(gaps.at(-1)?.problem).toContain(`POST ${ATTIO.path} {} -> 400: a segment is required`)
    expect(gaps.at(-1)?.remedy).toBe('what the list wants: request: { method: POST, body: { … } }')
  })
})

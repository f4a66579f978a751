/** Lists that are asked for by POST, and lists as CSV or NDJSON, found by the probe. */
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseProfile } from '../../src/upstream/profile/profile.ts'
import { PLAIN, plainRecord, type Shape, startForeign } from '../support/source/foreign.ts'
import {
  APOLLO,
  ATTIO,
  COPPER,
  GRAPHQL,
  HUBSPOT,
  NOTION,
  startVendor,
  VENDOR_KEY,
} from '../support/source/post-dialects.ts'
import { probeForeign, syncBy } from '../support/source/probing.ts'
import { openSyncing } from '../support/syncing.ts'

describe('a list by POST', () => {
  test.each([
    ['HubSpot', HUBSPOT, { kind: 'cursor', param: 'after', size_param: 'limit' }, 'filterGroups', 10_000],
    ['Attio', ATTIO, { kind: 'offset', param: 'offset', size_param: 'limit' }, null, null],
    ['Apollo', APOLLO, { kind: 'page', param: 'page', size_param: 'per_page' }, null, null],
    [
      'Copper',
      COPPER,
      { kind: 'page', param: 'page_number', size_param: 'page_size' },
      'minimum_modified_date',
      100_000,
    ],
    ['Notion', NOTION, { kind: 'cursor', param: 'start_cursor', size_param: 'page_size' }, 'filter', 10_000],
  ] as const)(
    'of %s is found with its paging and filter, and read by what was written',
    async (_, dialect, paging, since, records) => {
      await using vendor = await startVendor(dialect, 330)
      const { findings, profile, text, gaps } = await probeForeign(vendor.url + dialect.path, VENDOR_KEY)
      expect(findings.find(({ place }) => place === 'request')).toMatchObject({
        value: 'POST',
        confidence: 'proved',
      })
      expect(profile).toMatchObject({ request: { method: 'POST' }, paging })
      expect(profile?.filters.updated_since?.param ?? null).toBe(since)
      expect(profile?.limits.search_records ?? null).toBe(records)
      expect(gaps.filter(({ remedy }) => remedy !== null)).toEqual([])
      expect(findings.every(({ evidence }) => !evidence.includes('\n') && evidence.length < 300)).toBe(true)
      const lead = vendor.url + dialect.path.replace(/[^/]+$/, '{id}')
      if (dialect === HUBSPOT) expect(profile?.endpoints.lead).toBe(lead)
      expect(text).not.toContain(VENDOR_KEY)
      expect((await syncBy(text, vendor.url + dialect.path, VENDOR_KEY)).size).toBe(330)
      await using copy = await openSyncing(vendor.url + dialect.path, VENDOR_KEY, {
        source: { profile: parseProfile(parse(text), 'profile.yaml') },
      })
      expect((await copy.sync({ parts: ['leads'], pageSize: 100 })).scan).toMatchObject({
        result: 'complete',
      })
    },
  )

  test('in GraphQL is told, with what to write', async () => {
    await using vendor = await startVendor(GRAPHQL, 5)
    const { gaps } = await probeForeign(vendor.url + GRAPHQL.path, VENDOR_KEY)
    expect(gaps).toMatchObject([
      {
        problem: expect.stringContaining('GET /graphql -> 405: this is GraphQL, whose query you must write'),
        remedy: expect.stringContaining('request: { method: POST, body: { query:'),
      },
    ])
    expect(vendor.bodies).toEqual([])
  })

  test('that wants more than the usual bodies is told, with what it says', async () => {
    await using vendor = await startVendor(ATTIO, 5)
    vendor.before = () => ({ status: 400, body: { message: 'a segment is required' } })
    const { gaps } = await probeForeign(vendor.url + ATTIO.path, VENDOR_KEY)
    expect(gaps.at(-1)?.problem).toContain(`POST ${ATTIO.path} {} -> 400: a segment is required`)
    expect(gaps.at(-1)?.remedy).toBe('what the list wants: request: { method: POST, body: { … } }')
  })

  test('is not looked for at an address where a POST may make a record, and the remedy is not --path', async () => {
    const foreign = await startForeign({
      ...PLAIN,
      first: () => ({ status: 405, headers: { allow: 'POST' }, body: '' }),
    })
    await using _ = foreign
    const { gaps } = await probeForeign(`${foreign.url}/crm/contacts`)
    expect(gaps.at(-1)?.problem).toContain('it takes no GET, and no POST was sent, which may make a record')
    expect(gaps.at(-1)?.remedy).toMatch(
      /^if \/crm\/contacts is a list .* request: \{ method: POST, body: \{\} \}$/,
    )
    expect(foreign.requests.every((request) => request.startsWith('GET '))).toBe(true)
  })
})

const CSV: Shape = {
  ...PLAIN,
  list: (all) => {
    const rows = all.map((record) =>
      Object.values(record)
        .map((value) => `"${value}"`)
        .join(';'),
    )
    const body = [Object.keys(plainRecord(0)).join(';'), ...rows, ''].join('\r\n')
    return { headers: { 'content-type': 'text/csv' }, body }
  },
}
const NDJSON: Shape = {
  ...PLAIN,
  list: (all) => ({
    headers: { 'content-type': 'application/x-ndjson' },
    body: all.map((record) => `${JSON.stringify(record)}\n`).join(''),
  }),
}

test.each([
  ['CSV', CSV],
  ['NDJSON', NDJSON],
])('a list as %s is found, and read by what was written', async (_, shape) => {
  await using foreign = await startForeign(shape, 47)
  const { text, profile } = await probeForeign(foreign.url + shape.path)
  expect(profile).toMatchObject({ paging: { kind: 'none' }, envelope: { leads: [] } })
  const stored = await syncBy(text, foreign.url + shape.path)
  expect([...stored.keys()].sort()).toEqual([...foreign.ids].sort())
  expect(stored.get('r7')).toMatchObject({ company: 'Company 7', status: foreign.records[7]?.status })
})

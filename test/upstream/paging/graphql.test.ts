/** Errors of GraphQL, which come with status 200 and must not be read as an empty list. */
import { describe, expect, it } from 'vitest'
import { GRAPHQL } from '../../support/source/vendors/graphql.ts'
import { KEY, profileOf, startVendor } from '../../support/source/vendors/vendor.ts'
import { openSyncing } from '../../support/syncing.ts'

const profile = profileOf(GRAPHQL)
const PAGE_INFO = { hasNextPage: false, endCursor: null }

/** Syncs from a vendor that answers some requests with a body, and returns the result and the waits. */
async function sync(
  body: unknown,
  requests: readonly number[],
  headers: Readonly<Record<string, string>> = {},
) {
  const waits: number[] = []
  await using vendor = await startVendor(GRAPHQL, 30)
  vendor.before = (request) => (requests.includes(request) ? { body, headers } : null)
  let nowMs = 0
  const timer = {
    now: () => nowMs,
    wait: async (ms: number) => {
      if (ms > 0) waits.push(ms)
      nowMs += ms
    },
  }
  await using copy = await openSyncing(vendor.url, KEY, { source: { profile, timer } })
  const { scan, problems } = await copy.sync({ parts: ['leads'], pageSize: 20 })
  return {
    result: scan?.result,
    leads: scan?.distinct,
    problem: problems[0] ?? null,
    waits,
    asked: vendor.asked.length,
  }
}

const ALWAYS = Array.from({ length: 20 }, (_, index) => index + 1)

describe('an error of GraphQL', () => {
  it.each<readonly [string, unknown, RegExp]>([
    [
      'without data',
      { errors: [{ message: 'Cannot query field "nam" on type "Lead".' }] },
      /answered 200 with an error: Cannot query field "nam"/,
    ],
    [
      'beside null',
      { data: null, errors: [{ message: 'internal error', path: ['leads'] }] },
      /failed after 5 attempts: it answered 200 and no record, but an error: internal error/,
    ],
    [
      'beside a list that is null',
      { data: { leads: null }, errors: [{ message: 'no access to leads', path: ['leads'] }] },
      /no record, but an error: no access to leads/,
    ],
    [
      'beside nodes that are null',
      { data: { leads: { nodes: null, pageInfo: PAGE_INFO } }, errors: [{ message: 'timeout' }] },
      /no record, but an error: timeout/,
    ],
    [
      'beside an empty list',
      { data: { leads: { nodes: [], pageInfo: PAGE_INFO } }, errors: [{ message: 'timeout' }] },
      /no record, but an error: errors: timeout/,
    ],
  ])('%s is no empty list', async (_, body, message) => {
    const { result, problem } = await sync(body, ALWAYS)
    expect(result ?? 'incomplete').toBe('incomplete')
    expect(problem?.message).toMatch(message)
  })

  it('beside a part of the leads makes the scan incomplete, and they are kept', async () => {
    const node = { id: 'l1', name: 'A', status: 'new' }
    const body = {
      data: { leads: { nodes: [node], pageInfo: PAGE_INFO } },
      errors: [{ message: 'shard 3 is down' }],
    }
    const { result, leads, problem } = await sync(body, [1])
    expect({ result, leads }).toEqual({ result: 'incomplete', leads: 1 })
    expect(problem?.message).toContain('shard 3 is down')
  })

  it('of a query that is wrong is not sent again', async () => {
    expect((await sync({ errors: [{ message: 'Syntax Error' }] }, ALWAYS)).asked).toBe(1)
  })

  it.each<readonly [string, unknown, Readonly<Record<string, string>>, number]>([
    [
      'Shopify',
      {
        errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
        extensions: {
          cost: { requestedQueryCost: 752, throttleStatus: { currentlyAvailable: 652, restoreRate: 50 } },
        },
      },
      {},
      2_000,
    ],
    [
      'monday.com',
      {
        errors: [
          {
            message: 'Complexity budget exhausted',
            extensions: { code: 'COMPLEXITY_BUDGET_EXHAUSTED', retry_in_seconds: 6, status_code: 429 },
          },
        ],
      },
      {},
      6_000,
    ],
    [
      'GitHub',
      { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] },
      { 'retry-after': '7' },
      7_000,
    ],
  ])('of %s about too many requests is waited for', async (_, body, headers, waitMs) => {
    const { result, leads, waits } = await sync(body, [2], headers)
    expect({ result, leads }).toEqual({ result: 'complete', leads: 30 })
    expect(waits).toContain(waitMs)
  })
})

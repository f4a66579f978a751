/** Errors of GraphQL, which come with status 200 and must not be read as an empty list. */
import { expect, it } from 'vitest'
import { fakeTimer } from '../../support/schedule/timer.ts'
import { KEY } from '../../support/source/foreign.ts'
import { GRAPHQL } from '../../support/source/vendors/graphql.ts'
import { profileOf, startVendor } from '../../support/source/vendors/vendor.ts'
import { openSyncing } from '../../support/syncing.ts'

type Case = readonly [what: string, body: object, headers?: Readonly<Record<string, string>>]

const pageInfo = { hasNextPage: false, endCursor: null }
const node = { id: 'l1', name: 'A', status: 'new' }
const throttleStatus = { currentlyAvailable: 652, restoreRate: 50 }
const budget = { code: 'COMPLEXITY_BUDGET_EXHAUSTED', retry_in_seconds: 6, status_code: 429 }
const failing = (message: string, data?: unknown) => ({
  errors: [{ message }],
  ...(data !== undefined && { data }),
})

/** Answers to each request. */
const ALWAYS: readonly Case[] = [
  ['without data, as a query that is wrong', failing('Cannot query field "nam" on type "Lead".')],
  ['beside null', failing('internal error', null)],
  ['beside a list that is null', failing('no access to leads', { leads: null })],
  ['beside nodes that are null', failing('timeout', { leads: { nodes: null, pageInfo } })],
  ['beside an empty list', failing('timeout', { leads: { nodes: [], pageInfo } })],
  ['beside a part of the leads', failing('shard 3 is down', { leads: { nodes: [node], pageInfo } })],
]

/** Answers to the second request about too many requests. */
const ONCE: readonly Case[] = [
  [
    'of Shopify',
    {
      errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
      extensions: { cost: { requestedQueryCost: 752, throttleStatus } },
    },
  ],
  ['of monday.com', { errors: [{ message: 'Complexity budget exhausted', extensions: budget }] }],
  [
    'of GitHub',
    { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] },
    { 'retry-after': '7' },
  ],
]

/** Syncs from a vendor that answers with a body, and tells the result, the waits and the problem. */
async function tell([what, body, headers = {}]: Case, only: number | null): Promise<string> {
  await using vendor = await startVendor(GRAPHQL, 30)
  vendor.before = (request) => (only === null || request === only ? { body, headers } : null)
  const timer = fakeTimer()
  await using copy = await openSyncing(vendor.url, KEY, { source: { profile: profileOf(GRAPHQL), timer } })
  const { scan, problems } = await copy.sync({ parts: ['leads'], pageSize: 20 })
  const result = `${scan?.result ?? 'no scan'}, leads ${scan?.distinct ?? 0}`
  const lines = [
    `requests ${vendor.asked.length}, waits of ${timer.waits.join() || 0} ms`,
    ...problems.map(({ message }) => message),
  ]
  return [`${what}: ${result}`, ...lines].join('\n  ').replaceAll(vendor.url, '')
}

it('an error of GraphQL is no empty list, is sent again where that may help, and is waited for', async () => {
  const told: string[] = []
  for (const one of ALWAYS) told.push(await tell(one, null))
  for (const one of ONCE) told.push(await tell(one, 2))
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/graphql.txt')
})

/**
 * Stripe, from the pages "List all customers" and "Pagination" of its API reference: newest first, `starting_after` is
 * the id of the last record, times are epoch seconds, and there is no time of change.
 */
import { byCreation, type Dialect, epochSeconds, KEY, type Kept } from './vendor.ts'

const customerOf = (kept: Kept) => ({
  id: `cus_${kept.id}`,
  object: 'customer',
  name: kept.company,
  description: null,
  email: 'ada@example.com',
  balance: kept.value,
  currency: 'eur',
  address: null,
  created: epochSeconds(kept.created),
})

export const STRIPE: Dialect = {
  profile: 'stripe-customers',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['customer'],
  copied: ({ id }) => ({
    id: `cus_${id}`,
    contact_name: null,
    owner: null,
    pipeline_id: 'default',
    updated_at: null,
  }),
  answer: ({ path, query }, kept) => {
    const one = kept.find(({ id }) => path === `/v1/customers/cus_${id}`)
    if (one !== undefined) return { body: customerOf(one) }
    if (path !== '/v1/customers') return null
    const limit = Number(query.get('limit') ?? 10)
    const after = query.get('starting_after')
    const found = [...kept].sort(byCreation).reverse()
    const from = after === null ? 0 : found.findIndex(({ id }) => `cus_${id}` === after) + 1
    if (limit > 100 || (after !== null && from === 0))
      return { status: 400, body: { error: { type: 'invalid_request_error', message: 'No such customer' } } }
    const data = found.slice(from, from + limit).map(customerOf)
    return { body: { object: 'list', url: '/v1/customers', has_more: from + limit < found.length, data } }
  },
}

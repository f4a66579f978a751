/**
 * Stripe, from the pages "List all customers" and "Pagination" of its API reference: newest first, `starting_after` is
 * the id of the last record, times are epoch seconds, and there is no time of change.
 */
import { BEARER, byCreation, type Dialect, epochSeconds } from './vendor.ts'

export const STRIPE: Dialect = {
  profile: 'stripe-customers',
  headers: BEARER,
  statuses: ['customer'],
  copied: ({ id }) => ({
    id: `cus_${id}`,
    contact_name: null,
    owner: null,
    pipeline_id: 'default',
    updated_at: null,
  }),
  path: '/v1/customers',
  knows: 'limit starting_after',
  size: ['limit', 10, 100],
  // A record that is not there makes the request wrong.
  offset: ({ starting_after: last }, found) => {
    const place = found.findIndex(({ id }) => `cus_${id}` === last)
    return last === undefined ? 0 : place < 0 ? -1 : place + 1
  },
  order: () => (one, other) => byCreation(other, one),
  record: (kept) => ({
    id: `cus_${kept.id}`,
    name: kept.company,
    balance: kept.value,
    created: epochSeconds(kept.created),
  }),
  page: ({ items: data, next }) => ({
    body: { object: 'list', url: '/v1/customers', has_more: next !== null, data },
  }),
  single: ({ id }) => `/v1/customers/cus_${id}`,
}

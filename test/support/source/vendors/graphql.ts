/** A connection of GraphQL as its cursor specification has it, for which no profile ships. */
import { BEARER, type Dialect, NO_ENDPOINTS } from './vendor.ts'

const QUERY = `query($first: Int, $after: String, $since: String) {
  leads(first: $first, after: $after, since: $since) {
    nodes { id name status createdAt updatedAt } pageInfo { hasNextPage endCursor } totalCount
  }
}`

export const GRAPHQL: Dialect = {
  profile: {
    name: 'graphql',
    endpoints: { ...NO_ENDPOINTS, leads: '/graphql' },
    request: { method: 'POST', body: { query: QUERY, variables: {} } },
    paging: {
      kind: 'cursor',
      param: 'variables.after',
      next: 'data.leads.pageInfo.endCursor',
      has_more: 'data.leads.pageInfo.hasNextPage',
      size_param: 'variables.first',
      size_max: 50,
      total: 'data.leads.totalCount',
    },
    envelope: { leads: 'data.leads.nodes' },
    filters: { updated_since: { param: 'variables.since' } },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'name',
        status: 'status',
        created_at: 'createdAt',
        updated_at: 'updatedAt',
      },
    },
  },
  headers: BEARER,
  statuses: ['new', 'contacted', 'qualified', 'won', 'lost'],
  copied: () => ({ contact_name: null, value_amount: null, owner: null, pipeline_id: 'default' }),
  method: 'POST',
  path: '/graphql',
  reads: ({ path, method, body }) =>
    path === '/graphql' && (method === 'POST' ? { query: body?.query, ...body?.variables } : {}),
  size: ['first', 0, 50],
  offset: 'after',
  isWrong: ({ query, first }) => !String(query).includes('leads(') || typeof first !== 'number',
  has: ({ updated }, { since = '' }) => updated >= since,
  record: ({ id, company: name, status, created: createdAt, updated: updatedAt }) => ({
    id,
    name,
    status,
    createdAt,
    updatedAt,
  }),
  page: ({ items: nodes, next, total: totalCount }) => {
    const pageInfo = { hasNextPage: next !== null, endCursor: next === null ? null : `c${next}` }
    return { body: { data: { leads: { nodes, pageInfo, totalCount } } } }
  },
}

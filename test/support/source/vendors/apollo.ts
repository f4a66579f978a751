/** Apollo, from the page "Search for Contacts" of its API reference, for which no profile ships. */
import { BEARER, type Dialect, NO_ENDPOINTS } from './vendor.ts'

export const APOLLO: Dialect = {
  profile: {
    name: 'apollo',
    endpoints: { ...NO_ENDPOINTS, leads: '/api/v1/contacts/search' },
    request: { method: 'POST', body: { sort_by_field: 'contact_created_at', sort_ascending: true } },
    paging: {
      kind: 'page',
      param: 'page',
      size_param: 'per_page',
      size_max: 100,
      pages: 'pagination.total_pages',
      total: 'pagination.total_entries',
    },
    envelope: { leads: 'contacts' },
    mapping: {
      lead: {
        id: 'id',
        company_name: 'organization_name',
        status: 'contact_stage_id',
        created_at: 'created_at',
        updated_at: 'updated_at',
      },
    },
  },
  headers: BEARER,
  statuses: ['new', 'contacted', 'qualified', 'won', 'lost'],
  copied: () => ({ contact_name: null, value_amount: null, owner: null, pipeline_id: 'default' }),
  method: 'POST',
  path: '/api/v1/contacts/search',
  size: ['per_page', 25, 100],
  pages: 'page',
  refusesBeyond: true,
  record: ({ id, company, status, created, updated }) => ({
    id,
    organization_name: company,
    contact_stage_id: status,
    created_at: created,
    updated_at: updated,
  }),
  page: ({ items: contacts, size, from, total }) => {
    const totals = { total_entries: total, total_pages: Math.ceil(total / size) }
    return { body: { contacts, pagination: { page: 1 + from / size, per_page: size, ...totals } } }
  },
}

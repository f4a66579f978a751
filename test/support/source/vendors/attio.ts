/**
 * Attio, from the pages "List deal records" and "Filtering and sorting" of its API reference (v2): a POST with `limit`
 * of at most 500 and `offset`, and no total. Each value is a list of what holds now.
 */
import { BEARER, type Dialect } from './vendor.ts'

const PATH = '/v2/objects/deals/records'

export const ATTIO: Dialect = {
  profile: 'attio-deals',
  headers: BEARER,
  statuses: ['Lead', 'In Progress', 'Lost'],
  copied: () => ({ contact_name: null, pipeline_id: 'default', updated_at: null }),
  method: 'POST',
  path: `${PATH}/query`,
  knows: 'limit offset sorts',
  size: ['limit', 500, 500],
  offset: 'offset',
  isWrong: ({ sorts: [sort] = [] }) => sort && (sort.attribute !== 'created_at' || sort.direction !== 'asc'),
  record: (kept) => {
    const active = { active_from: kept.updated.replace('Z', '000000Z'), active_until: null }
    return {
      id: { workspace_id: '14beef7a', object_id: '97052eb9', record_id: kept.id },
      created_at: kept.created.replace('Z', '000000Z'),
      values: {
        name: [{ ...active, value: kept.company, attribute_type: 'text' }],
        stage: [{ ...active, status: { title: kept.status, is_archived: false }, attribute_type: 'status' }],
        owner: [{ ...active, referenced_actor_type: 'workspace-member', referenced_actor_id: kept.owner }],
        value: [{ ...active, currency_value: kept.value, currency_code: 'USD', attribute_type: 'currency' }],
      },
    }
  },
  page: ({ items: data }) => ({ body: { data } }),
  single: ({ id }) => `${PATH}/${id}`,
  wrap: (data) => ({ data }),
}

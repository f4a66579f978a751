/**
 * Attio, from the pages "List deal records" and "Filtering and sorting" of its API reference (v2): a POST with `limit`
 * of at most 500 and `offset`, and no total. Each value is a list of what holds now.
 */
import { byCreation, type Dialect, KEY, type Kept, refused } from './vendor.ts'

const PATH = '/v2/objects/deals/records'

function recordOf(kept: Kept) {
  const active = { active_from: kept.updated.replace('Z', '000000Z'), active_until: null }
  return {
    id: { workspace_id: '14beef7a', object_id: '97052eb9', record_id: kept.id },
    created_at: kept.created.replace('Z', '000000Z'),
    web_url: `https://app.attio.com/example/deals/${kept.id}`,
    values: {
      name: [{ ...active, value: kept.company, attribute_type: 'text' }],
      stage: [{ ...active, status: { title: kept.status, is_archived: false }, attribute_type: 'status' }],
      owner: [{ ...active, referenced_actor_type: 'workspace-member', referenced_actor_id: kept.owner }],
      value: [{ ...active, currency_value: kept.value, currency_code: 'USD', attribute_type: 'currency' }],
      associated_people: [],
      associated_company: [{ ...active, target_object: 'companies', target_record_id: 'c1' }],
    },
  }
}

export const ATTIO: Dialect = {
  profile: 'attio-deals',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['Lead', 'In Progress', 'Lost'],
  copied: () => ({ contact_name: null, pipeline_id: 'default', updated_at: null }),
  answer: ({ method, path, body }, kept) => {
    const one = kept.find(({ id }) => path === `${PATH}/${id}`)
    if (method === 'GET') return one === undefined ? null : { body: { data: recordOf(one) } }
    if (path !== `${PATH}/query`) return null
    const { limit = 500, offset = 0, sorts, filter, ...rest } = body
    if (Object.keys(rest).length > 0 || typeof limit !== 'number' || limit > 500 || filter !== undefined)
      return refused('validation_type')
    if (sorts[0].attribute !== 'created_at' || sorts[0].direction !== 'asc')
      return refused('unknown_attribute')
    return {
      body: {
        data: [...kept]
          .sort(byCreation)
          .slice(offset, offset + limit)
          .map(recordOf),
      },
    }
  },
}

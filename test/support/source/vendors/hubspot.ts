/**
 * HubSpot, from the pages "CRM API | Contacts" and "CRM search" of its developer documentation (v3): at most 100
 * records a page of the list and 200 of the search, which ends at 10,000. Archived contacts are in neither.
 */
import { type Asked, byCreation, byUpdate, type Dialect, KEY, type Kept, refused } from './vendor.ts'

const PATH = '/crm/v3/objects/contacts'
const COMMON = {
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['subscriber', 'lead', 'marketingqualifiedlead', 'opportunity', 'customer'],
  copied: () => ({ value_amount: null, pipeline_id: 'default' }),
}

/** A contact has the properties that were asked for, and three more. */
function contactOf(
  { id, contact, company, status, owner, created, updated }: Kept,
  asked: readonly string[],
) {
  const [firstname, ...rest] = contact.split(' ')
  const all = {
    firstname,
    lastname: rest.join(' '),
    company,
    lifecyclestage: status,
    hubspot_owner_id: owner,
  }
  const chosen = asked.map((name) => [name, Reflect.get(all, name) ?? null])
  const properties = { ...Object.fromEntries(chosen), createdate: created, lastmodifieddate: updated }
  return { id, properties, createdAt: created, updatedAt: updated, archived: false }
}

function pageOf(found: readonly Kept[], from: number, limit: number, properties: readonly string[]) {
  const next = from + limit
  const paging = next < found.length ? { paging: { next: { after: String(next), link: '…' } } } : {}
  return { results: found.slice(from, next).map((kept) => contactOf(kept, properties)), ...paging }
}

function single({ method, path, query }: Asked, kept: readonly Kept[]) {
  const found = kept.find(({ id }) => path === `${PATH}/${id}`)
  if (method !== 'GET' || found === undefined) return null
  return { body: contactOf(found, (query.get('properties') ?? '').split(',')) }
}

export const HUBSPOT_CONTACTS: Dialect = {
  ...COMMON,
  profile: 'hubspot-contacts',
  answer: (asked, kept) => {
    if (asked.method !== 'GET' || asked.path !== PATH) return single(asked, kept)
    const limit = Number(asked.query.get('limit') ?? 10)
    if (limit > 100) return refused('limit must be at most 100')
    const properties = (asked.query.get('properties') ?? '').split(',')
    const found = [...kept].sort(byCreation)
    return { body: pageOf(found, Number(asked.query.get('after') ?? 0), limit, properties) }
  },
}

export const HUBSPOT_SEARCH: Dialect = {
  ...COMMON,
  profile: 'hubspot-search',
  answer: (asked, kept) => {
    if (asked.method !== 'POST' || asked.path !== `${PATH}/search`) return single(asked, kept)
    const { filterGroups = [], sorts = [], properties = [], limit = 10, after = 0, ...rest } = asked.body
    if (Object.keys(rest).length > 0) return refused(`unknown field ${Object.keys(rest)}`)
    if (limit > 200 || Number(after) + limit > 10_000) return refused('paging is out of range')
    const filter = filterGroups[0]?.filters[0]
    if (filter !== undefined && (filter.operator !== 'GTE' || filter.propertyName !== 'lastmodifieddate'))
      return refused('no such filter')
    const since = Number(filter?.value ?? 0)
    const order = sorts[0]?.propertyName === 'lastmodifieddate' ? byUpdate : byCreation
    const found = kept.filter(({ updated }) => Date.parse(updated) >= since).sort(order)
    return { body: { total: found.length, ...pageOf(found, Number(after), limit, properties) } }
  },
}

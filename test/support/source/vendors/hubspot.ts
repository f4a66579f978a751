/**
 * HubSpot, from the pages "CRM API | Contacts" and "CRM search" of its developer documentation (v3): at most 100
 * records a page of the list and 200 of the search, which ends at 10,000. Archived contacts are in neither.
 */
import { BEARER, byCreation, byUpdate, type Dialect, type Params } from './vendor.ts'

const PATH = '/crm/v3/objects/contacts'

const COMMON = {
  asksForKeyFirst: true,
  headers: BEARER,
  statuses: ['subscriber', 'lead', 'marketingqualifiedlead', 'opportunity', 'customer'],
  copied: () => ({ value_amount: null, pipeline_id: 'default' }),
  offset: 'after',
  /** A contact has the properties that were asked for, and two more. Where none is asked for, it has all here. */
  record: ({ id, contact, company, status, owner, created, updated }, params) => {
    const [firstname, ...rest] = contact.split(' ')
    const own = { company, lifecyclestage: status, hubspot_owner_id: owner }
    const all = { firstname, lastname: rest.join(' '), ...own }
    const names = params.properties === undefined ? Object.keys(all) : `${params.properties}`.split(',')
    const chosen = names.map((name: string) => [name, Reflect.get(all, name) ?? null])
    const properties = { ...Object.fromEntries(chosen), createdate: created, lastmodifieddate: updated }
    return { id, properties, createdAt: created, updatedAt: updated, archived: false }
  },
  single: ({ id }) => `${PATH}/${id}`,
} satisfies Partial<Dialect>

const pageOf = (results: readonly object[], next: number | null) =>
  next === null ? { results } : { results, paging: { next: { after: String(next), link: '…' } } }

export const HUBSPOT_CONTACTS: Dialect = {
  ...COMMON,
  profile: 'hubspot-contacts',
  path: PATH,
  size: ['limit', 10, 100],
  page: ({ items, next }) => ({ body: pageOf(items, next) }),
}

const filterOf = ({ filterGroups }: Params) => filterGroups?.[0]?.filters[0]

export const HUBSPOT_SEARCH: Dialect = {
  ...COMMON,
  profile: 'hubspot-search',
  method: 'POST',
  path: `${PATH}/search`,
  knows: 'filterGroups sorts query properties limit after',
  size: ['limit', 10, 200],
  refusesBeyond: true,
  isWrong: (params) => {
    const { operator = 'GTE', propertyName = 'lastmodifieddate' } = filterOf(params) ?? {}
    return operator !== 'GTE' || propertyName !== 'lastmodifieddate'
  },
  has: ({ updated }, params) => Date.parse(updated) >= Number(filterOf(params)?.value ?? 0),
  order: ({ sorts }) => (sorts?.[0]?.propertyName === 'lastmodifieddate' ? byUpdate : byCreation),
  page: ({ items, next, total }) => ({ body: { total, ...pageOf(items, next) } }),
}

/**
 * Microsoft Dynamics 365, from the page "Query data using the Web API" of the Dataverse documentation: the next page is
 * an address in `@odata.nextLink`, and names of choices and lookups are annotations that the header Prefer asks for.
 */
import { BEARER, type Dialect, inSeconds, linkTo } from './vendor.ts'

const SHOWN = '@OData.Community.Display.V1.FormattedValue'
const PREFER = `odata.maxpagesize=1000,odata.include-annotations="${SHOWN.slice(1)}"`
const SINCE = /^modifiedon ge ([\d-]{10}T[\d:]{8}Z)$/

export const DYNAMICS: Dialect = {
  profile: 'dynamics-leads',
  base: '/api/data/v9.2',
  headers: { ...BEARER, Prefer: PREFER },
  statuses: ['New', 'Contacted', 'Qualified', 'Lost'],
  copied: () => ({ pipeline_id: 'default' }),
  path: '/leads',
  knows: '$select $filter $orderby $skiptoken',
  offset: '$skiptoken',
  isWrong: ({ $filter }) => $filter !== undefined && !SINCE.test($filter),
  has: ({ updated }, { $filter = '' }) => inSeconds(updated) >= (SINCE.exec($filter)?.[1] ?? ''),
  record: (kept) => ({
    leadid: kept.id,
    fullname: kept.contact,
    companyname: kept.company,
    statuscode: 1,
    [`statuscode${SHOWN}`]: kept.status,
    _ownerid_value: '3b0d7c1e-0d5a-ee11-8def-000d3a5b0f00',
    [`_ownerid_value${SHOWN}`]: kept.owner,
    estimatedamount: kept.value,
    [`estimatedamount${SHOWN}`]: `$${kept.value}`,
    createdon: inSeconds(kept.created),
    modifiedon: inSeconds(kept.updated),
  }),
  page: ({ items: value, next }, asked) => ({
    body: { value, ...(next && { '@odata.nextLink': linkTo(asked, '$skiptoken', next) }) },
  }),
  single: ({ id }) => `/leads(${id})`,
}

/**
 * Microsoft Dynamics 365, from the page "Query data using the Web API" of the Dataverse documentation: the next page is
 * an address in `@odata.nextLink`, and names of choices and lookups are annotations that the header Prefer asks for.
 */
import { byCreation, type Dialect, inSeconds, KEY, type Kept, PAGE, refused } from './vendor.ts'

const SHOWN = '@OData.Community.Display.V1.FormattedValue'
const PREFER = `odata.maxpagesize=1000,odata.include-annotations="${SHOWN.slice(1)}"`

const leadOf = (kept: Kept) => ({
  '@odata.etag': `W/"${kept.number}"`,
  leadid: kept.id,
  fullname: kept.contact,
  companyname: kept.company,
  statecode: 0,
  [`statecode${SHOWN}`]: 'Open',
  statuscode: 1,
  [`statuscode${SHOWN}`]: kept.status,
  _ownerid_value: '3b0d7c1e-0d5a-ee11-8def-000d3a5b0f00',
  [`_ownerid_value${SHOWN}`]: kept.owner,
  estimatedamount: kept.value,
  [`estimatedamount${SHOWN}`]: `$${kept.value}`,
  estimatedclosedate: null,
  createdon: inSeconds(kept.created),
  modifiedon: inSeconds(kept.updated),
})

export const DYNAMICS: Dialect = {
  profile: 'dynamics-leads',
  base: '/api/data/v9.2',
  headers: { Authorization: `Bearer ${KEY}`, Prefer: PREFER },
  statuses: ['New', 'Contacted', 'Qualified', 'Lost'],
  copied: () => ({ pipeline_id: 'default' }),
  answer: ({ path, query, origin }, kept) => {
    const [, one] = /^\/leads\((\w+)\)$/.exec(path) ?? []
    const found = kept.filter(({ id }) => id === one)
    if (found[0] !== undefined) return { body: leadOf(found[0]) }
    if (path !== '/leads') return null
    const unknown = [...query.keys()].find((name) => !/^\$(select|filter|orderby|skiptoken)$/.test(name))
    if (unknown !== undefined) return refused(`The query parameter ${unknown} is not supported.`)
    const filter = query.get('$filter')
    const [, since = ''] = /^modifiedon ge ([\d-]{10}T[\d:]{8}Z)$/.exec(filter ?? '') ?? []
    if (filter !== null && since === '') return refused('Syntax error in $filter')
    const changed = kept.filter(({ updated }) => inSeconds(updated) >= since).sort(byCreation)
    const from = Number(query.get('$skiptoken') ?? 0)
    const next = new URL(`${origin}/leads`)
    for (const [name, value] of query) next.searchParams.set(name, value)
    next.searchParams.set('$skiptoken', String(from + PAGE))
    const link = from + PAGE < changed.length ? { '@odata.nextLink': next.href } : {}
    return { body: { value: changed.slice(from, from + PAGE).map(leadOf), ...link } }
  },
}

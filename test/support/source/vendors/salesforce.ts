/**
 * Salesforce, from the pages "QueryAll" and "Query More" of its REST API Developer Guide, and "SOQL date formats":
 * the server chooses the size of a page, the next one has a path without a host, and queryAll shows deleted records.
 */
import { BEARER, byCreation, byUpdate, type Dialect, inSeconds } from './vendor.ts'

const BASE = '/services/data/v62.0'
const QUERY =
  /^SELECT (?<fields>[\w.,]+) FROM Lead( WHERE SystemModstamp >= (?<since>[\d-]{10}T[\d:]{8}Z))?( ORDER BY (?<order>\w+),Id)?$/

/** `2026-10-01T00:00:00.000+0000`, as Salesforce writes it. */
const written = (instant: string): string => instant.replace('Z', '+0000')

export const SALESFORCE: Dialect = {
  profile: 'salesforce-leads',
  headers: BEARER,
  statuses: ['Open - Not Contacted', 'Working - Contacted', 'Closed - Converted', 'Closed - Not Converted'],
  copied: () => ({ value_amount: null, pipeline_id: 'default' }),
  path: `${BASE}/queryAll`,
  showsDeleted: true,
  // The identifier of the next page has the query here, in place of a cursor that the server keeps.
  reads: ({ path, query }) => {
    const [is, text, place = 0] = new RegExp(`^${BASE}/queryAll(?:/(.+)-(\\d+))?$`).exec(path) ?? []
    const soql = text === undefined ? query.get('q') : Buffer.from(text, 'base64url').toString()
    return is === undefined ? null : { soql, place, ...QUERY.exec(soql ?? '')?.groups }
  },
  isWrong: ({ fields }) => fields === undefined,
  offset: 'place',
  has: ({ updated }, { since = '' }) => inSeconds(updated) >= since,
  order: ({ order }) => (order === 'SystemModstamp' ? byUpdate : byCreation),
  record: (kept, { fields }) => {
    const all: Readonly<Record<string, unknown>> = {
      Id: kept.id,
      Status: kept.status,
      Company: kept.company,
      Name: kept.contact,
      'Owner.Name': kept.owner,
      IsDeleted: kept.isDeleted,
      CreatedDate: written(kept.created),
      SystemModstamp: written(kept.updated),
    }
    const record: Record<string, unknown> = {
      attributes: { type: 'Lead', url: `${BASE}/sobjects/Lead/${kept.id}` },
    }
    for (const field of fields.split(',')) {
      const [name = '', inner] = field.split('.')
      record[name] = inner ? { attributes: { type: 'Name' }, [inner]: all[field] } : (all[field] ?? null)
    }
    return record
  },
  page: ({ items: records, next, total: totalSize, params: { soql } }) => {
    const nextRecordsUrl = `${BASE}/queryAll/${Buffer.from(soql).toString('base64url')}-${next}`
    return { body: { totalSize, done: next === null, ...(next && { nextRecordsUrl }), records } }
  },
}

/**
 * Salesforce, from the pages "QueryAll" and "Query More" of its REST API Developer Guide, and "SOQL date formats":
 * the server chooses the size of a page, the next one has a path without a host, and queryAll shows deleted records.
 */
import { byCreation, byUpdate, type Dialect, inSeconds, KEY, type Kept, PAGE } from './vendor.ts'

const BASE = '/services/data/v62.0'
const QUERY =
  /^SELECT (?<fields>[\w.,]+) FROM Lead( WHERE SystemModstamp >= (?<since>[\d-]{10}T[\d:]{8}Z))? ORDER BY (?<order>\w+),Id$/

function refusedQuery(message: string) {
  return { status: 400, body: [{ message, errorCode: 'MALFORMED_QUERY' }] }
}

/** `2026-10-01T00:00:00.000+0000`, as Salesforce writes it. */
const written = (instant: string): string => instant.replace('Z', '+0000')

function leadOf(kept: Kept, fields: readonly string[]) {
  const all: Readonly<Record<string, unknown>> = {
    Id: kept.id,
    Status: kept.status,
    Company: kept.company,
    Name: kept.contact,
    'Owner.Name': kept.owner,
    IsConverted: false,
    IsDeleted: kept.isDeleted,
    CreatedDate: written(kept.created),
    SystemModstamp: written(kept.updated),
  }
  const record: Record<string, unknown> = {
    attributes: { type: 'Lead', url: `${BASE}/sobjects/Lead/${kept.id}` },
  }
  for (const field of fields) {
    const [name = '', inner] = field.split('.')
    record[name] =
      inner === undefined ? (all[field] ?? null) : { attributes: { type: 'Name' }, [inner]: all[field] }
  }
  return record
}

export const SALESFORCE: Dialect = {
  profile: 'salesforce-leads',
  headers: { Authorization: `Bearer ${KEY}` },
  statuses: ['Open - Not Contacted', 'Working - Contacted', 'Closed - Converted', 'Closed - Not Converted'],
  copied: () => ({ value_amount: null, pipeline_id: 'default' }),
  answer: ({ method, path, query }, _, all) => {
    // The identifier of the next page has the query here, in place of a cursor that the server keeps.
    const [, name, text, place = '0'] =
      new RegExp(`^${BASE}/(queryAll|query)(?:/(.+)-(\\d+))?$`).exec(path) ?? []
    if (method !== 'GET' || name !== 'queryAll') return null
    const soql = text === undefined ? (query.get('q') ?? '') : Buffer.from(text, 'base64url').toString()
    const asked = QUERY.exec(soql)?.groups
    if (asked === undefined) return refusedQuery(`unexpected token: ${soql}`)
    const { fields = '', since = '', order } = asked
    const found = all
      .filter(({ updated }) => inSeconds(updated) >= since)
      .sort(order === 'SystemModstamp' ? byUpdate : byCreation)
    const from = Number(place)
    const records = found.slice(from, from + PAGE).map((kept) => leadOf(kept, fields.split(',')))
    const next = `${BASE}/queryAll/${Buffer.from(soql).toString('base64url')}-${from + PAGE}`
    const done = from + PAGE >= found.length
    return { body: { totalSize: found.length, done, ...(done ? {} : { nextRecordsUrl: next }), records } }
  },
}

/** The servers of list-servers.mjs, which list the same leads, each in its own way. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/network/free-port.ts'
import { missingPostgres } from '../support/postgres/postgres-programs.ts'
import { newDatabase } from '../support/postgres.ts'
import { type Api, lead, METHODS, type RealServerKind, range, serverWith } from './real-server.ts'
import { startProcess } from './server-process.ts'

/** OData with a login: a single record has its id in brackets, and a company only where it is asked for. */
export const ODATA = listServer('OData of @sap/cds', '@sap/cds', 'odata', {
  list: '/crm/Leads?$expand=company',
  key: 'reader:p4ss',
  headers: { authorization: `Basic ${btoa('reader:p4ss')}` },
  records: 'value',
  read: (from) => ['GET', `/crm/Leads?$expand=company&$skip=${from}`],
  write: (change, index, edits) => [
    METHODS[change],
    change === 'add' ? '/crm/Leads' : `/crm/Leads('l-${index}')`,
    lead(index, edits),
  ],
})

export const JSON_API = listServer('JSON:API of Fortune', 'fortune-json-api', 'jsonApi', {
  list: '/leads',
  headers: { accept: 'application/vnd.api+json', 'content-type': 'application/vnd.api+json' },
  records: 'data',
  read: (from) => ['GET', `/leads?page[offset]=${from}`],
  write(change, index, edits) {
    const { id, ...attributes } = lead(index, edits)
    return [
      METHODS[change],
      change === 'add' ? '/leads' : `/leads/${id}`,
      { data: { type: 'leads', id, attributes } },
    ]
  },
})

export const COUCHDB = listServer("CouchDB's search in PouchDB", 'express-pouchdb', 'couchDb', {
  list: '/leads/_find',
  records: 'docs',
  id: '_id',
  read: (skip) => ['POST', '/leads/_find', { selector: {}, limit: 100, skip }],
  write(change, index, edits, stored) {
    const { id, ...fields } = lead(index, edits)
    const { _rev } = stored.get(String(id)) ?? {}
    return [
      'POST',
      '/leads/_bulk_docs',
      { docs: [{ ...fields, _id: id, _rev, _deleted: change === 'remove' }] },
    ]
  },
})

const MUTATIONS = {
  add: '($lead: LeadInput!) { createLead(input: { lead: $lead }) { __typename } }',
  change:
    '($id: String!, $lead: LeadPatch!) { updateLeadById(input: { id: $id, leadPatch: $lead }) { __typename } }',
  remove: '($id: String!) { deleteLeadById(input: { id: $id }) { __typename } }',
}
const SELECTION = `id firstName lastName email stage score amount ratio views hot closes callAt calledAt createdAt updatedAt note
  company { id name city }`

export const GRAPHQL = listServer('GraphQL of PostGraphile', 'postgraphile', 'graphQl', {
  list: '/graphql',
  records: 'data.allLeads.nodes',
  read: (from) => ['POST', '/graphql', { query: `{ allLeads(offset: ${from}) { nodes { ${SELECTION} } } }` }],
  write: (change, index, edits) => [
    'POST',
    '/graphql',
    { query: `mutation ${MUTATIONS[change]}`, variables: { id: `l-${index}`, lead: lead(index, edits) } },
  ],
})

function listServer(
  name: string,
  module: string,
  handler: 'odata' | 'jsonApi' | 'couchDb' | 'graphQl',
  { list, ...api }: Omit<Api, 'url' | 'id'> & { readonly list: string; readonly id?: Api['id'] },
): RealServerKind {
  const isInstalled = existsSync(join(import.meta.dirname, 'node_modules', module))
  const isInDatabase = handler === 'graphQl'
  return {
    name,
    missing: () => (isInstalled ? (isInDatabase ? missingPostgres() : null) : 'npm ci --prefix test/foreign'),
    async start(records) {
      const port = await freePort()
      const args = [join(import.meta.dirname, 'list-servers.mjs'), handler, String(port)]
      if (isInDatabase) args.push(await newDatabase())
      const url = `http://127.0.0.1:${port}${list}`
      const server = await serverWith(0, startProcess(process.execPath, args), { id: 'id', ...api, url })
      await server.write('add', range(0, records), 0)
      return server
    },
  }
}

/** json-server from npm: numbered pages with Link and X-Total-Count, without a key. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderWith } from '../support/folder.ts'
import { freePort } from '../support/network/free-port.ts'
import {
  afterHours,
  type RealServer,
  type RealServerKind,
  serverWith,
  type UpstreamRecord,
} from './real-server.ts'
import { startProcess } from './server-process.ts'

const BIN = join(import.meta.dirname, 'node_modules/json-server/lib/cli/bin.js')
const STATUSES = ['new', 'contacted', 'qualified', 'won', 'lost']

export const JSON_SERVER: RealServerKind = {
  name: 'json-server',
  missing: () => (existsSync(BIN) ? null : 'npm ci --prefix test/foreign'),
  start: startJsonServer,
}

async function startJsonServer(records: number): Promise<RealServer> {
  const file = join(folderWith(), 'db.json')
  const leads = Array.from({ length: records }, (_, index) => contact(index))
  writeFileSync(file, JSON.stringify({ leads }))
  const port = await freePort()
  const args = [BIN, '--quiet', '--host', '127.0.0.1', '--port', String(port), file]
  return serverWith(records, startProcess(process.execPath, args), {
    url: `http://127.0.0.1:${port}/leads`,
    key: '',
    headers: {},
    id: 'id',
    folder: '/',
    addition: (index) => ['POST', '', contact(index)],
  })
}

function contact(index: number): UpstreamRecord {
  return {
    id: index + 1,
    firstName: `Ada${index}`,
    lastName: 'Lovelace',
    email: `ada${index}@company${index}.example`,
    status: STATUSES[index % STATUSES.length],
    score: index % 101,
    company: { name: `Company ${index}`, domain: `company${index}.example` },
    createdAt: afterHours(index),
    // The times are scattered, so that the order of changes differs from the order of the list.
    updatedAt: afterHours(3_000 + ((index * 7919) % 5_000)),
  }
}

/** json-server from npm: numbered pages with Link and X-Total-Count, without a key. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderWith } from '../support/folder.ts'
import { freePort } from '../support/network/free-port.ts'
import { lead, METHODS, type RealServer, type RealServerKind, range, serverWith } from './real-server.ts'
import { startProcess } from './server-process.ts'

const BIN = join(import.meta.dirname, 'node_modules/json-server/lib/cli/bin.js')

export const JSON_SERVER: RealServerKind = {
  name: 'json-server',
  missing: () => (existsSync(BIN) ? null : 'npm ci --prefix test/foreign'),
  start: startJsonServer,
}

async function startJsonServer(records: number): Promise<RealServer> {
  const file = join(folderWith(), 'db.json')
  const leads = range(0, records).map((index) => lead(index, 0))
  writeFileSync(file, JSON.stringify({ leads }))
  const port = await freePort()
  const args = [BIN, '--quiet', '--host', '127.0.0.1', '--port', String(port), file]
  return serverWith(records, startProcess(process.execPath, args), {
    url: `http://127.0.0.1:${port}/leads`,
    id: 'id',
    read: () => ['GET', '/leads'],
    write: (change, index, edits) => [
      METHODS[change],
      change === 'add' ? '/leads' : `/leads/l-${index}`,
      lead(index, edits),
    ],
  })
}

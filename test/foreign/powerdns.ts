/** PowerDNS from Debian: X-API-Key, and thousands of zones in one bare array without pages. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { folderWith } from '../support/folder.ts'
import { freePort } from '../support/network/free-port.ts'
import { findInstalled } from '../support/process/programs.ts'
import { type RealServer, type RealServerKind, serverWith } from './real-server.ts'
import { startProcess } from './server-process.ts'

const BIN = '/usr/sbin/pdns_server'
const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'
const KEY = 'k3y-for-tests'
const ZONES = '/api/v1/servers/localhost/zones'

export const POWERDNS: RealServerKind = {
  name: 'PowerDNS',
  missing: () =>
    findInstalled(BIN) && findInstalled(SCHEMA) ? null : 'apt-get install pdns-server pdns-backend-sqlite3',
  start: startPowerDns,
}

async function startPowerDns(records: number): Promise<RealServer> {
  const folder = folderWith()
  const file = join(folder, 'zones.db')
  fillZones(file, records)
  const port = await freePort()
  const settings = {
    launch: 'gsqlite3',
    'gsqlite3-database': file,
    'socket-dir': folder,
    'local-address': '127.0.0.1',
    'local-port': await freePort(),
    api: 'yes',
    'api-key': KEY,
    'webserver-address': '127.0.0.1',
    'webserver-port': port,
    daemon: 'no',
    guardian: 'no',
    setuid: '',
    setgid: '',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  writeFileSync(join(folder, 'pdns.conf'), `${lines.join('\n')}\n`)
  return serverWith(records, startProcess(BIN, [`--config-dir=${folder}`]), {
    url: `http://127.0.0.1:${port}${ZONES}`,
    key: KEY,
    headers: { 'x-api-key': KEY },
    id: 'id',
    read: () => ['GET', ZONES],
    write: (change, index) =>
      change === 'add'
        ? ['POST', ZONES, { name: `${zone(index)}.`, kind: 'Native', nameservers: [] }]
        : [change === 'change' ? 'PUT' : 'DELETE', `${ZONES}/${zone(index)}.`, { kind: 'Master' }],
  })
}

/** Fills the zones through the database file, which is a hundred times as fast as through the API. */
function fillZones(file: string, count: number): void {
  const database = new Database(file)
  database.exec(readFileSync(SCHEMA, 'utf8'))
  const insert = database.prepare("INSERT INTO domains (name, type) VALUES (?, 'NATIVE')")
  database.transaction(() => {
    for (let index = 0; index < count; index++) insert.run(zone(index))
  })()
  database.close()
}

function zone(index: number): string {
  return `company${index}.example`
}

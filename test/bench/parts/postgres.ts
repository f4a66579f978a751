/** A first sync, an unchanged and an incremental one into PostgreSQL by one worker, compared with the same into SQLite. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import { missingPostgres } from '../../support/postgres/postgres-programs.ts'
import { createDatabase, openPostgresServer, withClient } from '../../support/postgres/postgres-server.ts'
import { type Checksum, checkCopy, checksumOf } from '../checksum.ts'
import { addTimes, type Part } from '../measurement.ts'
import { newFolder, runContender, startUpstream } from '../programs.ts'
import { readProcess } from '../step.ts'

const STEPS = 'first,unchanged,incremental'
const SHORT_LEADS_MAX = 30_000

export const POSTGRES: Part = {
  subjects: ['postgres'],
  async measure({ fewest, rounds, isShort }, add) {
    const missing = missingPostgres()
    if (missing !== null) return `PostgreSQL: ${missing}`
    const leads = isShort ? Math.min(fewest, SHORT_LEADS_MAX) : fewest
    await using upstream = await startUpstream(leads)
    await using server = await openPostgresServer(true)
    await withClient(server.adminUrl, (admin) => admin.query("ALTER SYSTEM SET shared_buffers = '1GB'"))
    await server.stop('fast')
    await server.start()
    const pid = await withClient(server.adminUrl, findServerPid)
    for (let round = 0; round < (isShort ? 1 : rounds); round++) {
      process.stderr.write(`PostgreSQL, round ${round + 1}\n`)
      await using folder = await newFolder()
      const places = {
        sqlite: join(folder.path, 'leads.db'),
        postgres: await withClient(server.adminUrl, (admin) => createDatabase(admin)),
      }
      for (const [name, place] of Object.entries(places)) {
        let before = readServerCpuMs(pid)
        for await (const { step, ms, cpuMs } of runContender('ours.ts', [
          ...[upstream.address, place, String(leads), STEPS],
        ])) {
          const after = readServerCpuMs(pid)
          addTimes(add, `${name} ${step}`, fewest, { ms, cpuMs: cpuMs + after - before }, leads / 1000)
          before = after
        }
      }
      if (round === 0)
        await checkCopy('postgres', await readChecksum(places.postgres), upstream.address, 'v2')
    }
    return null
  },
}

async function findServerPid(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return readProcess(rows[0]?.pid ?? 0).parent
}

/** Returns the CPU time of the server and of all its processes, also of those that have ended. */
function readServerCpuMs(server: number): number {
  const ofChildren = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const { parent, ticks } = readProcess(name)
      return parent === server ? ticks.slice(0, 2) : []
    } catch {
      // A process may end at any time, and its time then belongs to the server.
      return []
    }
  })
  return 10 * [...readProcess(server).ticks, ...ofChildren].reduce((all, one) => all + one, 0)
}

function readChecksum(url: string): Promise<Checksum> {
  return withClient(url, async (client) => {
    const { rows } = await client.query('SELECT id, raw FROM lead JOIN lead_raw ON lead_no = no')
    return checksumOf(rows)
  })
}

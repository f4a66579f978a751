// @long
/** The settings and backups of PostgreSQL in compose.scale.yaml, run with its real programs. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPgBossQueue } from '../../src/queue/pg-boss.ts'
import { placeOf } from '../../src/store/db/place.ts'
import { openStore } from '../../src/store/open.ts'
import { openPostgresServer, type PostgresServer, withClient } from '../support/postgres/postgres-server.ts'
import { hasPostgres } from '../support/postgres.ts'
import { SILENT } from '../support/syncing.ts'
import { ROOT } from './support/image.ts'

const NOW = new Date('2026-11-21T06:00:00.000Z')
const PASSWORD = 'it\'s 100% "secret"'
const run = promisify(execFile)

describe.skipIf(!hasPostgres)('deploy/postgres', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
  const backups = join(folder, 'backups')
  let server: PostgresServer
  beforeAll(async () => {
    mkdirSync(backups)
    writeFileSync(join(folder, 'password'), `${PASSWORD}\n`)
    for (const name of ['create.sql', 'backup.sh']) writeFileSync(join(folder, name), asMounted(name, folder))
    server = await openPostgresServer(false)
    await withClient(server.adminUrl, (admin) => admin.query('DROP ROLE leadsheet'))
    await run('psql', ['--set=ON_ERROR_STOP=1', '--file', join(folder, 'create.sql'), server.adminUrl])
    return async () => {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    }
  })

  /** Returns the URL of the store as the workers get it. */
  function storeUrl(): string {
    const { port } = new URL(server.adminUrl)
    return `postgres://leadsheet:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/leadsheet`
  }

  function backUp(database: string) {
    const env = { PGHOST: '127.0.0.1', PGPORT: new URL(server.adminUrl).port, PGUSER: 'leadsheet' }
    const { PATH = '' } = process.env
    return run('sh', [join(folder, 'backup.sh')], { env: { ...env, PATH, PGDATABASE: database } })
  }

  it('makes a user who has all that a store and its queue need, and is no superuser', async () => {
    const place = placeOf(storeUrl())
    if (place.kind !== 'postgres') throw new Error('the address is not one of PostgreSQL')
    await using store = await openStore(storeUrl(), NOW)
    await using _queue = await openPgBossQueue(place, SILENT)
    const { rows } = await sql<object>`
      SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE rolname = current_user
    `.execute(store.db)
    expect(rows).toEqual([{ rolsuper: 0, rolcreaterole: 0, rolcreatedb: 0, rolreplication: 0 }])
  })

  it('makes a backup that has all of the store, under a name that a part of one never has', async () => {
    await using store = await openStore(storeUrl(), NOW)
    const { stdout: said } = await backUp('leadsheet')
    const [file = '', ...others] = readdirSync(backups)
    expect(file).toMatch(/^leadsheet-\d{8}T\d{6}Z\.dump$/)
    expect([said, others]).toEqual([`${join(backups, file)}\n`, []])
    const { rows } = await sql<{ name: string }>`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = CAST('leadsheet' AS regnamespace) AND relkind IN ('r', 'v')`.execute(store.db)
    const { stdout } = await run('pg_restore', ['--list', join(backups, file)])
    const listed = [...stdout.matchAll(/ (?:TABLE|VIEW) leadsheet (\S+) leadsheet$/gm)].map(
      ([, name]) => name,
    )
    expect(rows.length).toBeGreaterThan(40)
    expect(listed.sort()).toEqual(rows.map(({ name }) => name).sort())
  })

  it('leaves nothing behind where PostgreSQL does not give all', async () => {
    const before = readdirSync(backups)
    await expect(backUp('elsewhere')).rejects.toThrow('"elsewhere" does not exist')
    expect(readdirSync(backups)).toEqual(before)
  })
})

/** Returns the file with the paths of the test in place of those in the container. */
function asMounted(name: string, folder: string): string {
  return readFileSync(join(ROOT, 'deploy/postgres', name), 'utf8')
    .replaceAll('/run/secrets/store-password', join(folder, 'password'))
    .replaceAll('/backups/', `${folder}/backups/`)
}

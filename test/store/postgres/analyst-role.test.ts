/** Analysts with their own role in PostgreSQL can read what a snapshot shows, and nothing else. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { makeAnalystRole, planAnalystRole } from '../../../src/store/postgres/analyst-role.ts'
import { PRIVATE, PUBLISHED } from '../../../src/store/schema/published.ts'
import { VIEWS } from '../../../src/store/schema/views.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { fetchAdminUrl, hasPostgres, newDatabase } from '../../support/postgres.ts'
import { lead, OPENED_AT, save } from '../../support/store.ts'

const PASSWORD = "it's a 'secret' \\ é"
const REFUSED = /permission denied/

/** A role belongs to all databases of a server, so each test has its own. */
function newRole(): string {
  return `analysts_${randomUUID().slice(0, 8)}`
}

async function openWithReader(role: string): Promise<{ store: Store; url: string; readerUrl: string }> {
  const url = await newDatabase()
  const store = await openStore(`${url}?schema=north`, OPENED_AT)
  await save(store, [lead('l1'), lead('l2')])
  await makeAnalystRole(store, { role, password: PASSWORD })
  const reader = new URL(url)
  reader.username = role
  reader.password = encodeURIComponent(PASSWORD)
  return { store, url, readerUrl: reader.href }
}

function errorOf(client: Client, text: string): Promise<string> {
  return client.query(text).then(
    () => 'done',
    (error: Error) => error.message,
  )
}

describe.skipIf(!hasPostgres)('a role of analysts', () => {
  it('reads every public table and view by its name alone, and nothing that is private', async () => {
    const { store, readerUrl } = await openWithReader(newRole())
    const said = await withClient(readerUrl, async (client) => {
      const errors: Record<string, string> = {}
      for (const name of [...Object.keys(PUBLISHED), ...Object.keys(VIEWS), ...PRIVATE])
        errors[name] = await errorOf(client, `SELECT count(*) FROM ${name}`)
      for (const [table, withheld] of Object.entries(PUBLISHED))
        for (const column of withheld)
          errors[column] = await errorOf(client, `SELECT ${column} FROM ${table}`)
      return errors
    })
    const { rows: there } = await sql<{ name: string }>`
      SELECT relname AS name FROM pg_class WHERE relnamespace = CAST('north' AS regnamespace)`.execute(
      store.db,
    )
    await store.close()
    const open = [...Object.keys(PUBLISHED), ...Object.keys(VIEWS)]
    expect(open.filter((name) => said[name] !== 'done')).toEqual([])
    const shut = [...PRIVATE.filter((name) => there.some((row) => row.name === name)), 'html', 'text']
    expect(shut.length).toBeGreaterThan(20)
    expect(shut.filter((name) => !REFUSED.test(said[name] ?? ''))).toEqual([])
  })

  it('writes nothing, also where it takes back that it only reads', async () => {
    const { store, readerUrl } = await openWithReader(newRole())
    const attempts = [
      'DELETE FROM lead',
      "UPDATE lead SET status = 'won'",
      'INSERT INTO lease SELECT',
      'DROP VIEW lead_now',
      'CREATE TABLE mine (id int)',
      "SELECT nextval('lead_no_seq')",
    ]
    await withClient(readerUrl, async (client) => {
      for (const attempt of attempts)
        expect(await errorOf(client, attempt)).toMatch(/read-only transaction|permission denied/)
      await client.query('SET default_transaction_read_only = off')
      for (const attempt of attempts)
        expect(await errorOf(client, attempt)).toMatch(/permission denied|must be owner/)
      const { rows } = await client.query('SELECT count(*)::int AS leads FROM lead_now')
      expect(rows).toEqual([{ leads: 2 }])
    })
    await store.close()
  })

  it('goes on to read what a later version shows, and loses what it was given besides', async () => {
    const role = newRole()
    const { store, url, readerUrl } = await openWithReader(role)
    await sql`DROP VIEW pipeline_overview`.execute(store.db)
    await sql`GRANT SELECT ON delivery TO ${sql.ref(role)}`.execute(store.db)
    await sql`COMMENT ON TABLE kysely_migration IS 'of a version before'`.execute(store.db)
    await store.close()
    await withClient(readerUrl, async (client) => {
      expect(await errorOf(client, 'SELECT * FROM delivery')).toBe('done')
      await (await openStore(`${url}?schema=north`, OPENED_AT)).close()
      expect(await errorOf(client, 'SELECT * FROM pipeline_overview')).toBe('done')
      expect(await errorOf(client, 'SELECT * FROM delivery')).toMatch(REFUSED)
    })
  })

  it('is told by SQL in which its password does not stand', async () => {
    const { store } = await openWithReader(newRole())
    const { statements, isNew } = await planAnalystRole(store, { role: newRole(), password: PASSWORD })
    await store.close()
    expect(isNew).toBe(true)
    expect(statements[0]).toMatch(/^CREATE ROLE "analysts_\w+" LOGIN PASSWORD 'SCRAM-SHA-256\$4096:/)
    expect(statements.join()).not.toContain('secret')
  })

  it('is not who has the store, nor one that reads everything anyway', async () => {
    const { store, url } = await openWithReader(newRole())
    const role = newRole()
    const create = `CREATE ROLE ${role} IN ROLE ${new URL(url).username}`
    await withClient(await fetchAdminUrl(), (admin) => admin.query(create))
    const { rows } = await sql<{ name: string }>`SELECT rolname AS name FROM pg_roles WHERE rolsuper`.execute(
      store.db,
    )
    for (const name of [role, rows[0]?.name ?? '', 'pg_monitor', 'a"b'])
      await expect(planAnalystRole(store, { role: name, password: null })).rejects.toMatchObject({
        code: 'usage_invalid',
      })
    await store.close()
  })
})

it('there is none for a store in a file', async () => {
  await using store = await openStore(':memory:', OPENED_AT)
  await expect(makeAnalystRole(store, { role: 'analysts', password: null })).rejects.toMatchObject({
    code: 'store_elsewhere',
  })
})

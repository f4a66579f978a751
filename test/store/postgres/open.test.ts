/** Making and opening a schema in PostgreSQL, and the errors about it. */

import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { countLeads } from '../../../src/store/leads/lead.ts'
import { openStore } from '../../../src/store/open.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { fetchAdminUrl, hasPostgres, newDatabase } from '../../support/postgres.ts'
import { makeNextVersion } from '../../support/process/next-version.ts'
import { lead, newStoreUrl, OPENED_AT, save } from '../../support/store.ts'

const open = (url: string): Promise<Store> => openStore(url, OPENED_AT)

/** Marks the functions and views as made by another version. */
const OF_ANOTHER_VERSION = `COMMENT ON TABLE leadsheet.kysely_migration IS 'leadsheet of another day'`

async function alter(url: string, statements: string): Promise<void> {
  await withClient(url, (client) => client.query(statements))
}

async function refusalOf(url: string) {
  const thrown: unknown = await open(url).then(
    (store) => store.close(),
    (cause: unknown) => cause,
  )
  if (!(thrown instanceof LeadsheetError)) throw thrown
  const { code, message, hint } = thrown
  return { code, message, hint }
}

describe.skipIf(!hasPostgres)('a schema of PostgreSQL', () => {
  it('is made once by those who open it at the same moment', async () => {
    const url = await newDatabase()
    const stores = await Promise.all([open(url), open(url), open(url)])
    expect(new Set(stores.map((store) => store.installationId)).size).toBe(1)
    await Promise.all(stores.map((store) => store.close()))
  })

  it('may have been made, empty, for somebody who may not make one', async () => {
    const url = await newDatabase()
    await alter(
      url,
      `CREATE SCHEMA mine; DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM PUBLIC', current_database()); END $$;`,
    )
    await using store = await open(`${url}?schema=mine`)
    await save(store, [lead('1')])
    expect(await store.db.selectFrom('lead').select('id').execute()).toEqual([{ id: '1' }])
  })

  it('is not shared by two installations of one database', async () => {
    const url = await newDatabase()
    await using one = await open(`${url}?schema=one`)
    await using two = await open(`${url}?schema=two`)
    await save(one, [lead('1')])
    await save(two, [lead('2'), lead('3')])
    expect(await sql`SELECT id FROM lead_now`.execute(one.db)).toMatchObject({ rows: [{ id: '1' }] })
    expect(await countLeads(two.db)).toBe(2)
    expect(one.installationId).not.toBe(two.installationId)
  })

  it('keeps the views of analysts when its own are made anew', async () => {
    const url = await newStoreUrl()
    await alter(url, `CREATE VIEW public.mine AS SELECT id FROM leadsheet.lead_now; ${OF_ANOTHER_VERSION}`)
    await using store = await open(url)
    await save(store, [lead('1')])
    const { rows } = await sql`SELECT id FROM public.mine`.execute(store.db)
    expect(rows).toEqual([{ id: '1' }])
  })
})

/** Returns the URL of a new database of PostgreSQL without a schema, after statements, with another user or name. */
async function emptyDatabase(change: Partial<URL>, statements = 'SELECT'): Promise<string> {
  const url = await newDatabase()
  await alter(url, statements)
  return Object.assign(new URL(url), change).href
}

async function changedStore(statements: string): Promise<string> {
  const url = await newStoreUrl()
  await alter(url, statements)
  return url
}

const READ_ONLY =
  "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$"

const GUEST = { username: `guest_${Date.now()}`, password: 'secret' }

/** The databases that cannot be opened, by what a reader is told of them. */
const REFUSED: Readonly<Record<string, () => Promise<string>>> = {
  'of a newer version': () =>
    changedStore(`INSERT INTO leadsheet.kysely_migration VALUES ('999-later', ''); ${OF_ANOTHER_VERSION}`),
  'of somebody else': () => changedStore('DROP TABLE leadsheet.kysely_migration'),
  'with views of analysts in the way of new ones': () =>
    changedStore(`DROP VIEW leadsheet.funnel_latest;
      CREATE VIEW leadsheet.funnel_latest AS SELECT 1 AS old;
      CREATE VIEW public.mine AS SELECT old FROM leadsheet.funnel_latest; ${OF_ANOTHER_VERSION}`),
  'for want of the right to make it': () =>
    emptyDatabase(GUEST, `CREATE ROLE ${GUEST.username} LOGIN PASSWORD '${GUEST.password}'`),
  'for a wrong password': () => emptyDatabase({ password: 'wrong-guess' }),
  'in a database that is not there': () => emptyDatabase({ pathname: '/nowhere' }),
  'in a database that can only be read': () => emptyDatabase({}, READ_ONLY),
}

describe.skipIf(!hasPostgres)('a schema of PostgreSQL that cannot be opened', () => {
  it('is told with what to do, without the password, left as it is, and no connection stays behind', async () => {
    const [told, databases]: [string[], string[]] = [[], []]
    for (const [name, prepare] of Object.entries(REFUSED)) {
      const url = await prepare()
      databases.push(new URL(url).pathname.slice(1))
      const { code, message, hint } = await refusalOf(url)
      told.push(`${name}\n  ${code}: ${message}\n  ${hint}\n`)
      if (name.startsWith('with views')) await alter(url, 'SELECT old FROM public.mine')
    }
    await withClient(await fetchAdminUrl(), async (client) => {
      const others = 'SELECT datname FROM pg_stat_activity WHERE datname = ANY ($1)'
      await expect.poll(async () => (await client.query(others, [databases])).rows).toEqual([])
      await client.query(`DROP ROLE ${GUEST.username}`)
    })
    const shown = told.join('').replaceAll(/(127|Leads-|guest_)[\w.:]+/g, '$1…')
    expect(shown).not.toMatch(/secret|wrong-guess/)
    await expect(shown).toMatchFileSnapshot('golden/refused.txt')
  })

  it('of the version before the next one is told, and left as it is', async () => {
    const url = await newStoreUrl()
    const next = await import(join(makeNextVersion(), 'store/open.ts'))
    await expect(next.openStore(url, OPENED_AT)).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining('was made by an older leadsheet (its schema lacks 002-next)'),
      hint: expect.stringContaining('nothing was changed.'),
    })
    await (await openStore(url, OPENED_AT)).close()
  })
})

it.skipIf(!hasPostgres)(
  'that loses the settings of a session is told, and nothing is made elsewhere',
  async () => {
    const url = await newDatabase()
    const pooled = await startPooler(url, (client, first) => {
      const server = connect(Number(new URL(url).port), '127.0.0.1')
      // The replacement has the same length, so that the length of the message stays right.
      server.write(
        first.toString('latin1').replace('search_path=leadsheet', 'search_path=elsewhere'),
        'latin1',
      )
      client.pipe(server).pipe(client)
      for (const end of [client, server]) end.on('error', () => client.destroy())
    })
    await expect(openStore(pooled, OPENED_AT)).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.stringContaining('its search_path is elsewhere, not leadsheet'),
      hint: expect.stringContaining('PgBouncer'),
    })
    const { rows } = await withClient(url, (client) =>
      client.query("SELECT nspname FROM pg_namespace WHERE nspname IN ('leadsheet', 'elsewhere')"),
    )
    expect(rows).toEqual([])
  },
)

/** @returns the URL of the same database through the pooler */
async function startPooler(url: string, answer: (client: Socket, first: Buffer) => void): Promise<string> {
  const pooler = createServer((client) => client.once('data', (first: Buffer) => answer(client, first)))
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void pooler.close())
  const address = pooler.address()
  const pooled = new URL(url)
  pooled.port = String(typeof address === 'object' ? address?.port : '')
  return pooled.href
}

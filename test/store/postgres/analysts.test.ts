/** The SQL of the page on PostgreSQL makes a role that reads what analysts need, and nothing private. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { PUBLISHED } from '../../../src/store/schema/published.ts'
import { VIEWS } from '../../../src/store/schema/views.ts'
import { listPrivateTables } from '../../support/data/tables.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { lead, newStoreUrl, OPENED_AT, save } from '../../support/store.ts'

const PAGE = new URL('../../../docs/how-to/postgresql-and-workers.md', import.meta.url)

it.skipIf(!hasPostgres)(
  'the role of analysts in docs/how-to/postgresql-and-workers.md reads what the page grants by its name alone, and no private table',
  async () => {
    const [, grants = ''] = /```\n(CREATE ROLE analysts.+?)```/s.exec(await readFile(PAGE, 'utf8')) ?? []
    const granted = [...grants.matchAll(/leadsheet\.(\w+)/g)].map(([, name = '']) => name)
    expect([...Object.keys(PUBLISHED), ...Object.keys(VIEWS)]).toEqual(expect.arrayContaining(granted))
    // A role belongs to all databases of a server, so each run has its own.
    const role = `analysts_${randomUUID().slice(0, 8)}`
    const url = await newStoreUrl()
    const store = await openStore(url, OPENED_AT)
    await save(store, [lead('l1'), lead('l2')])
    await withClient(url, (client) =>
      client.query(grants.replaceAll('analysts', role).replace('…', 'secret')),
    )
    await store.close()
    const reader = new URL(url)
    reader.username = role
    reader.password = 'secret'
    await withClient(reader.href, async (client) => {
      for (const name of granted) await client.query(`SELECT count(*) FROM ${name}`)
      const { rows } = await client.query('SELECT count(*)::int AS leads FROM lead_now')
      expect(rows).toEqual([{ leads: 2 }])
      const counts = (await listPrivateTables()).map((name) => `SELECT count(*) FROM ${name}`)
      for (const refused of ['DELETE FROM stage', ...counts])
        await expect(client.query(refused)).rejects.toThrow(/permission denied|does not exist/)
    })
  },
)

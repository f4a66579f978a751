/** Questions to a server beside its tables: whether it accepts writes, and how much it holds. */
import { describe, expect, it } from 'vitest'
import { MACHINE_CHECKS } from '../../../src/checks/machine.ts'
import { readSize } from '../../../src/store/backup/backup.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import { openStore } from '../../../src/store/open.ts'
import { readLastHeartbeat } from '../../../src/store/schedule/uptime.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { lead, migratedDatabase, OPENED_AT, save } from '../../support/store.ts'
import { factsOf } from '../../support/web/installation.ts'

const migrated = async () => newDatabase({ template: await migratedDatabase() })

describe.skipIf(!hasPostgres)('a PostgreSQL server', () => {
  it('that lets its user only read is no place to work', async () => {
    const url = await migrated()
    await (await openStore(url, OPENED_AT)).close()
    const name = new URL(url).pathname.slice(1)
    await withClient(url, (client) =>
      client.query(`ALTER DATABASE "${decodeURIComponent(name)}" SET default_transaction_read_only = on`),
    )
    await using store = await openStore(url, OPENED_AT)
    const [found] = await MACHINE_CHECKS.database_unwritable.find(factsOf(store, OPENED_AT))
    expect(found).toMatchObject({
      message: 'PostgreSQL lets this user only read',
      hint: expect.stringContaining('default_transaction_read_only'),
    })
  })

  it('is asked for the size of one schema, and not of all', async () => {
    const url = await migrated()
    await using store = await openStore(url, OPENED_AT)
    await using other = await openStore(`${url}?schema=other`, OPENED_AT)
    const [before, ofOther] = await Promise.all([readSize(store), readSize(other)])
    const raw = Array.from({ length: 2_000 }, (_, n) => lead(`l${n}`))
    await save(store, raw)
    const after = await readSize(store)
    expect(after.room).toBeNull()
    expect(after.database).toBeGreaterThan(before.database + 500_000)
    expect(await readSize(other)).toEqual(ofOther)
  })

  it('is not made a store of by who asks for the last heartbeat', async () => {
    const url = await newDatabase()
    expect(await readLastHeartbeat(placeOf(url))).toBeUndefined()
    const { rows } = await withClient(url, (client) =>
      client.query("SELECT FROM pg_namespace WHERE nspname = 'leadsheet'"),
    )
    expect(rows).toHaveLength(0)
  })
})

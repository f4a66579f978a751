// @long
/** Commands that behave differently on a store in PostgreSQL than on a file. */
import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { placeOf } from '../../src/store/db/place.ts'
import { isStoreThere } from '../../src/store/db/store-exists.ts'
import { inReadTransaction } from '../../src/store/figures/query.ts'
import { saveDetail } from '../../src/store/leads/detail.ts'
import { openStore, openStoreToRead } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { mailTo } from '../support/mail/message.ts'
import { freePort } from '../support/network/free-port.ts'
import { findPrograms } from '../support/postgres/postgres-programs.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { lead, OPENED_AT, observedAt, save, saveEndedRun } from '../support/store.ts'

/** Makes an installation whose settings name a database. */
function installAt(address: string) {
  const cwd = folderWith({ 'leadsheet.yaml': 'database_url_file: database-url\n', 'database-url': address })
  return {
    address,
    cwd,
    /** The address in the form that people see, without its password. */
    name: `${address.replace(/:[^:@/]*@/, '@')}?schema=leadsheet`,
    run: (...args: string[]) => runWarm(args, { cwd }),
    async json(...args: string[]) {
      const { stdout, stderr } = await runWarm([...args, '--json'], { cwd })
      const printed = JSON.parse(stdout || stderr)
      return printed.data ?? printed
    },
  }
}

/** Makes an installation with two synced leads, one of them with details, and a waiting message. */
async function installWithLeads() {
  const installation = installAt(await newDatabase())
  await using store = await openStore(installation.address, OPENED_AT)
  await save(store, [lead('l1'), lead('l2', { companyName: 'Bäcker' })])
  await store.write(async (trx) => {
    const enrichment = JSON.stringify({ funding: { total_usd: 1_500_000 }, hiring: { is_hiring: true } })
    const detail = { leadId: 'l1', updatedAt: null, enrichment, activity: [], quarantined: [], raw: '{}' }
    const waiting = { no: 1, id: 'l1', updatedAt: '2026-11-01T00:00:00.000Z' }
    await saveDetail(trx, waiting, detail, observedAt('2026-11-21T06:00:00Z'))
  })
  await saveEndedRun(store, new Date().toISOString())
  await store.write((trx) => mailTo(trx, 'e1', ['ana@example.com'], '2026-11-20T06:00:00.000Z'))
  return installation
}

describe.skipIf(!hasPostgres)('commands on PostgreSQL', () => {
  it('only look at what is not there, and make nothing', async () => {
    const { run, json, name, address } = installAt(await newDatabase())
    expect(await json('status')).toMatchObject({ database: name, leads: 0 })
    expect(await run('health')).toMatchObject({
      status: 1,
      stdout: 'unhealthy: no daemon has run on this data\n',
    })
    expect(await run('db', 'restore')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`there is nothing yet in ${name}`),
    })
    expect(await isStoreThere(placeOf(address))).toBe(false)
  })

  it('tell the doctor of the server and the rules that hold', async () => {
    const { json, name, address } = installAt(await newDatabase())
    await (await openStore(address, OPENED_AT)).close()
    const { checks } = await json('doctor')
    const found = Object.fromEntries(
      checks.map((check: Record<string, string>) => [check['what'], `${check['status']}: ${check['found']}`]),
    )
    expect(found).toMatchObject({
      database: `ok: ${name}`,
      server: expect.stringMatching(/^ok: PostgreSQL \d+.*, UTF8$/),
      consistency: expect.stringMatching(/^ok: 2\d rules hold, \d MB read through$/),
    })
    // The disk of the database server is unknown.
    for (const what of ['file system', 'disk', 'log']) expect(found).not.toHaveProperty([what])
    const status = await json('status')
    expect(status).toMatchObject({ database: name, leads: 0 })
    expect(status.checks[0]).toMatchObject({ what: 'database', status: 'ok', found: 'nothing found' })
  })

  it.each([
    ...['status', 'leads list', 'leads show l1', 'figures', 'figures new_leads'],
    ...['schedule', 'alerts list', 'report show', 'report show daily', 'outbox list', 'annotate'],
    'recipients list',
  ])('write nothing if they only read, not even definitions of another version: %s', async (line) => {
    const { run, address } = await installWithLeads()
    const place = placeOf(address)
    const mark = async (change?: string): Promise<string> => {
      await using store = await openStoreToRead(place)
      await expect(store.db.deleteFrom('lead').execute()).rejects.toMatchObject({ code: 'store_refused' })
      if (change !== undefined) await inReadTransaction(store.db, ({ db }) => sql.raw(change).execute(db))
      const { rows } = await sql<{
        mark: string
      }>`SELECT obj_description('kysely_migration'::regclass) AS mark`.execute(store.db)
      return rows[0]?.mark ?? ''
    }
    expect(await mark("COMMENT ON TABLE kysely_migration IS 'of another version'")).toBe('of another version')
    const { stderr } = await run(...line.split(' '))
    expect(stderr).not.toMatch(/can only be read|bug in leadsheet/)
    expect(await mark()).toBe('of another version')
  })

  it('have it backed up and restored by programs of PostgreSQL, as they say, and nothing is mailed twice', async () => {
    const { cwd, json, address } = await installWithLeads()
    const figures = await json('figures')
    const env = {
      PATH: [findPrograms().folder, process.env['PATH']].join(delimiter),
      PGPASSWORD: decodeURIComponent(new URL(address).password),
    }
    const doAsSaid = async (...command: string[]) => {
      const { error } = await json(...command)
      expect(error).toMatchObject({ code: 'store_elsewhere' })
      const [call = 'false'] = /pg_\w+ .*?'[^']+'(?: leadsheet\.dump)?/.exec(error.hint) ?? []
      await promisify(execFile)('sh', ['-c', call], { cwd, env })
    }

    await doAsSaid('db', 'backup', 'copy.db')
    await using store = await openStore(address, OPENED_AT)
    await save(store, [lead('l3')])
    await store.close()
    await doAsSaid('db', 'restore', 'copy.db')
    expect(await json('db', 'restore')).toMatchObject({ unconfirmed_messages: 1, schedules_from_now: [] })

    expect(await json('figures')).toEqual(figures)
    expect(await json('outbox', 'list')).toMatchObject([
      { message_id: 'e1 ana@example.com', state: 'unconfirmed' },
    ])
    await using restored = await openStore(address, OPENED_AT)
    const detail = await restored.db.selectFrom('lead_detail').selectAll().execute()
    expect(detail).toMatchObject([{ lead_id: 'l1', funding_total_usd: 1_500_000, is_hiring: 1 }])
  })

  it('say of a server that is away, or does not let them in, what to do, and never the password', async () => {
    const real = await newDatabase()
    const changed = (change: Partial<URL>) => Object.assign(new URL(real), change)
    const wrong = changed({ password: 'CANARYpassword' })
    const away = changed({ password: 'CANARYpassword', port: String(await freePort()) })
    const noTls = changed({ search: '?sslmode=require' })
    const noFile = changed({ search: `?sslmode=verify-full&sslrootcert=${join(folderWith(), 'ca.pem')}` })
    for (const [address, expected] of [
      [wrong, /does not let us in: password authentication failed/],
      [noTls, /cannot be connected to: The server does not support SSL connections/],
      [noFile, /cannot be connected to: ENOENT.*ca\.pem/],
    ] as const) {
      const { status, stderr } = await installAt(address.href).run('status')
      expect(status).toBe(1)
      expect(stderr).toMatch(expected)
      expect(stderr).not.toMatch(/CANARY|this is a bug/)
    }
    const health = await installAt(away.href).run('health')
    expect(health).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^unhealthy: postgres:\/\/.* cannot be reached: .*ECONNREFUSED/),
    })
    expect(health.stdout + health.stderr).not.toContain('CANARY')
  })
})

describe.skipIf(!hasPostgres)('the demo', () => {
  it('does not touch a store that others use', async () => {
    const { address, cwd } = await installWithLeads()
    const demo = await runWarm(['demo', '--database-url', address], { cwd })
    expect(demo).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('is in use, and not by this demo'),
    })
    await using store = await openStore(address, OPENED_AT)
    expect(await store.db.selectFrom('lead').select('id').execute()).toHaveLength(2)
  })
})

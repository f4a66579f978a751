/**
 * Tests the PostgreSQL server of the tests: it is a real one, databases are separate, and it is removed at
 * the end.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasPostgres, newDatabase, preparedDatabase } from '../postgres.ts'
import { startOwnPostgres } from './own-postgres.ts'
import { withClient } from './postgres-server.ts'

describe.skipIf(!hasPostgres)('the PostgreSQL of a run', () => {
  it('is a real one, and who asks it is not its superuser', async () => {
    const rows = await ask(
      await newDatabase(),
      `SELECT current_setting('server_version_num')::int > 150000 AS new,
         (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS super`,
    )
    expect(rows).toEqual([{ new: true, super: false }])
  })

  it('sorts as people do, and not by bytes', async () => {
    const rows = await ask(
      await newDatabase(),
      `SELECT word FROM unnest(ARRAY['b', 'Z', 'é', 'a', 'f', 'B']) AS word ORDER BY word`,
    )
    expect(rows.map(({ word }) => word)).toEqual(['a', 'b', 'B', 'é', 'f', 'Z'])
  })

  it('gives each who asks a database apart', async () => {
    const [one, other] = [await newDatabase(), await newDatabase()]
    await ask(one, 'CREATE TABLE lead (id int)')
    expect(await tables(one)).toEqual(['lead'])
    expect(await tables(other)).toEqual([])
  })

  it('prepares a database once, however many want copies of it', async () => {
    const name = randomUUID()
    let prepared = 0
    const copy = async () => {
      const template = await preparedDatabase(name, async (url) => {
        prepared++
        await ask(url, 'CREATE TABLE lead AS SELECT 7 AS id')
      })
      return newDatabase({ template })
    }
    const [one, other] = await Promise.all([copy(), copy()])
    await ask(one, 'DELETE FROM lead')
    expect(prepared).toBe(1)
    expect(await ask(other, 'SELECT id FROM lead')).toEqual([{ id: 7 }])
  })

  it('does not keep what could not be prepared', async () => {
    const name = randomUUID()
    const failed = preparedDatabase(name, async (url) => {
      await ask(url, 'CREATE TABLE half (id int)')
      throw new Error('no more')
    })
    await expect(failed).rejects.toThrow('no more')
    const template = await preparedDatabase(name, async (url) => {
      await ask(url, 'CREATE TABLE whole (id int)')
    })
    expect(await tables(await newDatabase({ template }))).toEqual(['whole'])
  })

  it('is not run by root, and gone with its data when the run is killed', async () => {
    const run = spawn(process.execPath, [
      ...['--input-type=module-typescript', '-e'],
      `import { openPostgresServer } from '${import.meta.dirname}/postgres-server.ts'
       console.log((await openPostgresServer(false)).adminUrl)`,
    ])
    onTestFinished(() => void run.kill('SIGKILL'))
    const url = String((await once(run.stdout, 'data'))[0]).trim()
    const [row] = await ask(url, "SELECT current_setting('data_directory') AS folder")
    const folder = String(row?.['folder'])
    // PostgreSQL refuses to start if its data belong to another user.
    expect(statSync(folder).uid).not.toBe(0)
    run.kill('SIGKILL')
    await expect.poll(() => existsSync(folder)).toBe(false)
    await expect(ask(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
  })
})

describe.skipIf(!hasPostgres)('a PostgreSQL of one test', () => {
  it.each(['fast', 'immediate'] as const)(
    'keeps what was committed through a stop that is %s',
    async (mode) => {
      const { url, start, stop } = await startOwnPostgres()
      await ask(url, 'CREATE TABLE lead AS SELECT 7 AS id')
      await stop(mode)
      await expect(ask(url, 'SELECT id FROM lead')).rejects.toThrow('ECONNREFUSED')
      await start()
      expect(await ask(url, 'SELECT id FROM lead')).toEqual([{ id: 7 }])
    },
  )
})

function ask(url: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return withClient(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows)
}

async function tables(url: string): Promise<readonly unknown[]> {
  const rows = await ask(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
  return rows.map(({ name }) => name)
}

/** A snapshot that is updated from the last one equals one that is built anew. */
import { chmodSync, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { fileOf } from '../../../src/store/db/place.ts'
import { quoted } from '../../../src/store/schema/describe.ts'
import { PUBLISHED } from '../../../src/store/schema/published.ts'
import { buildSnapshot, type SnapshotJob } from '../../../src/store/snapshot/build-snapshot.ts'
import { followSnapshot } from '../../../src/store/snapshot/follow-snapshot.ts'
import { folderWith } from '../../support/folder.ts'
import { random } from '../../support/random.ts'
import { startService } from '../../support/service.ts'
import { openSyncing } from '../../support/syncing.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 10)

/** The bytes of a store that is synced once for all tests of this file. */
let synced: Buffer | undefined

async function syncedBytes(): Promise<Buffer> {
  await using service = await startService(folderWith(), new Date('2026-11-21T06:00:00Z'), 20)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key)
  await syncing.sync({ pageSize: 500, details: { top: 100, perRun: 100, concurrency: 4 } })
  const database = new Database(fileOf(syncing.store))
  const bytes = database.serialize()
  database.close()
  return bytes
}

/** Opens a copy of the store, and the job of its next snapshot. */
async function openStore() {
  synced ??= await syncedBytes()
  const folder = folderWith()
  const live = join(folder, 'leadsheet.db')
  writeFileSync(live, synced)
  const base = join(folder, 'snapshot.db')
  const job: SnapshotJob = {
    ...{ live, target: join(folder, 'next.db'), version: '1', sourcePaths: {} },
    madeAt: '2026-11-21T07:00:00.000Z',
  }
  await buildSnapshot({ ...job, target: base })
  return { folder, live, base, job }
}

function change(live: string, sql: string): void {
  const database = new Database(live)
  database.pragma('foreign_keys = OFF')
  database.exec(sql)
  database.close()
}

/** Returns everything in a snapshot, table by table, with the order of its rows. */
function contentOf(file: string) {
  const database = new Database(file)
  try {
    const tables = database
      .prepare<[], { name: string; sql: string }>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'lead_fts%'`,
      )
      .all()
    const rows = tables.map(({ name, sql }) => {
      const number = sql.endsWith('WITHOUT ROWID') ? '' : 'rowid AS no_in_file, '
      return [
        name,
        database
          .prepare(`SELECT ${number}* FROM ${quoted(name)}`)
          .safeIntegers()
          .all(),
      ]
    })
    database.exec(`INSERT INTO lead_fts (lead_fts, rank) VALUES ('integrity-check', 1)`)
    const found = ['a*', 'b* OR s*', 'contact: m*'].map((words) =>
      database.prepare('SELECT no, rank FROM lead_search WHERE words MATCH ? ORDER BY no').all(words),
    )
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    const schema = database.prepare(
      `SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name`,
    )
    return { rows: Object.fromEntries(rows), found, schema: schema.all() }
  } finally {
    database.close()
  }
}

async function expectSameAsWhole(job: SnapshotJob, folder: string): Promise<void> {
  const whole = join(folder, 'whole.db')
  rmSync(whole, { force: true })
  await buildSnapshot({ ...job, target: whole })
  expect(contentOf(job.target)).toEqual(contentOf(whole))
}

it(`follows random changes of every table to the same rows; ${ROUNDS} rounds, SEED=${SEED}`, async () => {
  const { folder, live, base, job } = await openStore()
  const next = random(SEED)
  copyFileSync(live, join(folder, 'synced.db'))
  let followed = 0
  for (let round = 0; round < ROUNDS; round++) {
    const database = new Database(live)
    database.pragma('foreign_keys = OFF')
    database.prepare('ATTACH ? AS synced').run(join(folder, 'synced.db'))
    database.function('chance', () => next() * 100)
    database.transaction(() => changeAtRandom(database, next))()
    database.close()
    const later = { ...job, madeAt: new Date(Date.parse(job.madeAt) + round * 1000).toISOString() }
    rmSync(job.target, { force: true })
    if (await followSnapshot(later, base)) followed++
    else {
      rmSync(job.target, { force: true })
      await buildSnapshot(later)
    }
    await expectSameAsWhole(later, folder)
    copyFileSync(job.target, base)
  }
  expect(followed).toBeGreaterThan(0)
})

/** Changes, deletes and restores rows, within the rules of the schema. */
function changeAtRandom(database: Database.Database, next: () => number): void {
  const tables = Object.keys(PUBLISHED)
  const chosen = tables.filter(() => next() < 0.4)
  for (const table of chosen) {
    const columns = database
      .prepare<[string], { name: string; type: string }>(
        `SELECT name, type FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0`,
      )
      .all(table)
    for (const { name, type } of columns.filter(() => next() < 0.2)) {
      const of = quoted(name)
      // The value of another row keeps all checks, and text is possible in a numeric column of any type.
      const other = `(SELECT ${of} FROM synced.${quoted(table)} ORDER BY chance() LIMIT 1)`
      const value =
        type === 'ANY' && next() < 0.5 ? `CAST(${of} AS ${next() < 0.5 ? 'REAL' : 'INTEGER'})` : other
      database.exec(
        `UPDATE OR IGNORE main.${quoted(table)} SET ${of} = ${value} WHERE chance() < ${Math.floor(next() * 30)}`,
      )
    }
    const isForgotten = ['lead', 'lead_raw', 'lead_detail', 'activity', 'quarantined_record'].includes(table)
    if (next() < (isForgotten ? 0.05 : 0.5))
      database.exec(`DELETE FROM main.${quoted(table)} WHERE chance() < 10`)
    if (next() < 0.5)
      database.exec(`INSERT OR IGNORE INTO main.${quoted(table)} (${columns.map(({ name }) => quoted(name)).join()})
        SELECT ${columns.map(({ name }) => quoted(name)).join()} FROM synced.${quoted(table)}`)
  }
  for (const table of [...tables, ...tables]) {
    const references = database
      .prepare<[string], { from: string; table: string; to: string }>(
        'SELECT * FROM pragma_foreign_key_list(?)',
      )
      .all(table)
    for (const { from, table: parent, to } of references) {
      database.exec(
        `DELETE FROM main.${quoted(table)} WHERE ${quoted(from)} NOT IN (SELECT ${quoted(to)} FROM main.${quoted(parent)})`,
      )
    }
  }
}

describe('following', () => {
  const SCORED = 'UPDATE lead SET score = 77 WHERE no = 1'

  it('leaves the earlier file as it is, also where nobody may write it', async () => {
    const { folder, live, base, job } = await openStore()
    chmodSync(base, 0o444)
    const before = readFileSync(base)
    change(live, SCORED)
    expect(await followSnapshot(job, base)).toBe(true)
    expect(readFileSync(base).equals(before)).toBe(true)
    expect(statSync(base).mode & 0o777).toBe(0o444)
    await expectSameAsWhole(job, folder)
  })

  it('lets two leads exchange their unique values', async () => {
    const { folder, live, base, job } = await openStore()
    change(
      live,
      `CREATE TEMP TABLE swapped AS SELECT 3 - no AS no, id FROM lead WHERE no < 3;
       UPDATE lead SET id = no WHERE no < 3;
       UPDATE lead SET id = (SELECT id FROM swapped WHERE swapped.no = lead.no) WHERE no < 3`,
    )
    expect(await followSnapshot(job, base)).toBe(true)
    await expectSameAsWhole(job, folder)
  })

  it('finds a lead by its new name, and no more by its old one', async () => {
    const { folder, live, base, job } = await openStore()
    change(live, `UPDATE lead SET company_name = 'Zyzzogeton' WHERE no = 1`)
    expect(await followSnapshot(job, base)).toBe(true)
    copyFileSync(job.target, base)
    rmSync(job.target)
    change(live, `UPDATE lead SET company_name = 'Xylothek' WHERE no = 1`)
    expect(await followSnapshot(job, base)).toBe(true)
    const database = new Database(job.target, { readonly: true })
    const find = database.prepare('SELECT no FROM lead_search WHERE words MATCH ?').pluck()
    expect([find.all('zyzzogeton'), find.all('xylothek')]).toEqual([[], [1]])
    database.close()
    await expectSameAsWhole(job, folder)
  })

  it.each(['', 'WHERE id = (SELECT min(id) FROM agent)', 'WHERE id = (SELECT max(id) FROM agent)'])(
    'keeps what the store has pruned in no byte of the file: agent %s',
    async (which) => {
      const { live, base, job } = await openStore()
      const secret = 'canary-4711'
      change(live, `UPDATE agent SET name = '${secret}' ${which}`)
      await buildSnapshot({ ...job, target: `${base}-2` })
      expect(readFileSync(`${base}-2`).includes(secret)).toBe(true)
      change(live, `UPDATE agent SET name = 'a' ${which}`)
      expect(await followSnapshot(job, `${base}-2`)).toBe(true)
      expect(readFileSync(job.target).includes(secret)).toBe(false)
    },
  )

  it.each([
    ['on another day', '', { madeAt: '2026-11-22T00:00:00.000Z' }],
    ['of another version', '', { version: '2' }],
    ['of another schema', `UPDATE kysely_migration SET name = name || '-next'`, {}],
    ['with another view of an analyst', 'CREATE VIEW mine AS SELECT * FROM lead', {}],
    ['without the index that a first load drops', 'DROP INDEX lead_by_score', {}],
    ['without a lead, whose words the index would remember', 'DELETE FROM lead_raw WHERE lead_no = 1', {}],
  ])('is refused %s', async (_, sql, changed) => {
    const { live, base, job } = await openStore()
    change(live, sql)
    expect(await followSnapshot({ ...job, ...changed }, base)).toBe(false)
  })

  it('is refused where so much has changed that a whole build is as fast', async () => {
    const { live, base, job } = await openStore()
    change(
      live,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       INSERT INTO agent_sample (agent_id, observed_at, run_id, status)
       SELECT (SELECT id FROM agent), '2026-11-21T07:00:' || i, (SELECT id FROM sync_run), 'running' FROM n`,
    )
    expect(await followSnapshot(job, base)).toBe(false)
  })

  it('is refused after an earlier file that is damaged', async () => {
    const { base, job } = await openStore()
    const bytes = readFileSync(base)
    bytes.fill(0xff, 4096 * 2, 4096 * 60)
    writeFileSync(base, bytes)
    expect(await followSnapshot(job, base)).toBe(false)
    rmSync(job.target)
    writeFileSync(base, 'no database')
    expect(await followSnapshot(job, base)).toBe(false)
  })
})

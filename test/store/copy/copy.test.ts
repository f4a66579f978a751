// @both-stores
/**
 * A store is moved into the other kind of database: from a file to PostgreSQL, and back in the other project.
 */
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { MoveStep } from '../../../src/store/copy/copied-tables.ts'
import { listCopiedTables } from '../../../src/store/copy/copied-tables.ts'
import { type Moved, moveStore, planMove } from '../../../src/store/copy/copy.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { PRIVATE, PUBLISHED } from '../../../src/store/schema/published.ts'
import { openFurnishedStore } from '../../support/data/furnished-store.ts'
import { folderWith } from '../../support/folder.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import {
  IN_POSTGRES,
  lead,
  migratedDatabase,
  OPENED_AT,
  openEmptyStore,
  save,
  saveWholeRun,
} from '../../support/store.ts'

const NOW = new Date('2026-11-21T09:00:00Z')

/** Returns a new place with a schema and no rows. */
async function newTarget(): Promise<string> {
  return IN_POSTGRES
    ? join(folderWith(), 'leadsheet.db')
    : newDatabase({ template: await migratedDatabase() })
}

function move(source: Store, to: string, onProgress: (step: MoveStep) => void = () => {}): Promise<Moved> {
  const signal = new AbortController().signal
  return moveStore(source, placeOf(to), { now: () => NOW, signal, onProgress })
}

/** Interrupts a move when it has reported so many steps. */
async function moveUntil(source: Store, to: string, steps: number): Promise<void> {
  const stop = new AbortController()
  let left = steps
  const moved = moveStore(source, placeOf(to), {
    now: () => NOW,
    signal: stop.signal,
    onProgress: () => --left === 0 && stop.abort(new Error('cut off')),
  })
  await expect(moved).rejects.toThrow('cut off')
}

describe.skipIf(!hasPostgres)('a moved store', () => {
  it('has every row of every table as it was, and comes back the same', async () => {
    await using source = await openFurnishedStore()
    const back = join(folderWith(), 'back', 'leadsheet.db')
    const there = IN_POSTGRES ? await newTarget() : await newDatabase()
    const moved = await move(source, there)
    expect(moved).toMatchObject({ state: 'empty', violations: [] })
    const tables = Object.fromEntries(moved.tables.map(({ name, rows }) => [name, rows]))
    expect(tables).toMatchObject({ sync_run: 2, message: 1, link_key: 1, event_count: 1, report_issue: 1 })
    expect(tables['lead']).toBeGreaterThan(40)
    expect(tables['activity']).toBeGreaterThan(20)

    await using target = await openStore(there, NOW)
    expect(target.installationId).toBe(source.installationId)
    expect(await move(target, back)).toEqual({ ...moved, state: 'empty' })
  })

  it('goes on with the next numbers, and in the order in which its rows came', async () => {
    await using source = await openFurnishedStore()
    const there = await newTarget()
    await move(source, there)
    await using target = await openStore(there, NOW)
    const before = await numbersOf(target)
    expect(before).toEqual(await numbersOf(source))

    await save(target, [lead('new')], '2026-11-21T09:00:00Z')
    const run = await saveWholeRun(target, '2026-11-21T09:00:00Z')
    const after = await numbersOf(target)
    expect(after.lead).toBe(before.lead + 1)
    expect(after.runs).toEqual([...before.runs, run])
  })

  it('is only compared where it was moved to before, and refused once that is in use', async () => {
    await using source = await openFurnishedStore()
    const there = await newTarget()
    const moved = await move(source, there)
    expect(await move(source, there)).toEqual({ ...moved, state: 'whole' })
    await using target = await openStore(there, NOW)
    await save(target, [lead('new')], '2026-11-21T09:00:00Z')
    await expect(move(source, there)).rejects.toMatchObject({
      code: 'store_taken',
      message: expect.stringMatching(/is in use since: \w+ has \d+ rows/),
    })
  })
})

describe.skipIf(!hasPostgres)('a move that is cut off', () => {
  it('leaves what nothing else opens, and starts over', async () => {
    await using source = await openFurnishedStore()
    const steps: MoveStep[] = []
    const expected = await move(source, await newTarget(), (step) => steps.push(step))
    const there = await newTarget()
    for (const at of [1, 7, 40]) {
      await moveUntil(source, there, at)
      await expect(openStore(there, NOW)).rejects.toMatchObject({
        code: 'store_unfinished',
        hint: expect.stringContaining('it starts over'),
      })
    }
    const again: MoveStep[] = []
    expect(await move(source, there, (step) => again.push(step))).toEqual({ ...expected, state: 'begun' })
    expect(again).toEqual(steps)
    await (await openStore(there, NOW)).close()
  })

  it('copies what the source has become since', async () => {
    await using source = await openFurnishedStore()
    const there = await newTarget()
    await moveUntil(source, there, 30)
    await source.write((trx) => trx.updateTable('agent').set({ name: 'Renamed' }).execute())
    await source.write((trx) => trx.deleteFrom('pipeline_stage_stat').execute())
    const moved = await move(source, there)
    expect(moved).toMatchObject({ state: 'begun', violations: [] })
    await using target = await openStore(there, NOW)
    const agents = await target.db.selectFrom('agent').select('name').distinct().execute()
    expect(agents).toEqual([{ name: 'Renamed' }])
  })
})

describe.skipIf(!hasPostgres)('a move is refused', () => {
  it('where another installation has begun to work, which stays as it is', async () => {
    await using source = await openEmptyStore()
    const there = await newTarget()
    const other = await openStore(there, OPENED_AT)
    await save(other, [lead('theirs')])
    await other.close()
    await expect(move(source, there)).rejects.toMatchObject({ code: 'store_taken' })
    await expect(planMove(source, placeOf(there), NOW)).rejects.toMatchObject({ code: 'store_taken' })
    await using again = await openStore(there, NOW)
    expect(again.installationId).toBe(other.installationId)
    expect(await again.db.selectFrom('lead').select('id').execute()).toEqual([{ id: 'theirs' }])
  })

  it('while anything runs on the source', async () => {
    await using source = await openEmptyStore()
    const there = await newTarget()
    const lease = await claimLease(source, 'sync', () => NOW)
    await expect(move(source, there)).rejects.toMatchObject({
      code: 'job_busy',
      message: expect.stringMatching(/^A sync is running on /),
    })
    await lease.release()
    expect(await move(source, there)).toMatchObject({ state: 'empty' })
  })

  it.runIf(IN_POSTGRES)('while one of those that share it lives', async () => {
    await using source = await openEmptyStore()
    const beginUptime = (tick: string, end: string | null) =>
      source.write((trx) =>
        trx
          .insertInto('daemon_uptime')
          .values({
            ...{
              began_at: tick,
              began_after: 'down' as const,
              last_heartbeat_at: tick,
              ended_at: end,
              host: 'b',
              pid: 7,
            },
          })
          .execute(),
      )
    await beginUptime('2026-11-21T08:50:00.000Z', null)
    await beginUptime('2026-11-21T08:59:00.000Z', '2026-11-21T08:59:00.000Z')
    expect(await planMove(source, placeOf(await newTarget()), NOW)).toMatchObject({ state: 'empty' })
    await beginUptime('2026-11-21T08:58:30.000Z', null)
    await expect(move(source, await newTarget())).rejects.toThrow(
      /^A daemon is running on .*: process 7 on b$/,
    )
  })
})

describe('what is moved', () => {
  it('is every table but those that are about the database or its processes, or are made of others', async () => {
    const copied = await listCopiedTables()
    const left = [...Object.keys(PUBLISHED), ...PRIVATE].filter((name) =>
      copied.every((table) => table.name !== name),
    )
    expect(left.sort()).toEqual(['installation', 'lease', 'sync_dropped_index'])
    expect(copied.filter(({ key }) => key.length === 0)).toEqual([])
  })
})

/** Returns the highest number of a lead, and the runs in the order in which they began. */
async function numbersOf({ db }: Store) {
  const numbers = await sql<{ lead: number }>`SELECT max(no) AS lead FROM lead`.execute(db)
  const runs = await sql<{ id: string }>`SELECT id FROM sync_run ORDER BY rowid`.execute(db)
  return { lead: 0, ...numbers.rows[0], runs: runs.rows.map(({ id }) => id) }
}

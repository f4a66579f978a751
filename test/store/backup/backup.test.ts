import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { noteScheduledRuns } from '../../../src/jobs/schedule/note-due-runs.ts'
import { runDue } from '../../../src/jobs/schedule/run-scheduled.ts'
import type { Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { makeBackup } from '../../../src/store/backup/backup.ts'
import { restoreBackup } from '../../../src/store/backup/restore.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import type { Row } from '../../../src/store/tables/tables.ts'
import { alterFile, askFile } from '../../support/data/alter-file.ts'
import { folderWith } from '../../support/folder.ts'
import { mailTo } from '../../support/mail/message.ts'
import { scheduleOf } from '../../support/schedule/schedule.ts'
import { lead, OPENED_AT, save } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'

const RESTORED_AT = new Date('2026-11-23T09:00:00Z')
const signal = new AbortController().signal

interface Place {
  readonly folder: string
  readonly file: string
  readonly backup: string
}

/** Makes a closed store with two leads, and the name of a backup that does not exist yet. */
async function makePlace(fill: (store: Store) => Promise<void> = async () => {}): Promise<Place> {
  const folder = folderWith()
  const file = join(folder, 'leadsheet.db')
  await using store = await openStore(file, OPENED_AT)
  await save(store, [lead('l1'), lead('l2')])
  await fill(store)
  return { folder, file, backup: join(folder, 'backup.db') }
}

const back = ({ file, backup }: Place, replaces = false) => makeBackup(file, backup, { replaces, signal })
const restore = ({ file, backup }: Place) => restoreBackup(backup, file, RESTORED_AT, signal)

const countLeads = (file: string) => askFile(file, 'SELECT id FROM lead').length

/** Changes a byte in the middle of each page, except the first ones. */
function damage(file: string): void {
  const bytes = readFileSync(file)
  for (let at = 5 * 4096 + 8; at < bytes.length; at += 4096) bytes[at] = 255 - (bytes[at] ?? 0)
  writeFileSync(file, bytes)
}

describe('a backup', () => {
  test('has all rows and nothing beside it, for its owner alone', async () => {
    const place = await makePlace()
    const content = await back(place)
    expect(content).toMatchObject({ runId: null, rows: { lead: 2, lead_version: 2, installation: 1 } })
    expect(readdirSync(place.folder).sort()).toEqual(['backup.db', 'leadsheet.db'])
    expect(statSync(place.backup).mode & 0o777).toBe(0o600)
  })

  test('shows one moment of a store that is being written', async () => {
    const place = await makePlace()
    await using store = await openStore(place.file, OPENED_AT)
    const stop = new AbortController()
    const writing = (async () => {
      for (let number = 0; !stop.signal.aborted; number++) await save(store, [lead(`late-${number}`)])
    })()
    const before = countLeads(place.file)
    const { rows } = await back(place)
    stop.abort()
    await writing
    expect(rows['lead']).toBeGreaterThan(before)
    // All tables of a lead are written in one transaction.
    expect(rows['lead_version']).toBe(rows['lead'])
  })

  test('replaces a file only when told to, and then not by one of a damaged store', async () => {
    const place = await makePlace()
    await back(place)
    await expect(back(place)).rejects.toMatchObject({ code: 'usage_invalid' })
    expect(await back(place, true)).toMatchObject({ rows: { lead: 2 } })
    damage(place.file)
    await expect(back(place, true)).rejects.toMatchObject({ code: 'store_corrupt' })
    expect(readdirSync(place.folder).filter((name) => name.includes('.tmp-'))).toEqual([])
    expect(await restore(place)).toMatchObject({ content: { rows: { lead: 2 } } })
  })
})

describe('a restore', () => {
  test('puts the backup in the place of the store, and keeps what was there, if anything', async () => {
    const place = await makePlace()
    await back(place)
    alterFile(place.file, "DELETE FROM lead WHERE id = 'l2'")
    const { before } = await restore(place)
    expect(before).toBe(`${place.file}.before-restore-20261123T090000Z`)
    expect(countLeads(place.file)).toBe(2)
    expect(countLeads(before ?? '')).toBe(1)
    const file = join(place.folder, 'new', 'leadsheet.db')
    expect(await restoreBackup(place.backup, file, RESTORED_AT, signal)).toMatchObject({ before: null })
    expect(readdirSync(join(place.folder, 'new'))).toEqual(['leadsheet.db'])
  })

  test('takes the place of a file that is no database, and of the log beside it', async () => {
    const place = await makePlace()
    await back(place)
    const rubbish = 'not a database at all'.repeat(500)
    writeFileSync(place.file, rubbish)
    writeFileSync(`${place.file}-wal`, 'its log')
    const { before } = await restore(place)
    expect(readFileSync(before ?? '', 'utf8')).toBe(rubbish)
    expect(existsSync(`${place.file}-wal`)).toBe(false)
    expect(countLeads(place.file)).toBe(2)
  })

  test.each([
    [
      'of a newer leadsheet',
      'store_newer',
      ({ backup }: Place) => alterFile(backup, "INSERT INTO kysely_migration VALUES ('999-future', '2027')"),
    ],
    ['that is damaged', 'store_corrupt', ({ backup }: Place) => damage(backup)],
    ['that is no database', 'store_corrupt', ({ backup }: Place) => writeFileSync(backup, 'x'.repeat(5000))],
    ['that is another database', 'store_corrupt', another],
  ])('refuses a backup %s, and changes nothing', async (_, code, spoil) => {
    const place = await makePlace()
    await back(place)
    spoil(place)
    const was = readFileSync(place.file)
    await expect(restore(place)).rejects.toMatchObject({ code })
    expect(readFileSync(place.file).equals(was)).toBe(true)
    expect(readdirSync(place.folder).sort()).toEqual(['backup.db', 'leadsheet.db'])
  })

  test('refuses while a daemon runs, which it names, and while another program has the file open', async () => {
    const place = await makePlace()
    await back(place)
    await using store = await openStore(place.file, OPENED_AT)
    const lease = await claimLease(store, 'daemon', () => RESTORED_AT)
    await expect(restore(place)).rejects.toMatchObject({
      code: 'job_busy',
      message: expect.stringMatching(`A daemon is running .* process ${process.pid}`),
    })
    await lease.release()
    await store.close()
    const other = new Database(place.file)
    other.prepare('SELECT count(*) FROM lead').get()
    await expect(restore(place)).rejects.toMatchObject({ code: 'store_busy' })
    other.close()
    await restore(place)
    expect(existsSync(`${place.file}-wal`)).toBe(false)
  })

  test('mails nothing again: neither the reports nor the messages since the backup', async () => {
    const place = await makePlace(async (store) => {
      await noteScheduledRuns(store, daily([]), new Date('2026-11-20T07:00:00Z'))
      await insertMessages(store, { l1: 'sent', l2: 'pending', l3: 'data', l4: 'unconfirmed', l5: 'failed' })
    })
    await back(place)
    const { unknown } = await restore(place)
    expect(unknown).toEqual({ messages: 3, schedules: ['report:daily'] })

    await using store = await openStore(place.file, RESTORED_AT)
    const ran: string[] = []
    for (const at of ['2026-11-23T09:01:00Z', '2026-11-24T07:00:30Z']) {
      await noteScheduledRuns(store, daily(ran), new Date(at))
      await runDue({ store, log: SILENT, now: () => new Date(at) }, daily(ran), signal)
    }
    expect(ran).toEqual(['2026-11-24T07:00:00.000Z'])
    const messages = store.db.selectFrom('delivery').select(['recipient', 'state', 'unconfirmed_count'])
    expect((await messages.orderBy('recipient').execute()).map((row) => Object.values(row))).toEqual([
      ['l1', 'sent', 0],
      ['l2', 'unconfirmed', 2],
      ['l3', 'unconfirmed', 2],
      ['l4', 'unconfirmed', 2],
      ['l5', 'failed', 0],
    ])
  })
})

function daily(ran: string[]): Schedule {
  return scheduleOf({
    run: async ({ dueAt }) => {
      ran.push(dueAt.toISOString())
      return { state: 'done', message: null }
    },
  })
}

/** Queues a message to each address, in this state. */
async function insertMessages(
  store: Store,
  states: Readonly<Record<string, Row<'delivery'>['state']>>,
): Promise<void> {
  await store.write(async (trx) => {
    await mailTo(trx, 'e1', Object.keys(states), OPENED_AT.toISOString())
    for (const [recipient, state] of Object.entries(states))
      await trx.updateTable('delivery').set({ state }).where('recipient', '=', recipient).execute()
  })
}

function another({ backup }: Place): void {
  writeFileSync(backup, '')
  alterFile(backup, 'CREATE TABLE notes (text)')
}

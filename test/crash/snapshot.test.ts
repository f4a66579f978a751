/** The snapshot while its writer is killed, while it is read, and for other users. */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { publishSnapshot } from '../../src/jobs/snapshot/publish-snapshot.ts'
import { fileOf } from '../../src/store/db/place.ts'
import { ask, publishing } from '../support/data/publishing.ts'
import { hasSqlite3 } from '../support/data/sqlite3.ts'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet, startLeadsheet } from '../support/leadsheet.ts'
import { isSkipped } from '../support/process/programs.ts'
import { random } from '../support/random.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../support/store.ts'
import { killProgram } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'

const KILLS = IS_FULL ? 50 : 4
const REPLACEMENTS = IS_FULL ? 150 : 3
const LEADS = 200
const NEVER = new AbortController().signal

async function saveScore(store: Awaited<ReturnType<typeof openEmptyStore>>, score: number): Promise<void> {
  const day = String((score % 28) + 1).padStart(2, '0')
  const updatedAt = `${2026 + Math.floor(score / 28)}-11-${day}T00:00:00.000Z`
  const leads = Array.from({ length: LEADS }, (_, index) => lead(`l${index}`, { score, updatedAt }))
  await save(store, leads, updatedAt)
  await saveWholeRun(store, updatedAt)
}

/** Reads the scores in a complete snapshot. There must be only one, because all leads changed in one sync. */
function scoresIn(file: string): number[] {
  expect(ask(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(ask(file, 'SELECT count(*) AS n FROM lead')).toEqual([{ n: LEADS }])
  expect(ask(file, 'SELECT count(*) AS n FROM dictionary')).not.toEqual([{ n: 0 }])
  return ask<{ score: number }>(file, 'SELECT DISTINCT score FROM lead').map((row) => row.score)
}

it(`a snapshot that is killed while it is made leaves the one before, and its leftovers go with the next; ${KILLS} kills, SEED=${SEED}`, async () => {
  const store = await openEmptyStore()
  await saveScore(store, 1)
  const folder = join(fileOf(store), '..')
  const file = join(folder, 'snapshot.db')
  /** Starts a snapshot, and returns when its file exists and is incomplete, or when the process has ended. */
  const begin = async (): Promise<{ child: ChildProcess; isUnfinished: () => boolean }> => {
    const child = startLeadsheet(['snapshot'], { cwd: folder, env: { LEADSHEET_DATA_DIR: folder } })
    const isUnfinished = (): boolean => readdirSync(folder).includes(`snapshot.db.tmp-${child.pid}`)
    while (!isUnfinished() && child.exitCode === null) await sleep(1)
    return { child, isUnfinished }
  }
  const { isUnfinished: isBeingMade } = await begin()
  const begun = performance.now()
  while (isBeingMade()) await sleep(1)
  let lastsMs = performance.now() - begun
  await saveScore(store, 2)
  await store.close()
  const next = random(SEED)
  let cut = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, isUnfinished } = await begin()
    const begunAgain = performance.now()
    await sleep(next() * lastsMs)
    await killProgram(child)
    if (isUnfinished()) cut++
    // The last measurement may have been long because the processor was busy.
    else lastsMs = Math.min(lastsMs, performance.now() - begunAgain)
    const [score, ...others] = scoresIn(file)
    expect(others).toEqual([])
    expect([1, 2]).toContain(score)
  }
  expect(cut).toBeGreaterThan(KILLS / 3)
  const last = await runLeadsheet(['snapshot'], { cwd: folder, env: { LEADSHEET_DATA_DIR: folder } })
  expect(last).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') })
  expect(scoresIn(file)).toEqual([2])
  expect(readdirSync(folder).filter((name) => name.includes('.tmp-'))).toEqual([])
})

it(`a reader goes on reading the moment that it opened while ${REPLACEMENTS} snapshots take its place`, async () => {
  await using store = await openEmptyStore()
  await saveScore(store, 0)
  const folder = folderWith()
  const { file } = await publishSnapshot(publishing(store, folder), NEVER)
  for (let score = 1; score <= REPLACEMENTS; score++) {
    const reader = new Database(file, { readonly: true })
    const scores = reader.prepare<[], number>('SELECT DISTINCT score FROM lead').pluck()
    expect(scores.all()).toEqual([score - 1])
    await saveScore(store, score)
    let isReplaced = false
    const replaced = publishSnapshot(publishing(store, folder), NEVER).finally(() => {
      isReplaced = true
    })
    while (!isReplaced) {
      const opened = scoresIn(file)
      expect([[score - 1], [score]]).toContainEqual(opened)
      await sleep(40)
    }
    await replaced
    expect(scores.all()).toEqual([score - 1])
    expect(reader.pragma('integrity_check', { simple: true })).toBe('ok')
    reader.close()
    expect(scoresIn(file)).toEqual([score])
  }
})

const NOBODY = 65_534
const isRoot = !isSkipped('a snapshot of another user', process.getuid?.() === 0 ? null : 'it needs root')

it.skipIf(!isRoot || !hasSqlite3)(
  'another user of its group reads it from a folder that nobody may write to, and no file appears beside it; needs root and sqlite3',
  async () => {
    await using store = await openEmptyStore()
    await saveScore(store, 7)
    const folder = folderWith()
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    await publishSnapshot({ ...publishing(store, shared), group: `${NOBODY}` }, NEVER)
    chmodSync(folder, 0o755)
    chmodSync(shared, 0o555)
    const askAs = (sql: string) =>
      spawnSync('sqlite3', ['snapshot.db', sql], { cwd: shared, uid: NOBODY, gid: NOBODY, encoding: 'utf8' })
    expect(askAs('SELECT min(score), max(score), count(*) FROM lead')).toMatchObject({
      status: 0,
      stdout: `7.0|7.0|${LEADS}\n`,
    })
    expect(askAs('DELETE FROM lead').stderr).toContain('readonly')
    expect(readdirSync(shared).sort()).toEqual(['snapshot.db'])
    chmodSync(shared, 0o755)
  },
)

import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { openMailServer } from '../support/mail-server.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { forEachCase, IS_FULL, sampleOf } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn, openFolder, openWorld } from './support/world.ts'

/** The number of times that the program is killed at the same point before it may end. */
const ROUNDS = IS_FULL ? 3 : 1
const SAMPLES = 2

/** A program in a folder, and the rules that must hold when it has ended. */
interface Case extends AsyncDisposable {
  readonly program: Program
  /** Checks the folder after each kill. */
  checkKilled?(): void
  check(): Promise<void>
}

/** Kills the program at each point, each time in a new copy of the folder, and then lets it end. */
async function killEverywhere(base: string, openCase: (folder: string) => Promise<Case>): Promise<void> {
  const copies = folderWith()
  await using unkilled = await openCase(copyOf(base, copies, 'unkilled'))
  const points = await listPoints(unkilled.program)
  expect(points.length).toBeGreaterThan(30)
  await unkilled.check()
  const numbers = sampleOf(
    points.map((_name, index) => index + 1),
    SAMPLES,
  )
  let killed = 0
  await forEachCase(numbers, async (point) => {
    const folder = copyOf(base, copies, String(point))
    await using one = await openCase(folder)
    try {
      for (let round = 0; round < ROUNDS; round++) {
        if (await runKilledAt(point, one.program)) killed++
        one.checkKilled?.()
      }
      await run(one.program)
      await one.check()
    } catch (cause) {
      throw new Error(`after ${ROUNDS} kills at point ${point}, ${points[point - 1]}`, { cause })
    }
    rmSync(folder, { recursive: true })
  })
  expect(killed).toBeGreaterThanOrEqual(numbers.length - 1)
}

type Tables = ReturnType<typeof hashTables>

/** @param unkilled the tables after one sync that was not killed, after two, and so on */
async function openSyncCase(folder: string, env: Program['env'], unkilled: readonly Tables[]): Promise<Case> {
  return {
    program: { args: ['sync', '--full'], cwd: folder, env },
    async check() {
      await expectSound(databaseIn(folder))
      const tables = hashTables(databaseIn(folder))
      // Each run that was killed after it had stored details leaves the details of one more lead.
      const syncs = unkilled.findIndex(({ lead_detail }) => lead_detail === tables['lead_detail'])
      expect(tables).toEqual(unkilled[Math.max(0, syncs)])
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

async function tablesAfterEach(program: Program, syncs: number): Promise<[Tables, ...Tables[]]> {
  const tables: Tables[] = []
  for (let sync = 0; sync < syncs; sync++) {
    expect(await run(program)).toMatchObject({ status: 0 })
    tables.push(hashTables(databaseIn(program.cwd)))
  }
  const [first, ...others] = tables
  if (first === undefined) throw new Error(`found ${syncs} syncs, expected at least one`)
  return [first, ...others]
}

describe('a program killed at every point, and again at that of its next runs', () => {
  it('ends a first sync and one of a day’s changes with the tables of one never killed (row 38)', async () => {
    await using world = await openWorld(6)
    const { env } = world
    const empty = await openFolder()
    const full = copyOf(empty, folderWith(), 'full')
    const sync = { args: ['sync', '--full'], env }
    const first = await tablesAfterEach({ ...sync, cwd: copyOf(empty, folderWith(), 'first') }, ROUNDS + 1)
    await killEverywhere(empty, (folder) => openSyncCase(folder, env, first))
    expect(await run({ ...sync, cwd: full })).toMatchObject({ status: 0 })

    await world.toNextDay()
    const second = await tablesAfterEach({ ...sync, cwd: copyOf(full, folderWith(), 'next') }, ROUNDS + 1)
    expect(second[0]['lead']).not.toEqual(first[0]['lead'])
    await killEverywhere(full, (folder) => openSyncCase(folder, env, second))
  })

  it('sends each message once, or again under the same Message-ID where it may have been lost, and knows which (row 38)', async () => {
    await using world = await openWorld(5)
    const folder = await openFolder()
    expect(await run({ args: ['sync'], cwd: folder, env: world.env })).toMatchObject({ status: 0 })
    await killEverywhere(folder, (copy) => openReportCase(copy, world.env))
  })
})

async function openReportCase(folder: string, env: Program['env']): Promise<Case> {
  const server = await openMailServer()
  return {
    program: {
      args: ['report', 'send', 'daily'],
      cwd: folder,
      env: { ...env, LEADSHEET_SMTP_URL: server.url },
    },
    checkKilled() {
      const [issues, messages] = countMade(databaseIn(folder))
      // An issue has all its messages or none.
      expect(messages).toBe(issues === 0 ? 0 : 2)
    },
    async check() {
      await expectSound(databaseIn(folder))
      const messages = readMessages(databaseIn(folder))
      expect(messages.map((message) => message.recipient)).toEqual(['ana@example.com', 'ben@example.com'])
      for (const { message_id, state, unconfirmed_count } of messages) {
        const copies = server.received.filter((one) => one.mail.messageId === message_id).length
        if (state === 'unconfirmed') expect(unconfirmed_count).toBe(2)
        else expect({ state, copies: copies > 0 }).toEqual({ state: 'sent', copies: true })
        expect(copies).toBeLessThanOrEqual(1 + unconfirmed_count)
      }
      const ids = new Set(server.received.map((one) => one.mail.messageId))
      expect(ids.size).toBeLessThanOrEqual(messages.length)
      const [page] = globSync('data/archive/daily/*/index.html', { cwd: folder })
      expect(readFileSync(join(folder, page ?? ''), 'utf8')).toMatch(/<\/html>\s*$/)
    },
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

function readMessages(file: string) {
  const database = new Database(file)
  const rows = database
    .prepare<[], { message_id: string; recipient: string; state: string; unconfirmed_count: number }>(
      'SELECT message_id, recipient, state, unconfirmed_count FROM delivery ORDER BY recipient',
    )
    .all()
  database.close()
  return rows
}

/** Counts the issues and their messages. */
function countMade(file: string): [number, number] {
  const database = new Database(file, { readonly: true })
  const count = (table: string) => Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  try {
    return [count('report_issue'), count('delivery')]
  } finally {
    database.close()
  }
}

/** Each kind of work is killed at every point, and again at that of its next runs. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkBackup } from '../../src/store/backup/backup-check.ts'
import { ask } from '../support/data/publishing.ts'
import { folderWith } from '../support/folder.ts'
import { openMailServer } from '../support/mail-server.ts'
import { readLedger } from '../support/process/daemon-run.ts'
import { makeNextVersion, makePresentStore } from '../support/process/next-version.ts'
import { hashTables } from './support/contents.ts'
import { type Case, killEverywhere } from './support/everywhere.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { IS_FULL } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn, openFolder, openWorld, type World } from './support/world.ts'

const ROUNDS = IS_FULL ? 3 : 1
const LEADS_WITHOUT_VALUES = 'lead LEFT JOIN lead_values ON lead_no = no WHERE lead_no IS NULL'
const PROFILE = `
name: killed
paging: { kind: cursor, param: cursor, next: page.next_cursor, size_param: limit, has_more: page.has_more }
envelope: { leads: data }
mapping: { lead: { id: id, pipeline_id: pipeline_id, status: status, created_at: created_at, updated_at: updated_at } }
fields:
  points: { from: score, type: integer, history: true }
  industry: company.industry
`

const count = (file: string, table: string): number =>
  ask<{ n: number }>(file, `SELECT count(*) AS n FROM ${table}`)[0]?.n ?? 0

describe('a program killed at every point', () => {
  /** Kills the first sync of a folder everywhere, or that of a day's changes. Returns the whole one's program. */
  async function killSync(
    base: string,
    { env }: World,
    { args = [] as readonly string[], rounds = ROUNDS, checkKilled = (_file: string): void => {} } = {},
  ): Promise<Program> {
    const programIn = (cwd: string): Program => ({ args: ['sync', '--full', ...args], cwd, env })
    const whole = programIn(copyOf(base, folderWith(), 'whole'))
    // Each run that was killed after it had stored details leaves the details of one more lead.
    const tablesAfterEach: Record<string, string>[] = []
    for (let sync = 0; sync <= rounds; sync++) {
      expect(await run(whole)).toMatchObject({ status: 0 })
      tablesAfterEach.push(hashTables(databaseIn(whole.cwd)))
    }
    const open = (folder: string): Case => ({
      program: programIn(folder),
      checkKilled: () => checkKilled(databaseIn(folder)),
      check() {
        const tables = hashTables(databaseIn(folder))
        const same = tablesAfterEach.find(({ lead_detail }) => lead_detail === tables['lead_detail'])
        expect(tables).toEqual(same ?? tablesAfterEach[0])
      },
    })
    await killEverywhere(base, open, { rounds })
    return whole
  }

  it('ends a first sync and one of a day’s changes with the tables of one never killed', async () => {
    await using world = await openWorld(6)
    const { cwd } = await killSync(await openFolder(), world)
    const before = hashTables(databaseIn(cwd))
    await world.toNextDay()
    const next = await killSync(cwd, world)
    expect(hashTables(databaseIn(next.cwd))['lead']).not.toEqual(before['lead'])
  })

  it('leaves declared fields with the rows of their leads, also if the profile changed (row 38)', async () => {
    await using world = await openWorld(25)
    const base = await openFolder('api: { page_size: 40, profile: profile.yaml }')
    const write = (fields: string) => writeFileSync(join(base, 'profile.yaml'), `${PROFILE}${fields}`)
    const killAndSync = async () => {
      const { args, env } = await killSync(base, world, {
        args: ['--only', 'leads'],
        rounds: 1,
        checkKilled: (file) => expect(count(file, LEADS_WITHOUT_VALUES)).toBe(0),
      })
      expect(await run({ args, cwd: base, env })).toMatchObject({ status: 0 })
    }
    write('')
    await killAndSync()
    write('  country: company.country\n  city: company.city\n')
    await killAndSync()
    await world.toNextDay()
    await killAndSync()
    expect(count(databaseIn(base), 'field_change')).toBeGreaterThan(0)
  })

  it('sends each message once, or again under the same Message-ID where it may have been lost, and knows which', async () => {
    await using world = await openWorld(5)
    const base = await openFolder()
    expect(await run({ args: ['sync'], cwd: base, env: world.env })).toMatchObject({ status: 0 })
    const open = async (cwd: string): Promise<Case> => {
      const server = await openMailServer()
      const file = databaseIn(cwd)
      return {
        program: {
          args: ['report', 'send', 'daily'],
          cwd,
          env: { ...world.env, LEADSHEET_MAIL_URL: server.url },
        },
        // An issue has all its messages or none.
        checkKilled: () => expect(count(file, 'delivery')).toBe(count(file, 'report_issue') === 0 ? 0 : 2),
        check() {
          const messages = readLedger({ file })
          expect(messages.map(({ recipient }) => recipient)).toEqual(['ana@example.com', 'ben@example.com'])
          for (const { message_id, state, unconfirmed_count } of messages) {
            const copies = server.received.filter((one) => one.mail.messageId === message_id).length
            if (state === 'unconfirmed') expect(unconfirmed_count).toBe(2)
            else expect({ state, copies: copies > 0 }).toEqual({ state: 'sent', copies: true })
            expect(copies).toBeLessThanOrEqual(1 + unconfirmed_count)
          }
          const ids = new Set(server.received.map((one) => one.mail.messageId))
          expect(ids.size).toBeLessThanOrEqual(messages.length)
          const [page] = globSync('data/archive/daily/*/index.html', { cwd })
          expect(readFileSync(join(cwd, page ?? ''), 'utf8')).toMatch(/<\/html>\s*$/)
        },
        [Symbol.asyncDispose]: server[Symbol.asyncDispose],
      }
    }
    await killEverywhere(base, open, { rounds: ROUNDS })
  })

  it.each([
    ['an empty file', async (file: string): Promise<void> => writeFileSync(file, ''), 0],
    ['the schema of the version before', makePresentStore, 3],
  ])(
    'leaves the old schema or the new one where it migrates %s, after a backup of what is there',
    async (_, makeFile, leads) => {
      const base = folderWith({ 'data/.keep': '' })
      await makeFile(databaseIn(base))
      const sources = makeNextVersion()
      const schemaIn = (folder: string): string =>
        JSON.stringify(
          ask(databaseIn(folder), 'SELECT type, name, sql FROM sqlite_schema ORDER BY type, name'),
        )
      const before = schemaIn(base)
      let after = ''
      const open = (cwd: string): Case => ({
        program: {
          main: join(import.meta.dirname, 'support/upgrade-store.ts'),
          args: [databaseIn(cwd), sources],
          cwd,
          env: { EVERY_STATEMENT: '1' },
        },
        checkKilled: () => expect([before, after]).toContain(schemaIn(cwd)),
        result() {
          after ||= schemaIn(cwd)
          expect(count(databaseIn(cwd), 'lead')).toBe(leads)
          const backups = globSync('data/backups/*', { cwd })
          expect(backups).toHaveLength(leads === 0 ? 0 : 1)
          const contents = backups.map((backup) => checkBackup(join(cwd, backup)))
          return [schemaIn(cwd), hashTables(databaseIn(cwd)), backups, contents]
        },
      })
      await killEverywhere(base, open, { samples: 3, points: /^before|^after commit/, sources })
    },
  )
})

it.each(['before', 'while'])(
  'a first load that was killed %s its indexes were made can be looked at, backed up, restored and gone on with, by any part of a sync',
  async (when) => {
    await using world = await openWorld(3)
    const { env } = world
    const empty = await openFolder()
    const load = (name: string): Program => ({
      args: ['sync', '--only', 'leads'],
      cwd: copyOf(empty, folderWith(), name),
      env: { ...env, EVERY_STATEMENT: '1' },
    })
    const [whole, killed] = [load('whole'), load('killed')]
    const points = await listPoints(whole)
    const firstIndex = points.findIndex((name) => /^before CREATE.* INDEX/i.test(name))
    expect(await runKilledAt(firstIndex + (when === 'before' ? 1 : 4), killed)).toBe(true)
    const file = databaseIn(killed.cwd)
    expect(count(file, 'sync_dropped_index')).toBeGreaterThan(0)
    const details = ['sync', '--only', 'details']
    const commands = [
      ['status'],
      ['db', 'prune'],
      ['db', 'backup', 'backup.db'],
      ['db', 'restore', 'backup.db'],
      details,
      ['sync', '--only', 'leads', '--full'],
    ]
    for (const args of commands) {
      const { status, stderr } = await run({ args, cwd: killed.cwd, env })
      // The first check of `status` fails, because no sync has read all leads yet.
      expect(status, `${args.join(' ')}: ${stderr}`).toBe(args[0] === 'status' ? 1 : 0)
    }
    expect(await run({ args: details, cwd: whole.cwd, env })).toMatchObject({ status: 0 })
    await expectSound(file)
    expect(hashTables(file)).toEqual(hashTables(databaseIn(whole.cwd)))
  },
)

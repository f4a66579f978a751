// @long
/** The demo shows the same with each kind of store: equal rows, figures and mails, to the last digit. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { openStore } from '../src/store/open.ts'
import { folderWith } from './support/folder.ts'
import { hasPostgres, newDatabase } from './support/postgres.ts'
import { clockStandingAt } from './support/process/shifted-clock.ts'
import { runWarm } from './support/process/warm-leadsheet.ts'

/** On the second day the demo continues with the changes since the first day. */
const DAYS = ['2026-11-19T09:00:00Z', '2026-11-20T16:30:00Z'] as const

const FIGURES = [
  'figures --json',
  'figures --from 2026-09-01 --to 2026-11-01 --json',
  'figures --from 2026-11-01 --to 2026-11-20 --where score>=60 --json',
]

type Demo = ReturnType<typeof demoIn>

/** @param store the URL of the store; null for a file */
function demoIn(cwd: string, store: string | null) {
  const folder = join(cwd, store === null ? 'data/demo' : 'data/demo/postgres')
  return {
    folder,
    store: store ?? join(folder, 'leadsheet.db'),
    async run(args: readonly string[], at: string): Promise<string> {
      const env = { ...clockStandingAt(at), LEADSHEET_CONFIG: join(folder, 'leadsheet.yaml') }
      const { status, stdout, stderr } = await runWarm(args, { cwd, env })
      expect(status, stderr).toBe(0)
      return stdout
    },
  }
}

it.skipIf(!hasPostgres)(
  'the demo in PostgreSQL has the rows, figures and mails of the one in a file',
  async () => {
    const [file, server] = [demoIn(folderWith(), null), demoIn(folderWith(), await newDatabase())]
    for (const day of DAYS) {
      await file.run(['demo'], day)
      if (day === DAYS[0]) {
        // Both days use the same service, because making up its past takes time.
        mkdirSync(server.folder, { recursive: true })
        copyFileSync(join(file.folder, 'service.db'), join(server.folder, 'service.db'))
      }
      await server.run(['demo', '--database-url', server.store], day)
    }

    const [told, toldByServer] = [await readAll(file), await readAll(server)]
    for (const [what, own] of Object.entries(told)) expect(toldByServer[what], what).toEqual(own)
    expect(Object.keys(toldByServer).sort()).toEqual(Object.keys(told).sort())
    expect(Object.keys(told).filter((what) => what.endsWith('.eml'))).toHaveLength(6)
    expect(Object.keys(told).length).toBeGreaterThan(30 + FIGURES.length + 6)
    expect(told['lead']?.length).toBeGreaterThan(2_000)
    // These are the leads that changed from the first day to the second.
    expect(told['lead_history']?.length).toBeGreaterThan(0)
    expect(told['report_issue']).toHaveLength(3)
  },
)

/** Returns the rows of each table as JSON, what each command prints, and the mails by their names. */
async function readAll({ store, folder, run }: Demo): Promise<Record<string, readonly string[]>> {
  const all: Record<string, readonly string[]> = {}
  await using model = await openStore(':memory:', new Date())
  await using opened = await openStore(store, new Date())
  for (const { name, isView } of await model.db.introspection.getTables()) {
    // Messages are compared as they were mailed.
    if (isView || name === 'message') continue
    const { rows } = await sql<object>`SELECT * FROM ${sql.table(name)}`.execute(opened.db)
    all[name] = rows
      // SQLite numbers these rows only when asked.
      .map((row) => JSON.stringify({ ...row, rowid: undefined }).replaceAll(folder, 'FOLDER'))
      .map(withoutChance)
      .sort()
  }
  for (const command of FIGURES) all[command] = [await run(command.split(' '), DAYS[1])]
  const outbox = join(folder, 'outbox')
  for (const mail of readdirSync(outbox))
    all[withoutChance(mail)] = [withoutChance(readFileSync(join(outbox, mail), 'latin1'))]
  return all
}

/** Removes the random ids of an installation, its runs, issues and messages, and the port of its service. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'ID')
    .replaceAll(/(\d{8}T\d{6}Z-)[0-9a-f]{6}/g, '$1ID')
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/(?<=%20)[0-9a-f]{40}|\b[0-9a-f]{40}\b/g, 'ID')
    .replaceAll(/127\.0\.0\.1:\d+\/api/g, 'SERVICE/api')
    .replaceAll(/_NmP-[0-9a-f]{24}/g, '_NmP-ID')
    .replaceAll(/-[0-9a-f]{8}\.eml/g, '-ID.eml')
}

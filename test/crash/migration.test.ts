import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { makeNextVersion, makePresentStore } from '../support/process/next-version.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { forEachCase, sampleOf } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn } from './support/world.ts'

const makeEmptyFile = async (file: string): Promise<void> => writeFileSync(file, '')

function schemaOf(file: string): string {
  const database = new Database(file)
  const schema = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
  database.close()
  return JSON.stringify(schema)
}

it.each([
  ['an empty file', makeEmptyFile, 0],
  ['the schema of the version before', makePresentStore, 3],
])(
  'a migration killed at any statement leaves the old schema or the new one, and is made by the next run: %s (row 40)',
  async (_name, makeFile, leads) => {
    const base = folderWith({ 'data/.keep': '' })
    await makeFile(databaseIn(base))
    const sources = makeNextVersion()
    const copies = folderWith()
    const programIn = (folder: string): Program => ({
      main: join(import.meta.dirname, 'support/open-store.ts'),
      args: [databaseIn(folder), sources],
      cwd: folder,
      env: { EVERY_STATEMENT: '1' },
    })
    const unkilled = copyOf(base, copies, 'unkilled')
    const points = await listPoints(programIn(unkilled))
    const before = schemaOf(databaseIn(base))
    const after = schemaOf(databaseIn(unkilled))
    const rows = hashTables(databaseIn(unkilled))
    expect(rows['lead']).toMatch(`${leads} rows`)
    await expectSound(databaseIn(unkilled), [], sources)

    const numbers = points.flatMap((name, index) => (/^before|^after commit/.test(name) ? [index + 1] : []))
    expect(numbers.length).toBeGreaterThan(50)
    await forEachCase(sampleOf(numbers, 3), async (point) => {
      const folder = copyOf(base, copies, String(point))
      await runKilledAt(point, programIn(folder))
      expect([before, after]).toContain(schemaOf(databaseIn(folder)))
      expect(await run(programIn(folder))).toMatchObject({ status: 0 })
      expect(schemaOf(databaseIn(folder))).toBe(after)
      expect(hashTables(databaseIn(folder))).toEqual(rows)
      await expectSound(databaseIn(folder), [], sources)
      rmSync(folder, { recursive: true })
    })
  },
)

/** Rows and declared fields stay together: a sync, and the mapping of stored records, are killed at every point. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ask } from '../support/data/publishing.ts'
import { folderWith } from '../support/folder.ts'
import { hashTables } from './support/contents.ts'
import { type Case, killEverywhere } from './support/everywhere.ts'
import { type Program, run } from './support/program.ts'
import { copyOf, databaseIn, openFolder, openWorld } from './support/world.ts'

const PROFILE = `
name: killed
paging: { kind: cursor, param: cursor, next: page.next_cursor, size_param: limit, has_more: page.has_more }
envelope: { leads: data }
mapping: { lead: { id: id, pipeline_id: pipeline_id, status: status, created_at: created_at, updated_at: updated_at } }
fields:
  points: { from: score, type: integer, history: true }
  industry: company.industry
`

it('a sync killed at every point leaves fields with the rows of their leads, also if the profile changed (row 38)', async () => {
  await using world = await openWorld(25)
  const base = await openFolder()
  const write = (fields: string) => writeFileSync(join(base, 'profile.yaml'), `${PROFILE}${fields}`)
  write('')
  const settings = readFileSync(join(base, 'leadsheet.yaml'), 'utf8')
  writeFileSync(
    join(base, 'leadsheet.yaml'),
    settings.replace('page_size: 100', 'profile: profile.yaml, page_size: 40'),
  )
  const programIn = (cwd: string): Program => ({
    args: ['sync', '--full', '--only', 'leads'],
    cwd,
    env: world.env,
  })
  const killSync = async (): Promise<void> => {
    const whole = programIn(copyOf(base, folderWith(), 'whole'))
    expect(await run(whole)).toMatchObject({ status: 0 })
    const expected = hashTables(databaseIn(whole.cwd))
    const open = (folder: string): Case => ({
      program: programIn(folder),
      checkKilled: () => expect(missing(databaseIn(folder))).toBe(0),
      check: () => expect(hashTables(databaseIn(folder))).toEqual(expected),
    })
    await killEverywhere(base, open)
    expect(await run(programIn(base))).toMatchObject({ status: 0 })
  }
  await killSync()
  write('  country: company.country\n  city: company.city\n')
  await killSync()
  await world.toNextDay()
  await killSync()
  expect(ask(databaseIn(base), 'SELECT count(*) AS n FROM field_change')[0]).not.toEqual({ n: 0 })
})

/** Counts the leads without a row of values. */
function missing(file: string): number {
  const sql = 'SELECT count(*) AS n FROM lead LEFT JOIN lead_values ON lead_no = no WHERE lead_no IS NULL'
  return ask<{ n: number }>(file, sql)[0]?.n ?? 0
}

import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { startUpstream } from '../support/upstream.ts'
import { run, syncOf } from './support/program.ts'

/** Enough leads for tables of many pages. */
const LEADS = 500
const PAGE_BYTES = 4096

function overwrite(file: string, from: number, to?: number): void {
  const bytes = readFileSync(file)
  bytes.fill(0x5a, from, to)
  writeFileSync(file, bytes)
}

const RESTORE = /leadsheet db restore/
const DAMAGED = /damaged or not a leadsheet database/
/** The kinds of damage, the message about each, and its hint. */
const DAMAGES: readonly (readonly [string, (file: string) => void, says: RegExp, hint: RegExp])[] = [
  [
    'no database at all',
    (file) => writeFileSync(file, 'id,name\n1,Acme\n'.repeat(1000)),
    DAMAGED,
    /leadsheet db restore .* move .*leadsheet\.db away .* leadsheet sync/,
  ],
  ['its first page overwritten', (file) => overwrite(file, 0, PAGE_BYTES), DAMAGED, RESTORE],
  ['its tables’ description overwritten', (file) => overwrite(file, 100, PAGE_BYTES), DAMAGED, RESTORE],
  [
    'its second half missing',
    (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2 / PAGE_BYTES) * PAGE_BYTES),
    DAMAGED,
    RESTORE,
  ],
  ['all but its first pages overwritten', (file) => overwrite(file, 60 * PAGE_BYTES), DAMAGED, RESTORE],
  [
    'the database of another program',
    (file) => {
      truncateSync(file)
      const other = new Database(file)
      other.exec('CREATE TABLE note (text TEXT)')
      other.close()
    },
    /not one of leadsheet/,
    /another data_dir/,
  ],
]

it.each(DAMAGES)(
  'a damaged database file is named, left as it is, and comes with what to do: %s',
  async (_, damage, says, hint) => {
    await using upstream = await startUpstream(LEADS)
    const sync = syncOf(upstream.url, '{ page_size: 100 }', '--json')
    expect(await run(sync)).toMatchObject({ status: 0 })
    const file = join(sync.cwd, 'leadsheet.db')
    damage(file)
    const damaged = readFileSync(file)
    const { status, stderr } = await run(sync)
    expect(status).not.toBe(0)
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
    expect(error).toMatchObject({
      code: 'store_corrupt',
      message: expect.stringMatching(says),
      hint: expect.stringMatching(hint),
    })
    expect(readFileSync(file).equals(damaged)).toBe(true)
  },
)

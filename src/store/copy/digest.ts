/** What the rows of a table come to, by which it is known that a copy is one: the same in either database. */
import { createHash } from 'node:crypto'
import type { Db } from '../db/store.ts'
import type { CopiedTable } from './copied-tables.ts'
import { readChunks } from './copy-rows.ts'

export interface TableDigest {
  readonly rows: number
  /** Of all columns that are not computed, row by row in the order of the key; hex. */
  readonly sha256: string
}

/** @param onRows hears how many rows of it were read so far, and may break it off */
export async function readDigest(
  db: Db,
  table: CopiedTable,
  onRows: (rows: number) => void = () => {},
): Promise<TableDigest> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const { cells } of readChunks(db, table)) {
    for (const text of cells) hash.update(text).update('\n')
    rows += cells.length
    onRows(rows)
  }
  return { rows, sha256: hash.digest('hex') }
}

export function isSame(a: TableDigest, b: TableDigest): boolean {
  return a.rows === b.rows && a.sha256 === b.sha256
}

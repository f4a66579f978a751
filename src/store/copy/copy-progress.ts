/** How far a move is: the rows of all tables, told as one. */
import type { Db } from '../db/store.ts'
import type { CopiedTable } from './copied-tables.ts'
import { countRows } from './copy-rows.ts'

export interface MoveStep {
  readonly step: 'copy' | 'compare'
  /** Rows of all tables; those that are compared are read in both. */
  readonly done: number
  readonly total: number
  readonly table: string
}

/** Who hears of it, and can break it off. */
export interface Heard {
  readonly signal: AbortSignal
  readonly onProgress: (step: MoveStep) => void
}

export interface Progress {
  /**
   * @param rows of this table so far
   * @throws the reason of the signal
   */
  tell(table: CopiedTable, rows: number): void
  /** @param rows that were all of a table */
  end(rows: number): void
}

export async function countSteps(
  step: MoveStep['step'],
  db: Db,
  tables: readonly CopiedTable[],
  { signal, onProgress }: Heard,
): Promise<Progress> {
  let total = 0
  for (const table of tables) total += await countRows(db, table)
  if (step === 'compare') total *= 2
  let ended = 0
  return {
    tell(table, rows) {
      signal.throwIfAborted()
      onProgress({ step, done: ended + rows, total, table: table.name })
    },
    end(rows) {
      ended += rows
    },
  }
}

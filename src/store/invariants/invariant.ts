/** What one rule of the store is made of, and what can be done where it is broken. */

import type { RawBuilder } from 'kysely'
import { shellCommand } from '../../errors.ts'

export interface Invariant {
  /** As a sentence. */
  readonly rule: string
  /** PostgreSQL holds it by itself. */
  readonly isOfFiles?: true
  /** One row for each violation, which it names as `what`; the present is `(SELECT now FROM moment)`. */
  readonly violations: RawBuilder<unknown>
  readonly remedy: string
}

export const RESTORE = `restore the last backup with ${shellCommand('restore')}, or move the file away: the next sync reads all anew`
export const READ_ALL = `run ${shellCommand('sync --full')}`
export const TELL =
  'this is a fault of leadsheet: please report it with what is named here; a backup from before may be without it'

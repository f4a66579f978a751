/**
 * What always holds in the store, whatever was killed, cut or refused: each rule with the query that finds what
 * breaks it. `leadsheet doctor` asks them, and so do the tests after every crash.
 */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'
import type { Invariant } from './invariant.ts'
import { INTACT, OF_LEADS } from './lead-invariants.ts'
import { OF_WORK } from './work-invariants.ts'

export const INVARIANTS: readonly Invariant[] = [INTACT, ...OF_WORK, ...OF_LEADS]

/** Those that can be broken in this database. */
export function invariantsOf(db: Db): readonly Invariant[] {
  return isPostgres(db) ? INVARIANTS.filter(({ isOfFiles }) => !isOfFiles) : INVARIANTS
}

export interface Violation {
  /** The rule, as a sentence. */
  readonly rule: string
  readonly count: number
  /** A few of what breaks it. */
  readonly examples: readonly string[]
  readonly remedy: string
}

const EXAMPLES = 3

/**
 * @param now for what may be under way for some time and no longer
 * @param reads `few` rows, those of the program's own work, or `all`, which takes a second for some hundred megabytes
 */
export async function findViolations(db: Db, now: Instant, reads: 'few' | 'all'): Promise<Violation[]> {
  const found: Violation[] = []
  for (const invariant of reads === 'all' ? invariantsOf(db) : OF_WORK) {
    const violation = await findViolation(db, invariant, now)
    if (violation !== null) found.push(violation)
    if (violation !== null && invariant === INTACT) return found
  }
  return found
}

async function findViolation(
  db: Db,
  { rule, violations, remedy }: Invariant,
  now: Instant,
): Promise<Violation | null> {
  const { rows } = await sql<{ what: string; count: number }>`
    WITH moment (now) AS (SELECT ${now})
    SELECT CAST(what AS TEXT) AS what, count(*) OVER () AS count FROM (${violations}) AS violation LIMIT ${EXAMPLES}`.execute(
    db,
  )
  const [first] = rows
  return first ? { rule, count: first.count, examples: rows.map((row) => row.what), remedy } : null
}

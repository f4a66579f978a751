/** Checks a database after a crash. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { findViolations } from '../../../src/store/invariants/invariants.ts'

const SOURCES = join(import.meta.dirname, '../../../src')

/**
 * Opens the store like the next run, and checks all rules, from the file itself to the last message.
 * @param except rules that need not hold until the next sync
 * @param sources of the version that opens the store
 */
export async function expectSound(
  file: string,
  except: readonly string[] = [],
  sources = SOURCES,
): Promise<void> {
  const { openStore } = await import(join(sources, 'store/open.ts'))
  await using store = await openStore(file, new Date())
  const violations = await findViolations(store.db, new Date().toISOString(), 'all')
  expect(violations.filter(({ rule }) => !except.includes(rule))).toEqual([])
}

/** What is asked of a database after each crash. */
import { expect } from 'vitest'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { openStore } from '../../../src/store/open.ts'

/**
 * Opens it as the next run would; every rule holds, from the file itself to the last letter.
 * @param except rules that need not hold until the next sync
 */
export async function expectSound(file: string, except: readonly string[] = []): Promise<void> {
  await using store = await openStore(file, new Date())
  const violations = await findViolations(store.db, new Date().toISOString(), 'all')
  expect(violations.filter(({ rule }) => !except.includes(rule))).toEqual([])
}

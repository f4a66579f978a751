/** What is asked of a database after each crash. */
import { expect } from 'vitest'
import { findViolations } from '../../../src/store/invariants.ts'
import { openStore } from '../../../src/store/open.ts'

/** Opens it as the next run would; every rule holds, from the file itself to the last letter. */
export async function expectSound(file: string): Promise<void> {
  await using store = await openStore(file, new Date())
  expect(await findViolations(store.db, new Date().toISOString(), 'all')).toEqual([])
}

/** Gives analysts a role of their own in the PostgreSQL that has the store. */
import { CompiledQuery } from 'kysely'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Store } from '../db/store.ts'
import { mayMakeRoles, planReader, type Reader, type ReaderPlan } from './analyst-role.ts'

/**
 * @throws LeadsheetError store_elsewhere for a store in a file, usage_invalid where the role cannot be one of analysts
 */
export async function describeReader(store: Store, reader: Reader): Promise<ReaderPlan> {
  if (store.place.kind === 'postgres') return planReader(store.db, store.place, reader)
  throw new LeadsheetError('store_elsewhere', `a file has no roles, and ${store.place.file} is one`, {
    hint: 'Analysts open the snapshot, which holds nothing that is not for them.',
  })
}

/**
 * Makes the role, or has one that is there read what it should: all or nothing.
 * @throws LeadsheetError as {@link describeReader}, and store_refused where our own user may not make roles
 */
export async function makeReader(store: Store, reader: Reader): Promise<ReaderPlan> {
  const plan = await describeReader(store, reader)
  if (!(await mayMakeRoles(store.db))) {
    throw new LeadsheetError('store_refused', 'the user of the store may not make or change roles', {
      hint: `Have the SQL that ${shellCommand('reader ROLE --print')} shows run by one who may.`,
    })
  }
  await store.write(async (trx) => {
    for (const statement of plan.statements) await trx.executeQuery(CompiledQuery.raw(statement))
  })
  return plan
}

/**
 * Maps the stored records again if the declared fields of the profile have changed. The upstream is not asked,
 * because the records themselves are the same.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { counted } from '../../report/words/numbers.ts'
import { createEncoder, listFields } from '../../store/leads/declared-fields.ts'
import {
  endMapping,
  type FieldNews,
  listRecords,
  planFields,
  saveFieldPlan,
  saveMapped,
} from '../../store/leads/field-mapping.ts'
import { mapFields } from '../../upstream/mapping/field-mapping.ts'
import { ruledFieldsOf } from '../../upstream/profile/declared-field.ts'
import { parseJson } from '../../upstream/values/json.ts'
import type { SyncRun } from './sync-context.ts'

/** The number of records that are mapped in one transaction. */
const LEADS_A_WRITE = 500

/** @returns what the sync tells of the change; empty if nothing changed */
export async function mapFieldsAgain(run: SyncRun): Promise<string[]> {
  const { source, store, log, options } = run
  const plan = await planFields(store.db, ruledFieldsOf(source.profile))
  if (plan.differs) await run.write((trx) => saveFieldPlan(trx, plan))
  if (plan.after === null) return []
  const encode = createEncoder(await listFields(store.db))
  let leads = 0
  for (let last = plan.after; ; ) {
    options.signal.throwIfAborted()
    const records = await listRecords(store.db, last, LEADS_A_WRITE)
    last = records.at(-1)?.lead_no ?? last
    if (records.length === 0) break
    const rows = records.map(({ lead_no, raw }) => {
      const values = encode({ fields: mapFields(parseJson(raw), source.profile.fields) })
      return { lead_no, ...(values ?? { cells: '[]', unfit: null }) }
    })
    const end = last
    await run.writeSoon((trx) => saveMapped(trx, rows, end))
    leads += rows.length
    await nextTurn()
  }
  await run.write((trx) => endMapping(trx, run.now().toISOString()))
  if (leads === 0) return []
  log.info({ ...plan.news, leads }, 'fields mapped again')
  return describe(plan.news, leads)
}

/** The most names that a warning lists of each kind. */
const NAMES_SHOWN = 10

function describe(news: FieldNews, leads: number): string[] {
  const parts = Object.entries(news).flatMap(([what, names]) => {
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
    return names.length === 0 ? [] : [`${what}: ${names.toSorted().slice(0, NAMES_SHOWN).join(', ')}${more}`]
  })
  if (parts.length === 0) return []
  return [`fields of the profile ${parts.join('; ')}; read from ${counted(leads, 'stored record')}`]
}

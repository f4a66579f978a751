/** What is odd about what the syncs read: leads that are gone, fields that changed, records that cannot be read. */
import { shellCommand } from '../../errors.ts'
import { counted } from '../../report/words/numbers.ts'
import type { Db } from '../../store/db/store.ts'
import { countQuarantinedSince } from '../../store/leads/quarantined-record.ts'
import { listDrift } from '../../store/sync/field-drift.ts'
import { listWholeScans, type WholeScan } from '../../store/sync/scan-result.ts'
import type { Trouble } from '../notice.ts'
import { tellInstant } from '../schedule/schedule.ts'
import { minutesBefore, type Watch } from './watch.ts'

const DAY_MINUTES = 24 * 60
/** Fewer than these may halve or double, and it means nothing. */
const LEADS_LEAST = 50

export const WATCH_LEADS: Watch = {
  reasons: ['removals_refused', 'counts_unusual', 'fields_changed', 'records_quarantined'],
  find: ({ store }, now) => findLeadTroubles(store.db, now),
}

export async function findLeadTroubles(db: Db, now: Date): Promise<Trouble[]> {
  const dayAgo = minutesBefore(now, DAY_MINUTES)
  const [scan, before] = await listWholeScans(db, 2)
  const odd = scan === undefined ? null : (removalsRefused(scan) ?? unusualCount(scan, before))
  const drift = (await listDrift(db, dayAgo)).filter(({ change }) => change !== 'new')
  const fields = drift.map(({ change, path, types, at }): Trouble => {
    const what =
      change === 'vanished' ? 'is in no record any longer' : `is now also of the type ${types.join(', ')}`
    return {
      ...{ reason: 'fields_changed', subject: path },
      message: `The field ${path} ${what}, as of ${tellInstant(at)}.`,
      hint: `Look at the upstream; if the field is called otherwise now, mend the mapping of the profile (${shellCommand('doctor')} names what is not mapped).`,
    }
  })
  const held = (await countQuarantinedSince(db, dayAgo)).map(
    ({ resource, records, reason }): Trouble => ({
      ...{ reason: 'records_quarantined', subject: resource },
      message: `${counted(records, `${resource.replace('_', ' ')} record`)} of the last day cannot be read: ${reason}`,
      hint: 'They are kept whole in the table quarantined_record; mend the mapping of the profile, and they are read again.',
    }),
  )
  // The newest of each field says all.
  const newest = [...new Map(fields.toReversed().map((trouble) => [trouble.subject, trouble])).values()]
  return [...(odd === null ? [] : [odd]), ...newest, ...held]
}

function removalsRefused({ leads, heldBack }: WholeScan): Trouble | null {
  if (heldBack === 0) return null
  const of = (leads + heldBack).toLocaleString('en')
  return {
    ...{ reason: 'removals_refused', subject: '' },
    message: `${heldBack.toLocaleString('en')} of ${of} leads were missing from the last whole scan: taken for a fault of the upstream, none is marked removed.`,
    hint: `Look at the upstream. If they are really gone, confirm it: ${shellCommand('sync --full --accept-removals')}.`,
  }
}

function unusualCount({ leads }: WholeScan, before: WholeScan | undefined): Trouble | null {
  if (before === undefined || Math.max(leads, before.leads) < LEADS_LEAST) return null
  if (leads >= before.leads / 2 && leads <= before.leads * 2) return null
  return {
    ...{ reason: 'counts_unusual', subject: '' },
    message: `The last whole scan met ${leads.toLocaleString('en')} leads, the one before ${before.leads.toLocaleString('en')}.`,
    hint: 'Look at the upstream, and whether the key still sees the same leads.',
  }
}

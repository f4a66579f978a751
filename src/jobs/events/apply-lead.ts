/** A lead that an event told of, merged as a page of a scan merges it, so that the next scan finds it unchanged. */
import type { Lead, QuarantinedRecord } from '../../model.ts'
import type { Observation, Trx } from '../../store/db/store.ts'
import { outdateDetails, saveDetails } from '../../store/leads/detail.ts'
import { forgetFingerprints, saveFingerprints } from '../../store/leads/fingerprints.ts'
import { type FoundLead, findLeadNos, saveLeads } from '../../store/leads/lead.ts'
import { releaseQuarantinedRecords, saveQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import { noteReadByEvent } from '../../store/sync/scan-event.ts'
import { forgetAbsence, markRemoved } from '../../store/sync/soft-delete.ts'
import type { SingleLead } from '../../upstream/mapping/detail-mapping.ts'

type MappedLead = Omit<SingleLead, 'lead'> & { readonly lead: Lead }

/** @param hasDetails whether it is the answer of the lead by itself, and details are wanted */
export async function keepLead(
  trx: Trx,
  { lead, fingerprint, detail }: MappedLead,
  hasDetails: boolean,
  seen: Observation,
): Promise<'inserted' | 'updated' | 'unchanged'> {
  const [saved] = await saveLeads(trx, [lead], seen)
  if (saved === undefined) throw new TypeError('of one lead one is saved')
  const { no, change, isLate } = saved
  await releaseQuarantinedRecords(trx, 'lead', [lead.id])
  await forgetAbsence(trx, [no])
  if (change !== 'unchanged' && !isLate) {
    const isReadAnew = lead.mended.length > 0 || lead.cut > 0
    if (isReadAnew) await forgetFingerprints(trx, [no])
    else await saveFingerprints(trx, [{ no, ...fingerprint }])
  }
  if (change === 'updated') await outdateDetails(trx, [no], seen.at)
  if (hasDetails && !isLate && !('reason' in detail)) {
    const known = { no, id: lead.id, updatedAt: lead.updatedAt ?? seen.at }
    await saveDetails(trx, [{ lead: known, detail }], seen)
  }
  await noteReadByEvent(trx, no)
  return change
}

/** One that could not be mapped: what is known of it stays as it is. */
export async function keepQuarantinedLead(
  trx: Trx,
  held: QuarantinedRecord,
  seen: Observation,
): Promise<void> {
  await saveQuarantinedRecords(trx, [held], seen.at)
  const nos = await findLeadNos(trx, held.id === null ? [] : [held.id])
  await forgetFingerprints(trx, [...nos.values()])
  for (const no of nos.values()) await noteReadByEvent(trx, no)
}

/**
 * One that the upstream does not know.
 * @param calledDeleted it, where an event calls it gone, too: else scans judge
 */
export async function keepDeletedLead(
  trx: Trx,
  calledDeleted: FoundLead | undefined,
  seen: Observation,
): Promise<{ outcome: 'removed' | 'gone'; problem: null }> {
  if (calledDeleted === undefined || calledDeleted.isRemoved) return { outcome: 'gone', problem: null }
  await markRemoved(trx, [calledDeleted], seen)
  await noteReadByEvent(trx, calledDeleted.no)
  return { outcome: 'removed', problem: null }
}

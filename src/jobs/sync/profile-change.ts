/** Handles a changed profile, because the stored data was mapped by the earlier profile. */
import { createHash } from 'node:crypto'
import { saveLeads } from '../../store/leads/lead.ts'
import { deleteQuarantinedRecord, listQuarantinedRecords } from '../../store/leads/quarantined-record.ts'
import { addCounts } from '../../store/sync/sync-run.ts'
import { isHeld } from '../../upstream/mapping/lead-mapping.ts'
import type { Profile } from '../../upstream/profile/profile.ts'
import { parseJson } from '../../upstream/values/json.ts'
import type { SyncRun } from './sync-context.ts'

const BATCH_ROWS = 500

/**
 * Hashes the parts of the profile that decide which data is read and how it is mapped. The location of the
 * API key and the rate limit do not matter.
 */
export function hashProfile(profile: Profile): string {
  const { endpoints, paging, envelope, filters, sort, mapping, stages } = profile
  const parts = { endpoints, paging, envelope, filters, sort, mapping, stages }
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Maps the quarantined leads again, stores those that can now be mapped, and returns how many were. */
export async function retryQuarantinedLeads(run: SyncRun): Promise<number> {
  let done = 0
  let after = ''
  for (;;) {
    const rows = await listQuarantinedRecords(run.store.db, 'lead', after, BATCH_ROWS)
    const last = rows.at(-1)
    if (last === undefined) return done
    after = last.raw_sha256
    const at = run.now()
    const seen = { runId: run.runId, at: at.toISOString() }
    const mapped = rows.flatMap(({ raw, raw_sha256 }) => {
      const lead = run.source.mapLead(parseJson(raw), raw)
      return isHeld(lead) ? [] : [{ lead, raw_sha256 }]
    })
    done += mapped.length
    await run.store.write(async (trx) => {
      await run.lease.renew(trx, at)
      const saved = await saveLeads(
        trx,
        mapped.map(({ lead }) => lead),
        seen,
      )
      for (const { raw_sha256 } of mapped) await deleteQuarantinedRecord(trx, 'lead', raw_sha256)
      const counts = { pages: 0, seen: 0, unchanged: 0, removed: 0, held: 0 }
      await addCounts(trx, run.runId, {
        ...counts,
        inserted: saved.filter(({ change }) => change === 'inserted').length,
        updated: saved.filter(({ change }) => change === 'updated').length,
      })
    })
  }
}

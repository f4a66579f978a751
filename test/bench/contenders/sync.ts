/** One sync of leads, as `leadsheet sync --only leads` runs it. */
import { pino } from 'pino'
import type { SyncResult } from '../../../src/domain/sync.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { openSource } from '../../../src/upstream/source.ts'

const log = pino({ level: 'silent' })

/** @param baseUrl the address with the state of the leads, such as `http://127.0.0.1:1234/v1` */
export async function syncLeads(
  store: Store,
  baseUrl: string,
  { full = true, profile = REFERENCE_PROFILE } = {},
): Promise<SyncResult> {
  const opened = openSource({ baseUrl, profile, apiKey: 'bench', maxWaitMs: 0, log })
  // The states of the bench are one source at several times.
  const source = { ...opened, address: 'bench' }
  try {
    return await sync(
      { source, store, log, now: () => new Date() },
      {
        full,
        parts: ['leads'],
        pageSize: 500,
        overlapMs: 0,
        pipelineIds: [],
        signal: new AbortController().signal,
      },
    )
  } finally {
    await source.close()
  }
}

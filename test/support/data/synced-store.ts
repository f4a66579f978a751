/** A store that has synced the last days of the reference service, as of a Saturday morning. */
import type { Store } from '../../../src/store/db/store.ts'
import { folderWith } from '../folder.ts'
import { startService } from '../service.ts'
import { OPENED_AT, openPreparedStore } from '../store.ts'
import { openSyncing } from '../syncing.ts'

/** Returns a copy of a store that has synced so many days of the service up to an instant. */
export function openSyncedStore(days: number, now = OPENED_AT): Promise<Store> {
  return openPreparedStore(`${days} days of the service up to ${now.toISOString()}`, async (place) => {
    await using service = await startService(folderWith(), now, days)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    await using syncing = await openSyncing(service.url, key, { store: place })
    syncing.clock.now = now
    await syncing.sync({ pageSize: 500 })
  })
}

/** How large a store is, and what is free beside it. */
import { type Room, readRoom } from '../db/file-system.ts'
import { readSchemaSize } from '../db/postgres-server.ts'
import type { Store } from '../db/store.ts'

export interface StoreSize {
  /** Bytes. */
  readonly database: number
  /** Beside a file; null of PostgreSQL, whose server has a disk of its own. */
  readonly room: Room | null
}

export async function readSize({ db, place }: Pick<Store, 'db' | 'place'>): Promise<StoreSize> {
  if (place.kind === 'postgres') return { database: await readSchemaSize(db), room: null }
  const room = await readRoom(place.file)
  return { database: room.database, room }
}

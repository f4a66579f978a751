/** How large a store is, and what is free beside it. */
import { type Room, readRoom } from './file-system.ts'
import type { Store } from './open.ts'
import { readSchemaSize } from './postgres/server.ts'

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

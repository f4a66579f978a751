/**
 * The last beat of the daemon, read by whoever only wants to know whether it lives: without migrating, and without
 * leaving anything beside the file, which might then belong to another user than the daemon's.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Instant } from '../model.ts'
import type { StorePlace } from './place.ts'
import { glance } from './postgres/glance.ts'
import type { PostgresPlace } from './postgres.ts'

export interface LastBeat {
  readonly last_tick_at: Instant
  /** When it was stopped; null where it runs, or was killed. */
  readonly ended_at: Instant | null
}

/** Another process may just be opening the file, or closing it as the last one: both lock out readers. */
const BUSY_TIMEOUT_MS = 2_000

/**
 * @returns undefined where there is no database yet, or no daemon has used it
 * @throws LeadsheetError store_corrupt, store_unreachable, store_refused
 */
export async function readLastBeat(place: StorePlace): Promise<LastBeat | undefined> {
  return place.kind === 'sqlite' ? readBeatOfFile(place.file) : readBeatOfServer(place)
}

function readBeatOfFile(file: string): LastBeat | undefined {
  if (!existsSync(file)) return undefined
  const url = pathToFileURL(file)
  // Nobody has it open, so that nothing changes; SQLite would make the files that its users share.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1')
  try {
    using database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'daemon_span'").get()
    if (isThere === undefined) return undefined
    const row = database
      .prepare('SELECT last_tick_at, ended_at FROM daemon_span ORDER BY id DESC LIMIT 1')
      .get()
    return row === undefined ? undefined : beatOf(row)
  } catch (cause) {
    throw new LeadsheetError('store_corrupt', `${file} cannot be read: ${errorText(cause)}`, {
      hint: '`leadsheet doctor` looks into it.',
      cause,
    })
  }
}

/** The last sign of life of any worker; one that was killed has none any more. */
async function readBeatOfServer(place: PostgresPlace): Promise<LastBeat | undefined> {
  return glance(place, 'daemon_span', async (client) => {
    const { rows } = await client.query(
      'SELECT last_tick_at, ended_at FROM daemon_span ORDER BY ended_at IS NULL DESC, last_tick_at DESC LIMIT 1',
    )
    return rows[0] === undefined ? undefined : beatOf(rows[0])
  })
}

function beatOf({ last_tick_at, ended_at }: Readonly<Record<string, unknown>>): LastBeat {
  return { last_tick_at: String(last_tick_at), ended_at: ended_at === null ? null : String(ended_at) }
}

/**
 * The last beat of the daemon, read by whoever only wants to know whether it lives: without migrating, and without
 * leaving anything beside the file, which might then belong to another user than the daemon's.
 */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Instant } from '../../model.ts'
import type { StorePlace } from '../db/place.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import { glance } from '../db/postgres.ts'

export interface LastBeat {
  readonly last_tick_at: Instant
  /** When it was stopped; null where it runs, or was killed. */
  readonly ended_at: Instant | null
}

/** So long ago a worker that runs has given a sign of life. */
const LIVING_MS = 180_000
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
      hint: `${shellCommand('doctor')} looks into it.`,
      cause,
    })
  }
}

/** Of a worker on this machine, which a container asks for, else of any; one that runs before one that was ended. */
async function readBeatOfServer(place: PostgresPlace): Promise<LastBeat | undefined> {
  return glance(place, 'daemon_span', async (client) => {
    const { rows } = await client.query(
      `SELECT last_tick_at, ended_at FROM daemon_span
      ORDER BY host = $1 DESC, ended_at IS NULL AND last_tick_at >= $2 DESC, last_tick_at DESC LIMIT 1`,
      [hostname(), new Date(Date.now() - LIVING_MS).toISOString()],
    )
    return rows[0] === undefined ? undefined : beatOf(rows[0])
  })
}

function beatOf({ last_tick_at, ended_at }: Readonly<Record<string, unknown>>): LastBeat {
  return { last_tick_at: String(last_tick_at), ended_at: ended_at === null ? null : String(ended_at) }
}

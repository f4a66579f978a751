/**
 * The installation on the status page: version, daemon, settings and disk, and the workers if there are
 * several.
 */
import { readSettingsInForce } from '../../../checks/settings.ts'
import { listWorkers } from '../../../jobs/schedule/schedule-state.ts'
import { countJobs, type QueueCounts } from '../../../queue/look.ts'
import { readSize } from '../../../store/backup/backup.ts'
import type { Store } from '../../../store/db/store.ts'
import { findLastSpan } from '../../../store/schedule/uptime.ts'
import { bytes, type Clock, count, type Moment } from '../format.ts'

/** Facts about the installation that need no query of the store. */
export interface InstallationFacts {
  readonly version: string
  /** The settings file; null if there is none. */
  readonly settingsFile: string | null
}

interface InstallationView {
  readonly version: string
  readonly id: string
  readonly daemon: { readonly since: Moment; readonly sign: Moment } | null
  readonly database: string
  /** The size of the database's journal and the free disk space; null if the store is in PostgreSQL. */
  readonly room: { readonly journal: string; readonly free: string } | null
  /** The PostgreSQL server; null if the store is a file. */
  readonly server: string | null
  readonly settings: {
    readonly since: Moment
    readonly refused: { readonly at: Moment; readonly why: string } | null
    readonly changed: Moment | null
  } | null
}

export async function readInstallation(
  store: Store,
  facts: InstallationFacts,
  clock: Clock,
): Promise<InstallationView> {
  const span = await findLastSpan(store.db)
  const { database, room } = await readSize(store)
  const settings = await readSettingsInForce(store.db, facts.settingsFile, clock.now)
  return {
    version: facts.version,
    id: store.installationId,
    daemon:
      span === undefined || span.ended_at !== null
        ? null
        : { since: clock.at(span.began_at), sign: clock.ago(span.last_tick_at) },
    database: bytes(database),
    room: room && { journal: bytes(room.log), free: bytes(room.free) },
    server: store.place.kind === 'postgres' ? store.place.name : null,
    settings: settings && {
      since: clock.at(settings.since),
      refused: settings.refused && { at: clock.at(settings.refused.at), why: settings.refused.why },
      changed: clock.at(settings.changedAt),
    },
  }
}

interface WorkersView {
  readonly workers: readonly WorkerView[]
  readonly waiting: string
  readonly active: string
  /** Jobs that were given up, such as `2 of message`. */
  readonly dead: readonly string[]
}

interface WorkerView {
  readonly id: string
  readonly host: string
  readonly pid: string
  readonly since: Moment
  readonly sign: Moment
  readonly inHand: string
}

/** Lists the workers. Returns null if the store is a file, because only one daemon can use a file. */
export async function readWorkers(
  store: Pick<Store, 'db' | 'place'>,
  clock: Clock,
): Promise<WorkersView | null> {
  const jobs = await countJobs(store)
  if (jobs === null) return null
  const workers = await listWorkers(store.db, clock.now)
  const sum = (key: 'waiting' | 'active'): string =>
    count(jobs.reduce((total: number, queue: QueueCounts) => total + queue[key], 0))
  return {
    workers: workers.map(({ host, pid, since, lastHeartbeat, inHand }) => ({
      ...{ id: `${host}-${pid}`, host, pid: String(pid) },
      ...{ since: clock.at(since), sign: clock.ago(lastHeartbeat), inHand: inHand.join(', ') },
    })),
    waiting: sum('waiting'),
    active: sum('active'),
    dead: jobs.filter(({ dead }) => dead > 0).map(({ queue, dead }) => `${count(dead)} of ${queue}`),
  }
}

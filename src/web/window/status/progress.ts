/** The sync under way, and how far it is. */
import { counted } from '../../../report/numbers.ts'
import type { Db } from '../../../store/db/store.ts'
import { countLeads } from '../../../store/leads/lead.ts'
import { findSyncUnderWay, type SyncUnderWay } from '../../../store/sync/sync-progress.ts'
import type { Clock, Moment } from '../moment.ts'
import { count } from '../numbers.ts'

export interface ProgressView {
  /** What it does now. */
  readonly doing: string
  /** Of the bar; null where nobody knows how much there is. */
  readonly bar: { readonly value: number; readonly max: number } | null
  /** What it has read, with the share of it where that is known. */
  readonly read: string
  readonly since: Moment
  readonly began: Moment
  readonly by: string
}

/** Null while none runs. */
export async function readProgress(db: Db, clock: Clock): Promise<ProgressView | null> {
  const sync = await findSyncUnderWay(db, clock.now)
  if (sync === null) return null
  const total = await expectedOf(db, sync)
  const { leads, pages, requests, details } = sync
  const done = leads === null ? null : Math.min(leads.read, total ?? leads.read)
  const bar = done === null || !total ? null : { value: done, max: total }
  const read = [
    ...(done === null ? [] : [total ? `${count(done)} of ${counted(total, 'lead')}` : counted(done, 'lead')]),
    ...(bar === null ? [] : [`${Math.floor((bar.value / bar.max) * 100)}%`]),
    ...(details > 0 ? [`details of ${counted(details, 'lead')}`] : []),
    counted(pages, 'page'),
    counted(requests, 'request'),
  ]
  return {
    ...{ doing: doingOf(sync), bar, read: read.join(' · ') },
    ...{ since: clock.ago(sync.startedAt), began: clock.at(sync.startedAt) },
    by: `process ${sync.pid} on ${sync.host}`,
  }
}

function doingOf({ mode, leads }: SyncUnderWay): string {
  if (leads === null) return 'Reading statistics, agents and details'
  const what = mode === 'full' ? 'all leads' : 'the leads that changed'
  return leads.pass === 1
    ? `Reading ${what}`
    : `Reading ${what} again, for the ${leads.pass}. time, since rows moved meanwhile`
}

/** An upstream that does not say how many there are is taken to have as many as last time. */
async function expectedOf(db: Db, { mode, leads }: SyncUnderWay): Promise<number | null> {
  if (leads === null) return null
  if (leads.total !== null) return leads.total
  const known = mode === 'full' ? await countLeads(db) : 0
  return known > leads.read ? known : null
}

/** Composes the syncs of the status page: a summary of the last day, recent syncs, and the running sync. */
import { counted } from '../../../report/words/numbers.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import type { Db } from '../../../store/db/store.ts'
import { countLeads } from '../../../store/leads/lead.ts'
import {
  findSyncUnderWay,
  listRuns,
  listRunsSince,
  type RunBrief,
  type SyncUnderWay,
} from '../../../store/sync/sync-run.ts'
import { count, type Tag } from '../../server/format.ts'

const RUNS = 20

/** @param isSyncing whether a sync is running now; if not, a sync without an end time was killed */
export async function readRuns(db: Db, now: Date, isSyncing: boolean) {
  const since = new Date(now.getTime() - DAY_MS).toISOString()
  const runs = await listRuns(db, RUNS)
  const underWay = isSyncing ? runs[0]?.id : undefined
  return {
    day: summaryOf(await listRunsSince(db, since), underWay),
    runs: runs.map((run) => ({
      ...run,
      mode: run.mode === 'full' ? 'all' : 'changes',
      outcome: outcomeOf(run, run.id === underWay),
    })),
  }
}

const OUTCOMES = {
  ok: { kind: 'ok', text: 'ok' },
  ok_no_change: { kind: 'ok', text: 'nothing new' },
  partial: { kind: 'warn', text: 'incomplete' },
  deferred: { kind: 'warn', text: 'deferred' },
  failed: { kind: 'fail', text: 'failed' },
  killed: { kind: 'fail', text: 'killed' },
} as const satisfies Record<string, Tag>
const RUNNING: Tag = { kind: 'busy', text: 'running' }

function outcomeOf({ outcome }: Pick<RunBrief, 'outcome'>, isUnderWay: boolean): Tag {
  return isUnderWay ? RUNNING : OUTCOMES[outcome ?? 'killed']
}

/** Summarizes the syncs, such as `96 syncs in the last 24 hours: 94 ok, 2 failed`. */
function summaryOf(runs: readonly RunBrief[], underWay: string | undefined): string {
  if (runs.length === 0) return 'No sync in the last 24 hours.'
  const words = runs
    .map((run) => outcomeOf(run, run.id === underWay))
    .map(({ kind, text }) => (kind === 'ok' ? 'ok' : text))
  const parts = [...Map.groupBy(words, (word) => word)].map(([word, all]) => `${count(all.length)} ${word}`)
  return `${counted(runs.length, 'sync')} in the last 24 hours: ${parts.join(', ')}.`
}

/** Reads the progress of the running sync; null if no sync is running. */
export async function readProgress(db: Db, now: Date) {
  const sync = await findSyncUnderWay(db, now)
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
  return { ...sync, doing: doingOf(sync), bar, read: read.join(' · ') }
}

function doingOf({ mode, leads }: SyncUnderWay): string {
  if (leads === null) return 'Reading statistics, agents and details'
  const what = mode === 'full' ? 'all leads' : 'the leads that changed'
  return leads.pass === 1
    ? `Reading ${what}`
    : `Reading ${what} again, for the ${leads.pass}. time, since rows moved meanwhile`
}

/** The upstream's total, or for a sync of all leads the stored ones. Null if neither is known. */
async function expectedOf(db: Db, { mode, leads }: SyncUnderWay): Promise<number | null> {
  if (leads === null) return null
  if (leads.total !== null) return leads.total
  const known = mode === 'full' ? await countLeads(db) : 0
  return known > leads.read ? known : null
}

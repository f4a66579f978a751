/** Composes the syncs of the status page: a strip of the last day, recent syncs, and the running sync. */
import type { Instant } from '../../../domain/model.ts'
import { counted } from '../../../report/words/numbers.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import type { Db } from '../../../store/db/store.ts'
import { countLeads } from '../../../store/leads/lead.ts'
import {
  findSyncUnderWay,
  listRuns,
  listRunsSince,
  type RunBrief,
  type RunSummary,
  type SyncUnderWay,
} from '../../../store/sync/sync-run.ts'
import { type InlineCode, withInlineCode } from '../../server/frame.ts'
import { type Clock, count, duration, type Moment, type Tag } from '../format.ts'

const RUNS = 20
const CELL_MS = 15 * 60_000
const CELLS = DAY_MS / CELL_MS

interface RunsView {
  readonly day: DayView
  /** The most recent syncs; empty before the first sync. */
  readonly runs: readonly RunView[]
}

/** The strip of the last day, with a cell for each quarter of an hour. It is `CELLS` wide and 10 high. */
interface DayView {
  /** A summary of the day's syncs in words. */
  readonly summary: string
  readonly cells: readonly Cell[]
  readonly width: number
  readonly from: Moment
  readonly noon: Moment
  readonly to: Moment
}

interface Cell {
  readonly kind: Tag['kind']
  readonly x: number
  /** The distance of the cell from the top of the strip. The worse the outcome, the taller the cell. */
  readonly y: number
  readonly height: number
  /** The tooltip; null if no sync began in this quarter of an hour. */
  readonly title: string | null
}

interface RunView {
  readonly id: string
  readonly begun: Moment
  readonly mode: string
  readonly outcome: Tag
  readonly seen: string
  readonly inserted: string
  readonly updated: string
  readonly deleted: string
  readonly requests: string
  readonly retries: string
  readonly took: string
  /** The number of problems, such as `1 problem`; null if there were none. */
  readonly problem: string | null
  readonly problems: readonly { readonly what: string; readonly hint: InlineCode | null }[]
}

/** @param isSyncing whether a sync is running now; if not, a sync without an end time was killed */
export async function readRuns(db: Db, clock: Clock, isSyncing: boolean): Promise<RunsView> {
  const since = new Date(clock.now.getTime() - DAY_MS).toISOString()
  const runs = await listRuns(db, RUNS)
  const underWay = isSyncing ? runs[0]?.id : undefined
  return {
    day: dayOf(await listRunsSince(db, since), clock, underWay),
    runs: runs.map((run) => runOf(run, clock, run.id === underWay)),
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

function runOf(run: RunSummary, clock: Clock, isUnderWay: boolean): RunView {
  const { problems, durationMs } = run
  return {
    id: run.id,
    begun: clock.at(run.startedAt),
    mode: run.mode === 'full' ? 'all' : 'changes',
    outcome: outcomeOf(run, isUnderWay),
    seen: count(run.seen),
    inserted: count(run.inserted),
    updated: count(run.updated),
    deleted: count(run.deleted),
    requests: count(run.requests),
    retries: count(run.retries),
    took: durationMs === null ? '' : duration(durationMs),
    problem: problems.length === 0 ? null : counted(problems.length, 'problem'),
    problems: problems.map(({ part, message, hint }) => ({
      what: clock.within(`${part}: ${message}`),
      hint: hint === null ? null : withInlineCode(clock.within(hint)),
    })),
  }
}

const HEIGHTS: Readonly<Record<Tag['kind'], number>> = { ok: 5, busy: 5, off: 1, warn: 7.5, fail: 10 }

function dayOf(runs: readonly RunBrief[], clock: Clock, underWay: string | undefined): DayView {
  const end = Math.ceil(clock.now.getTime() / CELL_MS) * CELL_MS
  const start = end - DAY_MS
  const byCell = Map.groupBy(runs, ({ startedAt }) => Math.floor((Date.parse(startedAt) - start) / CELL_MS))
  const isoOf = (cell: number): Instant => new Date(start + cell * CELL_MS).toISOString()
  const cells = Array.from({ length: CELLS }, (_, x): Cell => {
    const tags = (byCell.get(x) ?? []).map((run) => outcomeOf(run, run.id === underWay))
    const kind = worstOf(tags)
    const words = [counted(tags.length, 'sync'), ...new Set(tags.map(({ text }) => text))]
    const height = HEIGHTS[kind]
    const title = tags.length === 0 ? null : `${clock.at(isoOf(x)).text}: ${words.join(', ')}`
    return { kind, x, y: 10 - height, height, title }
  })
  return {
    ...{ summary: summaryOf(runs, underWay), cells, width: CELLS },
    from: clock.at(isoOf(0)),
    noon: clock.at(isoOf(CELLS / 2)),
    to: clock.at(isoOf(CELLS)),
  }
}

const GRAVITY: readonly Tag['kind'][] = ['off', 'ok', 'busy', 'warn', 'fail']

function worstOf(tags: readonly Tag[]): Tag['kind'] {
  return GRAVITY[Math.max(0, ...tags.map(({ kind }) => GRAVITY.indexOf(kind)))] ?? 'off'
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

interface ProgressView {
  /** A sentence that says what the sync is doing now. */
  readonly doing: string
  /** The progress bar; null if the total is unknown. */
  readonly bar: { readonly value: number; readonly max: number } | null
  /** The counts of leads, pages and requests so far, and the percentage if the total is known. */
  readonly read: string
  readonly since: Moment
  readonly began: Moment
  readonly by: string
}

/** Reads the progress of the running sync; null if no sync is running. */
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

/**
 * Returns how many leads the sync is expected to read: the upstream's total, or for a sync of all leads the
 * number of stored leads. Returns null if neither is known.
 */
async function expectedOf(db: Db, { mode, leads }: SyncUnderWay): Promise<number | null> {
  if (leads === null) return null
  if (leads.total !== null) return leads.total
  const known = mode === 'full' ? await countLeads(db) : 0
  return known > leads.read ? known : null
}

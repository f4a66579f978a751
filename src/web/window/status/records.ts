/** What could not be read of the upstream, and how its records have changed. */
import { counted } from '../../../report/numbers.ts'
import type { Db } from '../../../store/db/store.ts'
import { countHeldRows, listLastHeld } from '../../../store/leads/quarantined-record.ts'
import { listDrift, listGoneFields } from '../../../store/sync/field-drift.ts'
import type { Clock, Moment } from '../moment.ts'
import { count } from '../numbers.ts'

const HELD_MAX = 20
const DRIFT_DAYS = 30
const DRIFT_MAX = 30

export interface RecordsView {
  readonly heldCount: string
  readonly isAnyHeld: boolean
  /** The last of them; `more` in words where there are more. */
  readonly held: readonly HeldView[]
  readonly more: string | null
  readonly drift: readonly DriftView[]
  readonly days: number
}

interface HeldView {
  readonly resource: string
  /** Null where not even that can be read. */
  readonly record: string | null
  readonly reason: string
  readonly first: Moment
  readonly last: Moment
}

interface DriftView {
  readonly path: string
  readonly change: string
  readonly at: Moment
}

const RESOURCES = {
  lead: 'lead',
  pipeline_stat: 'statistics',
  agent: 'agent',
  activity: 'activity of lead',
} as const

export async function readRecords(db: Db, clock: Clock): Promise<RecordsView> {
  const total = await countHeldRows(db)
  const held = total === 0 ? [] : await listLastHeld(db, HELD_MAX)
  const since = new Date(clock.now.getTime() - DRIFT_DAYS * 86_400_000).toISOString()
  const drift = (await listDrift(db, since)).map(({ change, path, types, at }) => ({
    ...{ path, at: clock.at(at), change: changeText(change, types) },
  }))
  const told = new Set(drift.map(({ path }) => path))
  const gone = (await listGoneFields(db)).filter(({ path }) => !told.has(path))
  return {
    heldCount: counted(total, 'record'),
    isAnyHeld: total > 0,
    held: held.map(({ resource, recordId, reason, firstSeenAt, lastSeenAt }) => ({
      ...{ resource: RESOURCES[resource], record: recordId, reason },
      ...{ first: clock.at(firstSeenAt), last: clock.at(lastSeenAt) },
    })),
    more: total > held.length ? `and ${count(total - held.length)} more` : null,
    drift: [
      ...drift,
      ...gone.map(({ path, goneSince }) => ({ path, change: 'gone since', at: clock.at(goneSince) })),
    ].slice(0, DRIFT_MAX),
    days: DRIFT_DAYS,
  }
}

function changeText(change: 'new' | 'vanished' | 'retyped', types: readonly string[]): string {
  const what = types.join(' or ')
  return { new: `new: ${what}`, vanished: 'vanished', retyped: `now also ${what}` }[change]
}

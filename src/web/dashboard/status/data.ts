/**
 * Composes the data part of the status page: the freshness of each resource, quarantined records (which
 * cannot be mapped), and fields of the upstream that changed.
 */
import type { Health } from '../../../checks/run-checks.ts'
import { counted } from '../../../report/words/numbers.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import type { Db } from '../../../store/db/store.ts'
import { countDetails } from '../../../store/leads/detail.ts'
import { countLeads } from '../../../store/leads/lead.ts'
import { countQuarantinedRecords, listLastQuarantined } from '../../../store/leads/quarantined-record.ts'
import { readSnapshotInfo } from '../../../store/snapshot/snapshot.ts'
import { countAgents } from '../../../store/sync/samples.ts'
import { listDrift, listMissingFields } from '../../../store/sync/schema-drift.ts'
import { type Clock, count, type Moment, type Tag } from '../format.ts'

interface FreshnessView {
  readonly leads: string
  readonly resources: readonly ResourceView[]
  /** The number of agents by status, such as `10 working, 1 idle`; null if the upstream has no agents. */
  readonly agents: string | null
}

interface ResourceView {
  readonly name: string
  readonly tag: Tag
  readonly asOf: Moment | null
  readonly at: Moment | null
  readonly note: string | null
}

const NAMES = { leads: 'Leads', stats: 'Statistics', agents: 'Agents' } as const

export async function readFreshnessView(
  db: Db,
  { freshness, checks }: Health,
  snapshotFile: string,
  clock: Clock,
): Promise<FreshnessView> {
  const leads = await countLeads(db)
  const agents = await countAgents(db)
  return {
    leads: count(leads),
    resources: [
      ...freshness.map(({ resource, asOf, isFresh }) => ({
        name: NAMES[resource],
        tag: asOf === null ? NEVER : isFresh ? FRESH : OLD,
        ...momentsOf(asOf, clock),
        note: null,
      })),
      ...(await detailsOf(db, leads)),
      snapshotOf(
        snapshotFile,
        checks.some(({ what, status }) => what === 'snapshot' && status !== 'ok'),
        clock,
      ),
    ],
    agents:
      agents.length === 0
        ? null
        : agents.map(({ status, agents: some }) => `${count(some)} ${status}`).join(', '),
  }
}

const FRESH: Tag = { kind: 'ok', text: 'fresh' }
const OLD: Tag = { kind: 'fail', text: 'old' }
const NEVER: Tag = { kind: 'off', text: 'not read yet' }

function momentsOf(at: string | null, clock: Clock) {
  return { asOf: clock.ago(at), at: clock.at(at) }
}

/**
 * Returns a row about the details of leads. Returns no row if no details were ever requested, because the
 * settings may have turned details off.
 */
async function detailsOf(db: Db, leads: number): Promise<ResourceView[]> {
  const { asked, due, failing } = await countDetails(db)
  if (asked === 0 && due === 0) return []
  const tag: Tag = {
    kind: asked < leads || due > 0 ? 'off' : 'ok',
    text: `${count(asked)} of ${counted(leads, 'lead')}`,
  }
  const notes = [
    ...(due > 0 ? [`${count(due)} to be asked for again`] : []),
    ...(failing > 0 ? [`${count(failing)} of them could not be read`] : []),
  ]
  return [{ name: 'Details', tag, asOf: null, at: null, note: notes.join(', ') || null }]
}

function snapshotOf(file: string, isOld: boolean, clock: Clock): ResourceView {
  const info = readSnapshotInfo(file)
  const tag: Tag = info === null ? { kind: 'off', text: 'none yet' } : isOld ? OLD : FRESH
  return { name: 'Snapshot', tag, ...momentsOf(info?.madeAt ?? null, clock), note: null }
}

const QUARANTINED_MAX = 20
const DRIFT_DAYS = 30
const DRIFT_MAX = 30

interface RecordsView {
  readonly quarantinedCount: string
  readonly isAnyQuarantined: boolean
  /** The most recent quarantined records. `more` says how many others there are. */
  readonly quarantined: readonly QuarantineView[]
  readonly more: string | null
  readonly drift: readonly DriftView[]
  readonly days: number
}

interface QuarantineView {
  readonly resource: string
  /** The ID of the record; null if even the ID cannot be read. */
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
  const total = await countQuarantinedRecords(db)
  const quarantined = total === 0 ? [] : await listLastQuarantined(db, QUARANTINED_MAX)
  const since = new Date(clock.now.getTime() - DRIFT_DAYS * DAY_MS).toISOString()
  const drift = (await listDrift(db, since)).map(({ change, path, types, at }) => ({
    ...{ path, at: clock.at(at), change: changeText(change, types) },
  }))
  const drifted = new Set(drift.map(({ path }) => path))
  const gone = (await listMissingFields(db)).filter(({ path }) => !drifted.has(path))
  return {
    quarantinedCount: counted(total, 'record'),
    isAnyQuarantined: total > 0,
    quarantined: quarantined.map(({ resource, recordId, reason, firstSeenAt, lastSeenAt }) => ({
      ...{ resource: RESOURCES[resource], record: recordId, reason },
      ...{ first: clock.at(firstSeenAt), last: clock.at(lastSeenAt) },
    })),
    more: total > quarantined.length ? `and ${count(total - quarantined.length)} more` : null,
    drift: [
      ...drift,
      ...gone.map(({ path, missingSince }) => ({
        path,
        change: 'missing since',
        at: clock.at(missingSince),
      })),
    ].slice(0, DRIFT_MAX),
    days: DRIFT_DAYS,
  }
}

function changeText(change: 'new' | 'vanished' | 'retyped', types: readonly string[]): string {
  const what = types.join(' or ')
  return { new: `new: ${what}`, vanished: 'vanished', retyped: `now also ${what}` }[change]
}

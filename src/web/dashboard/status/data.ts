/** Composes the data part of the status page: freshness, quarantined records and changed fields. */
import type { Health } from '../../../checks/run-checks.ts'
import type { Instant } from '../../../domain/model.ts'
import { counted } from '../../../report/words/numbers.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import type { Db } from '../../../store/db/store.ts'
import { countDetails } from '../../../store/leads/detail.ts'
import { countLeads } from '../../../store/leads/lead.ts'
import { countQuarantinedRecords, listLastQuarantined } from '../../../store/leads/quarantined-record.ts'
import { readSnapshotInfo } from '../../../store/snapshot/snapshot.ts'
import { countAgents } from '../../../store/sync/samples.ts'
import { listDrift, listMissingFields } from '../../../store/sync/schema-drift.ts'
import { count, type Tag } from '../../server/format.ts'

interface ResourceView {
  readonly name: string
  readonly tag: Tag
  readonly asOf: Instant | null
  readonly note: string | null
}

const NAMES = { leads: 'Leads', stats: 'Statistics', agents: 'Agents' } as const

export async function readFreshnessView(db: Db, { freshness, checks }: Health, snapshotFile: string) {
  const leads = await countLeads(db)
  return {
    leads,
    resources: [
      ...freshness.map(({ resource, asOf, isFresh }) => ({
        name: NAMES[resource],
        tag: asOf === null ? NEVER : isFresh ? FRESH : OLD,
        asOf,
        note: null,
      })),
      ...(await detailsOf(db, leads)),
      snapshotOf(
        snapshotFile,
        checks.some(({ what, status }) => what === 'snapshot' && status !== 'ok'),
      ),
    ],
    agents: await countAgents(db),
  }
}

const FRESH: Tag = { kind: 'ok', text: 'fresh' }
const OLD: Tag = { kind: 'fail', text: 'old' }
const NEVER: Tag = { kind: 'off', text: 'not read yet' }

/** No row if no details were ever requested, because the settings may have turned them off. */
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
  return [{ name: 'Details', tag, asOf: null, note: notes.join(', ') || null }]
}

function snapshotOf(file: string, isOld: boolean): ResourceView {
  const info = readSnapshotInfo(file)
  const tag: Tag = info === null ? { kind: 'off', text: 'none yet' } : isOld ? OLD : FRESH
  return { name: 'Snapshot', tag, asOf: info?.madeAt ?? null, note: null }
}

const QUARANTINED_MAX = 20
const DRIFT_DAYS = 30
const DRIFT_MAX = 30

const RESOURCES = {
  lead: 'lead',
  pipeline_stat: 'statistics',
  agent: 'agent',
  activity: 'activity of lead',
} as const

export async function readRecords(db: Db, now: Date) {
  const total = await countQuarantinedRecords(db)
  const quarantined = total === 0 ? [] : await listLastQuarantined(db, QUARANTINED_MAX)
  const drift = (await listDrift(db, new Date(now.getTime() - DRIFT_DAYS * DAY_MS).toISOString())).map(
    ({ change, path, types, at }) => ({ path, change: changeText(change, types), at }),
  )
  const drifted = new Set(drift.map(({ path }) => path))
  const gone = (await listMissingFields(db))
    .filter(({ path }) => !drifted.has(path))
    .map(({ path, missingSince }) => ({ path, change: 'missing since', at: missingSince }))
  return {
    total,
    quarantined: quarantined.map((record) => ({ ...record, resource: RESOURCES[record.resource] })),
    others: total - quarantined.length,
    drift: [...drift, ...gone].slice(0, DRIFT_MAX),
    days: DRIFT_DAYS,
  }
}

function changeText(change: 'new' | 'vanished' | 'retyped', types: readonly string[]): string {
  const what = types.join(' or ')
  return { new: `new: ${what}`, vanished: 'vanished', retyped: `now also ${what}` }[change]
}

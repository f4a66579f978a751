/**
 * Publishes the snapshot, which is a copy of the data as an SQLite file that analysts open. After a sync a new
 * snapshot is made only if the store contains something new.
 */
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '../../domain/model.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Store } from '../../store/db/store.ts'
import { withLease } from '../../store/schedule/lease.ts'
import type { SnapshotInfo, SnapshotNews } from '../../store/snapshot/snapshot.ts'
import {
  makeSnapshot,
  readSnapshotInfo,
  readSnapshotNews,
  withEmptySnapshot,
} from '../../store/snapshot/snapshot.ts'
import { ruledFieldsOf } from '../../upstream/profile/declared-field.ts'
import type { FieldRule } from '../../upstream/profile/field-rule.ts'
import type { Profile } from '../../upstream/profile/profile.ts'
import { pathText } from '../../upstream/values/json.ts'

export interface SnapshotPlace {
  readonly profile: Profile
  readonly file: string
  readonly version: string
  /** The Unix group that may read the snapshot; null for the user of leadsheet alone. */
  readonly group: string | null
}

export interface PublishDeps extends SnapshotPlace {
  readonly store: Store
  readonly now: () => Date
  /** Called with why a snapshot could not be made, and with null when one was made. */
  readonly noteFault?: (fault: LeadsheetError | null) => void
}

export interface Published {
  readonly file: string
  readonly bytes: number
  readonly durationMs: number
  /**
   * The time up to which all changes of leads are in the snapshot; null before the first sync of all leads.
   */
  readonly leadsAsOf: Instant | null
}

/**
 * The age at which a sync replaces the snapshot even if no lead has changed, to renew statistics and agents.
 */
const IDLE_MS = 60 * 60_000
/** The wait for the next snapshot, as a multiple of the time that making the last one took. */
const WAIT_PER_BUILD = 20
/** The wait before the next look at a snapshot that another process is making. */
const BUSY_WAIT_MS = 500

/**
 * Makes a new snapshot.
 * @throws LeadsheetError report_no_data before the first sync that read all leads, job_busy while another
 *   process publishes, data_unwritable
 */
export async function publishSnapshot(deps: PublishDeps, signal: AbortSignal): Promise<Published> {
  const { wholeRunId } = await readSnapshotNews(deps.store.db, null)
  if (wholeRunId === null) {
    throw new LeadsheetError('report_no_data', 'no sync has read all leads yet, so there is no snapshot', {
      hint: `Run ${shellCommand('sync')} first.`,
    })
  }
  return withLease(deps.store, leaseNameOf(deps), deps.now, async (lease) => {
    try {
      const published = await publish(deps, AbortSignal.any([signal, lease.lost]))
      deps.noteFault?.(null)
      return published
    } catch (thrown) {
      if (thrown instanceof LeadsheetError && !signal.aborted) deps.noteFault?.(thrown)
      throw thrown
    }
  })
}

/** On PostgreSQL each machine makes its own snapshot, so the lease names the machine. */
function leaseNameOf({ store, file }: PublishDeps): string {
  return store.place.kind === 'sqlite' ? 'snapshot' : `snapshot:${hostname()}:${file}`
}

/**
 * Makes a new snapshot if the store contains something that the present snapshot lacks. Making a large one
 * takes long, so the next one waits until making them takes at most a twentieth of the time.
 * @returns the new snapshot; null if none was needed
 * @throws LeadsheetError the errors of {@link publishSnapshot}
 */
export async function publishIfDue(deps: PublishDeps, signal: AbortSignal): Promise<Published | null> {
  const info = readSnapshotInfo(deps.file)
  const news = await readSnapshotNews(deps.store.db, info)
  return isDue(deps, info, news) ? publishSnapshot(deps, signal) : null
}

function isDue({ version, now }: PublishDeps, info: SnapshotInfo | null, news: SnapshotNews): boolean {
  if (news.wholeRunId === null) return false
  if (info === null || info.schema !== news.schema || info.version !== version) return true
  const ageMs = now().getTime() - Date.parse(info.madeAt)
  if (ageMs < WAIT_PER_BUILD * info.buildMs) return false
  if (news.others > 0) return true
  if (news.wholeRunId === info.runId) return false
  return news.changes > 0 || ageMs >= IDLE_MS
}

/**
 * Returns the file of a snapshot that has the last sync of all leads. Makes it if the present one is older, and
 * waits while another process makes it.
 * @throws LeadsheetError report_no_data, data_unwritable; the reason of an aborted signal
 */
export async function freshSnapshot(deps: PublishDeps, signal: AbortSignal): Promise<string> {
  const { file, version } = deps
  for (;;) {
    const info = readSnapshotInfo(file)
    const { wholeRunId, schema } = await readSnapshotNews(deps.store.db, info)
    const isFresh = info !== null && info.schema === schema && info.version === version
    if (isFresh && info.runId === wholeRunId) return file
    try {
      return (await publishSnapshot(deps, signal)).file
    } catch (thrown) {
      if (!(thrown instanceof LeadsheetError) || thrown.code !== 'job_busy') throw thrown
    }
    await setTimeout(BUSY_WAIT_MS)
    signal.throwIfAborted()
  }
}

/** Calls `work` with a snapshot from which only the schema is read: the present one, or an empty one. */
export async function withSnapshotSchema<T>(
  { file, version, profile }: SnapshotPlace,
  work: (file: string) => Promise<T>,
): Promise<T> {
  // The present snapshot may be without fields that were declared since.
  if (profile.fields.length === 0 && readSnapshotInfo(file)?.version === version) return work(file)
  return withEmptySnapshot(sourcePathsOf(profile), ruledFieldsOf(profile), work)
}

async function publish(deps: PublishDeps, signal: AbortSignal): Promise<Published> {
  const { store, file, version, group } = deps
  const started = performance.now()
  const madeAt = deps.now().toISOString()
  const info = await makeSnapshot(
    store,
    { madeAt, version, sourcePaths: sourcePathsOf(deps.profile) },
    file,
    { group, signal },
  )
  const { size: bytes } = await stat(file)
  const durationMs = Math.round(performance.now() - started)
  return { file, bytes, durationMs, leadsAsOf: info.leadsAsOf }
}

// Lists for each column of the store the field of the upstream's records from which the column is filled.

const WHOLE = Object.fromEntries(
  ['lead_raw.raw', 'lead_detail.raw', 'pipeline_stat.raw', 'agent.raw', 'quarantined_record.raw'].map(
    (column) => [column, 'the whole record'],
  ),
)

/**
 * Maps each column to its path: `company.name`, `a or b` for several candidates, `a + b` for joined fields.
 */
export function sourcePathsOf({ mapping, fields }: Profile): Record<string, string> {
  const { status: pipelineStatus, name: pipelineName, ...stat } = mapping.stat
  const stages = mapping.stages
  return {
    ...pathsFor('lead', mapping.lead),
    ...pathsFor('lead_history', mapping.lead),
    ...pathsFor('lead_field', Object.fromEntries(fields.map(({ name, rule }) => [name, rule]))),
    ...pathsFor('pipeline', { name: pipelineName, status: pipelineStatus }),
    ...pathsFor('pipeline_stat', stat),
    ...(stages && pathsFor('pipeline_stage_stat', stages.fields, `${pathText(stages.items)}[].`)),
    ...pathsFor('agent', mapping.agent),
    ...pathsFor('agent_sample', mapping.agent),
    ...(mapping.enrichment && { 'lead_detail.enrichment': pathText(mapping.enrichment) }),
    ...(mapping.activity &&
      pathsFor('activity', mapping.activity.fields, `${pathText(mapping.activity.items)}[].`)),
    ...WHOLE,
  }
}

/**
 * Lists the paths for one table. The list may also contain fields that have no column. They do no harm,
 * because only columns are looked up in the list.
 */
function pathsFor(
  table: string,
  rules: Readonly<Record<string, FieldRule | undefined>>,
  prefix = '',
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([field, rule]) => {
      const places = rule?.from?.map(pathText).join(' or ') ?? rule?.all?.map(pathText).join(' + ')
      return places === undefined ? [] : [[`${table}.${field}`, `${prefix}${places}`]]
    }),
  )
}

/** Reads the sections of a report about the agents, and about how fresh and how good the data is. */

import type { AgentLine, Agents, DataQuality, Outage } from '../../domain/lists.ts'
import type { Instant } from '../../domain/model.ts'
import type { Freshness } from '../../domain/sync.ts'
import type { Db } from '../db/store.ts'
import { findImplausibleTimes } from '../leads/implausible-times.ts'
import { countQuarantinedRecords } from '../leads/quarantined-record.ts'
import { findLastCompleteRun, findLastFailure } from '../sync/sync-run.ts'
import { findLastRead } from '../sync/watermark.ts'
import { isLongAfter } from './funnel.ts'
import type { FigureScope, ReadTrx } from './query.ts'
import { readRows } from './query.ts'

/** The agents in their last sample. */
export const AGENTS = {
  reads: [],
  sql: `SELECT agent.name, kind, agent.status, status_changed_at AS "statusChangedAt", task_type AS "taskType",
    pipeline.name AS "taskPipelineName", last_seen_at AS "lastSeenAt", errors_24h AS "errors24h",
    last_error_message AS "lastErrorMessage", agent.observed_at AS "observedAt"
  FROM agent LEFT JOIN pipeline ON pipeline.id = agent.task_pipeline_id
  WHERE deleted_since IS NULL ORDER BY agent.name`,
} as const

/** The outages of agents that overlap the period, longest first. */
export const OUTAGES = {
  reads: [],
  sql: `SELECT agent_name AS "agentName", began_at AS "beganAt", ended_at AS "endedAt", hours FROM agent_outage
  WHERE began_at < :to AND (ended_at IS NULL OR ended_at > :from) ORDER BY hours DESC, began_at, agent_name`,
} as const

/** The quarantined records by reason. */
const QUARANTINED_RECORDS = {
  reads: [],
  sql: `SELECT resource, reason, count(*) AS records FROM quarantined_record
  GROUP BY resource, reason ORDER BY records DESC, resource, reason`,
} as const

/** The fields that were new, missing or of another type in a sync of the period. */
export const DRIFT = {
  reads: [],
  sql: `SELECT each.value ->> 'change' AS change, each.value ->> 'path' AS path, ended_at AS at
  FROM sync_scan_result CROSS JOIN json_each(drift) AS each
  WHERE ended_at >= :from AND ended_at < :to
  ORDER BY at, hex(each.value ->> 'path'), hex(each.value ->> 'change')`,
} as const

/** The result of the last scan of the leads: complete or not. */
const LAST_SCAN = {
  reads: [],
  sql: 'SELECT result, ended_at AS at FROM sync_scan_result ORDER BY ended_at DESC, run_id DESC LIMIT 1',
} as const

export async function readFreshness(db: Db, periodTo: Instant): Promise<Freshness> {
  const whole = await findLastCompleteRun(db)
  return {
    dataAsOf: whole?.asOf ?? null,
    coversPeriod: whole !== undefined && whole.asOf >= periodTo,
    statsAsOf: (await findLastRead(db, 'stats'))?.asOf ?? null,
    agentsAsOf: (await findLastRead(db, 'agents'))?.asOf ?? null,
    lastFailure: await findLastFailure(db),
    runId: whole?.id ?? null,
    requests: whole?.requests ?? null,
    quarantinedRecords: await countQuarantinedRecords(db),
    implausibleTimes: (await findImplausibleTimes(db)).map(({ field }) => field),
  }
}

export async function readAgents(trx: ReadTrx, scope: FigureScope): Promise<Agents> {
  const rows = await readRows<AgentLine & { observedAt: Instant }>(trx, AGENTS, scope)
  const asOf = rows[0]?.observedAt ?? null
  return {
    asOf,
    rows: isLongAfter(asOf, scope) ? [] : rows.map(({ observedAt: _, ...line }) => line),
    outages: await readRows<Outage>(trx, OUTAGES, scope),
  }
}

export async function readDataQuality(trx: ReadTrx, scope: FigureScope): Promise<DataQuality> {
  const [lastScan = null] = await readRows<NonNullable<DataQuality['lastScan']>>(trx, LAST_SCAN, scope)
  return {
    quarantined: await readRows<DataQuality['quarantined'][number]>(trx, QUARANTINED_RECORDS, scope),
    drift: await readRows<DataQuality['drift'][number]>(trx, DRIFT, scope),
    lastScan,
  }
}

/** What a report tells of the service itself: its agents, its own statistics, and how good its data is. */
import { sql } from 'kysely'
import type { AgentLine, Agents, DataQuality, LeadFilter, Outage, StatDifference } from '../../figures.ts'
import type { Freshness, Instant, Period } from '../../model.ts'
import { countHeldRows } from '../held-row.ts'
import type { Db } from '../open.ts'
import { listOf } from '../sqlite.ts'
import { findLastFailure, findLastWholeRun } from '../sync-run.ts'

/** Statistics round their rates. */
const RATE_TOLERANCE = 0.0001

export async function readFreshness(db: Db, periodTo: Instant): Promise<Freshness> {
  const whole = await findLastWholeRun(db)
  return {
    dataAsOf: whole?.asOf ?? null,
    coversPeriod: whole !== undefined && whole.asOf >= periodTo,
    lastFailure: await findLastFailure(db),
    runId: whole?.id ?? null,
    requests: whole?.requests ?? null,
    heldRows: await countHeldRows(db),
  }
}

export async function readAgents(db: Db, { from, to }: Period): Promise<Agents> {
  const { rows: outages } = await sql<Outage>`
    SELECT agent_name AS "agentName", began_at AS "beganAt", ended_at AS "endedAt", hours FROM agent_outage
    WHERE began_at < ${to} AND (ended_at IS NULL OR ended_at > ${from})
    ORDER BY hours DESC, began_at, agent_name`.execute(db)
  return { ...(await readAgentLines(db)), outages }
}

/** The agents of the last reading, in order of name. */
export async function readAgentLines(db: Db): Promise<Pick<Agents, 'asOf' | 'rows'>> {
  const { rows } = await sql<AgentLine & { observedAt: Instant }>`SELECT agent.name, kind, agent.status,
      status_changed_at AS "statusChangedAt", task_type AS "taskType", pipeline.name AS "taskPipelineName",
      last_seen_at AS "lastSeenAt", errors_24h AS "errors24h", last_error_message AS "lastErrorMessage",
      agent.observed_at AS "observedAt"
    FROM agent LEFT JOIN pipeline ON pipeline.id = agent.task_pipeline_id
    WHERE gone_at IS NULL ORDER BY agent.name`.execute(db)
  return { asOf: rows[0]?.observedAt ?? null, rows: rows.map(({ observedAt: _, ...line }) => line) }
}

/** None where a filter asks for what the statistics do not tell apart. */
export async function readServiceStats(db: Db, filter: LeadFilter): Promise<StatDifference[]> {
  if (filter.conditions.length > 0) return []
  const wanted = filter.pipelineIds === null ? sql`true` : sql`pipeline_id IN ${listOf(filter.pipelineIds)}`
  const { rows } = await sql<StatDifference>`
    SELECT pipeline_name AS "pipelineName", figure, currency, ours, upstream, as_of AS "asOf"
    FROM stat_reconciliation
    WHERE ${wanted} AND abs(difference) > iif(figure = 'win_rate', ${RATE_TOLERANCE}, 0)
    ORDER BY pipeline_name, figure, currency`.execute(db)
  return rows
}

export async function readDataQuality(db: Db, { from, to }: Period): Promise<DataQuality> {
  const { rows: held } = await sql<DataQuality['held'][number]>`
    SELECT resource, reason, count(*) AS records FROM held_row
    GROUP BY resource, reason ORDER BY records DESC, resource, reason`.execute(db)
  const { rows: drift } = await sql<DataQuality['drift'][number]>`
    SELECT each.value ->> 'change' AS change, each.value ->> 'path' AS path, ended_at AS at
    FROM sync_scan_verdict JOIN json_each(drift) AS each
    WHERE ended_at >= ${from} AND ended_at < ${to} ORDER BY at, path, change`.execute(db)
  const { rows: scans } = await sql<NonNullable<DataQuality['lastScan']>>`
    SELECT verdict, ended_at AS at FROM sync_scan_verdict ORDER BY ended_at DESC, run_id DESC LIMIT 1`.execute(
    db,
  )
  return { held, drift, lastScan: scans[0] ?? null }
}

/**
 * The states of agents over a span of time, computed from their samples. A sample describes one moment only,
 * so an agent is taken to keep its state until its next sample. When the next sample comes too late, the
 * state in between is unknown.
 */
import type { Instant } from '../../model.ts'
import { type FigureScope, readRows } from './query.ts'
import type { Moment } from './read-transaction.ts'

export type AgentState = 'well' | 'failing' | 'other'

/** Lists the upstream's status words for each state, in lower case. Every other word means `other`. */
export interface AgentWords {
  readonly well: readonly string[]
  readonly failing: readonly string[]
}

export interface AgentSpan {
  readonly agentId: string
  readonly state: AgentState
  readonly from: Instant
  /** Equals `from` for a sample without a neighbour. */
  readonly to: Instant
}

export interface AgentSpans {
  /** The spans of each agent, in order of time. There may be a gap between two of them. */
  readonly spans: readonly AgentSpan[]
  /** The longest distance between two samples that does not leave a gap, in milliseconds. */
  readonly gapMs: number
}

/** Neither samples downsampled to one an hour nor a single missed sample make a gap. */
const LEAST_GAP_MS = 2 * 60 * 60_000
const USUAL_DISTANCES = 3

const USUAL_DISTANCE = {
  reads: [],
  sql: `SELECT ms FROM (
    SELECT ms, row_number() OVER (ORDER BY ms) AS place, count(*) OVER () AS rows FROM (
      SELECT 1000 * (unixepoch(observed_at, 'subsec') - unixepoch(lag(observed_at) OVER (ORDER BY observed_at), 'subsec')) AS ms
      FROM (SELECT DISTINCT observed_at FROM agent_sample WHERE observed_at >= :from AND observed_at < :to) AS reading) AS distance
    WHERE ms IS NOT NULL) AS placed
  WHERE place = (rows + 1) / 2`,
} as const

const SPANS = {
  reads: [],
  sql: `WITH reading AS (
    SELECT agent_id, observed_at AS at, unixepoch(observed_at, 'subsec') AS seconds,
      CASE WHEN lower(status) IN (SELECT value FROM json_each(:failing)) THEN 'failing'
        WHEN lower(status) IN (SELECT value FROM json_each(:well)) THEN 'well' ELSE 'other' END AS state
    FROM agent_sample WHERE observed_at >= :from AND observed_at < :to),
  placed AS (
    SELECT *, lead(at) OVER of_agent AS next_at, lead(seconds) OVER of_agent - seconds AS until_next,
      lag(state) OVER of_agent IS DISTINCT FROM state OR 1000 * (seconds - lag(seconds) OVER of_agent) > :gap_ms AS is_first
    FROM reading WINDOW of_agent AS (PARTITION BY agent_id ORDER BY at)),
  numbered AS (SELECT *, count(*) FILTER (WHERE is_first) OVER (PARTITION BY agent_id ORDER BY at) AS number FROM placed)
  SELECT agent_id AS "agentId", state, min(at) AS "from", max(iif(1000 * until_next <= :gap_ms, next_at, at)) AS "to"
  FROM numbered GROUP BY agent_id, number, state ORDER BY agent_id, number`,
} as const

/**
 * Reads the spans of all agents.
 * @param scope gives the span of time by its period; its filter is not used
 */
export async function readAgentSpans(
  moment: Moment,
  scope: FigureScope,
  { well, failing }: AgentWords,
): Promise<AgentSpans> {
  const [usual] = await readRows<{ ms: number }>(moment, USUAL_DISTANCE, scope)
  const gapMs = Math.max(LEAST_GAP_MS, USUAL_DISTANCES * Math.round(usual?.ms ?? 0))
  const spans = await readRows<AgentSpan>(moment, SPANS, scope, {
    ...{ well: JSON.stringify(well), failing: JSON.stringify(failing) },
    gap_ms: gapMs,
  })
  return { spans, gapMs }
}

/**
 * How agents have been over a span of time, by their readings: a reading tells only of its moment, so an agent is
 * taken to be as it was found until the next one, and where that is long in coming nothing is known.
 */
import type { Instant } from '../../model.ts'
import { type FigureScope, readRows } from './query.ts'
import type { Moment } from './read-transaction.ts'

export type AgentState = 'well' | 'failing' | 'other'

/** Which words of the upstream's mean which state, in small letters; all others are `other`. */
export interface AgentWords {
  readonly well: readonly string[]
  readonly failing: readonly string[]
}

export interface AgentSpan {
  readonly agentId: string
  readonly state: AgentState
  readonly from: Instant
  /** The same as `from` of a reading that stands alone. */
  readonly to: Instant
}

export interface AgentSpans {
  /** Of each agent in the order of time; between two of them there may be a gap. */
  readonly spans: readonly AgentSpan[]
  /** Readings that are further apart leave a gap. */
  readonly gapMs: number
}

/** Readings that are thinned to one an hour are no gaps, nor is one that was missed. */
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

/** @param scope its period is the span of time; what else it says is of leads */
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

/**
 * What the figures are counted from: the leads as they were at the end of a period (`:to`, not included), put
 * together from history. Each is a common table expression of plain SQLite, so that a figure can be pasted into any
 * SQLite program. `:pipelines` is a JSON list of ids; `:known_at` leaves out what was read later.
 */
import type { LeadFilter } from '../../figures.ts'
import { chosenSql } from './lead-filter.ts'

/** In the order in which one may read another. */
export const RELATION_NAMES = [
  'chosen',
  'chosen_count',
  'gone_then',
  'lead_then',
  'level',
  'changed',
  'reopened',
  'closed',
  'closing',
  'win',
  'entered',
  'entry',
  'ended',
  'open_now',
  'idle',
  'idle_then',
  'span',
  'lead_now',
  'arrival',
  'level_now',
  'state',
  'early',
  'reach',
  'news',
  'change',
] as const
export type RelationName = (typeof RELATION_NAMES)[number]

/** Shares and speeds of winning look so far back, since a single day has too few closed leads to tell. */
export const RECENT_BEFORE = (at: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${at}, '-30 days')`
export const RECENT = RECENT_BEFORE(':to')

export const STALLED_SINCE = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-' || :stalled_days || ' days')`

export interface Relation {
  readonly reads: readonly RelationName[]
  /** To be computed first, since SQLite would look up a row for each candidate before it tells them apart. */
  readonly isMaterialized?: true
  readonly sql: string
}

/** The statuses of leads now that count as open, in a form that lets an index on the status be used. */
export const OPEN_STATUSES = `(SELECT status FROM lead_count LEFT JOIN stage USING (status) WHERE coalesce(outcome, 'open') = 'open')`

const QUALIFIED_STATUSES = '(SELECT status FROM stage WHERE is_qualified = 1)'

/** Empty for a value without a currency or a currency without a value, as in `lead_count`. */
const CURRENCY = `iif(value_amount IS NULL, '', ifnull(value_currency, ''))`

/** How far a status has come; one that is no step of the funnel, and one without a stage, not at all. */
const placeOf = (status: string): string =>
  `coalesce((SELECT iif(in_funnel, position, -1) FROM stage WHERE stage.status = ${status}), -1)`

/** @param isPast whether only what was known at `:known_at` counts */
export function relationsOf(isPast: boolean, filter: LeadFilter): Readonly<Record<RelationName, Relation>> {
  const isChosen = filter.conditions.length > 0
  const chosen: readonly RelationName[] = isChosen ? ['chosen'] : []
  const counted: readonly RelationName[] = isChosen ? ['chosen', 'chosen_count'] : []
  const counts = isChosen ? 'chosen_count' : 'lead_count'
  const inPipelines = (column = 'pipeline_id'): string =>
    filter.pipelineIds === null ? '' : ` AND ${column} IN (SELECT value FROM json_each(:pipelines))`
  const scope = (pipeline = 'pipeline_id', lead = 'lead_id'): string =>
    `${inPipelines(pipeline)}${isChosen ? ` AND ${lead} IN chosen` : ''}`
  const past = (condition: string): string => (isPast ? ` ${condition}` : '')
  const version = (condition: string, order: 'ASC' | 'DESC'): string =>
    `(SELECT rowid FROM lead_version AS each WHERE each.lead_id = lead.id${condition}${past('AND each.observed_at <= :known_at')}
        ORDER BY valid_from ${order} LIMIT 1)`
  const lastSeen = (table: string): string =>
    `coalesce((SELECT max(changed_at) FROM ${table} AS each
        WHERE each.lead_id = lead_then.lead_id AND changed_at < :to${past('AND each.observed_at <= :known_at')}), created_at)`
  /** A stay became known with the move that began it, or with the lead. */
  const knownStay = (lead: string, condition: string): string =>
    past(`AND coalesce((SELECT observed_at FROM stage_move AS begun WHERE begun.lead_id = ${lead}${condition}
        ORDER BY moved_at DESC LIMIT 1), (SELECT first_seen_at FROM lead WHERE id = ${lead})) <= :known_at`)
  const isThere = `lead_id NOT IN gone_then${scope()}`

  return {
    chosen: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that meet the conditions of the filter, as they are now
    SELECT id AS lead_id FROM lead WHERE ${chosenSql(filter.conditions)}`,
    },
    chosen_count: {
      reads: ['chosen'],
      isMaterialized: true,
      sql: `-- what lead_count has of all leads, of the chosen ones
    SELECT pipeline_id, status, ${CURRENCY} AS value_currency, count(*) AS leads,
      sum(ifnull(value_amount, 0)) AS value_amount
    FROM chosen JOIN lead ON lead.id = lead_id WHERE removed_at IS NULL GROUP BY 1, 2, 3`,
    },
    gone_then: {
      reads: [],
      sql: `-- leads that were gone at the end of the period
    SELECT lead_id FROM lead_gone
    WHERE gone_at < :to AND (returned_at IS NULL OR returned_at >= :to${past('OR returned_at > :known_at')})${past('AND gone_at <= :known_at')}`,
    },
    lead_then: {
      reads: [...chosen, 'gone_then'],
      sql: `-- leads as they were at the end of the period; open and without a status before the first state that is known
    SELECT lead.id AS lead_id, lead.created_at, state.pipeline_id, stage.status,
      coalesce(stage.outcome, 'open') AS outcome, state.score, state.value_amount, state.value_currency
    FROM lead
    JOIN lead_version AS state ON state.rowid = coalesce(
      ${version(' AND valid_from < :to', 'DESC')},
      ${version('', 'ASC')})
    LEFT JOIN stage ON stage.status = state.status AND state.valid_from < :to
    WHERE (state.valid_from < :to OR lead.created_at < :to) AND lead.id NOT IN gone_then${scope('state.pipeline_id', 'lead.id')}`,
    },
    level: isPast
      ? {
          reads: [...chosen, 'gone_then', 'lead_then'],
          sql: `-- leads at the end of the period by how they counted
    SELECT pipeline_id, outcome, ${CURRENCY} AS value_currency, 1 AS leads, ifnull(value_amount, 0) AS value_amount
    FROM lead_then`,
        }
      : {
          reads: counted,
          sql: `-- leads at the end of the period by how they counted: the counts of now, with the states that have ended
    -- since put back, those that have begun since taken out, and leads that were there before their first known state
    SELECT pipeline_id, coalesce(outcome, 'open') AS outcome, value_currency, leads, value_amount
    FROM ${counts} LEFT JOIN stage USING (status) WHERE true${inPipelines()}
    UNION ALL
    SELECT pipeline_id, coalesce(outcome, 'open'), ${CURRENCY}, 1, ifnull(value_amount, 0)
    FROM lead_version LEFT JOIN stage USING (status) WHERE valid_to >= :to${scope()}
    UNION ALL
    SELECT pipeline_id, coalesce(outcome, 'open'), ${CURRENCY}, -1, -ifnull(value_amount, 0)
    FROM lead_version LEFT JOIN stage USING (status) WHERE valid_from >= :to${scope()}
    UNION ALL
    SELECT state.pipeline_id, 'open', iif(state.value_amount IS NULL, '', ifnull(state.value_currency, '')), 1,
      ifnull(state.value_amount, 0)
    FROM lead_version AS state CROSS JOIN lead ON lead.id = state.lead_id
    WHERE state.valid_from >= :to AND created_at < :to AND first_seen_at >= :to${scope('state.pipeline_id')}
      AND NOT EXISTS (SELECT 1 FROM lead_version AS each WHERE each.lead_id = state.lead_id AND each.valid_from < state.valid_from)`,
        },
    changed: {
      reads: [],
      sql: `-- leads that are not now what they were at the end of the period
    SELECT lead_id FROM lead_version WHERE valid_from >= :to${past('OR observed_at > :known_at')}
    UNION ALL SELECT lead_id FROM lead_gone WHERE gone_at >= :to${past('OR gone_at > :known_at OR returned_at > :known_at')}
    UNION ALL SELECT id FROM lead
      WHERE status IN (SELECT status FROM lead_count) AND updated_at >= :to AND removed_at IS NULL${past('OR observed_at > :known_at')}`,
    },
    reopened: {
      reads: [],
      isMaterialized: true,
      sql: `-- moves out of closed stages since the end of the period
    SELECT lead_id, moved_at, to_status FROM stage_move
    WHERE (moved_at >= :to${past('OR observed_at > :known_at')})
      AND from_status IN (SELECT status FROM stage WHERE outcome <> 'open')`,
    },
    closed: {
      reads: [...chosen, 'gone_then', 'reopened'],
      sql: `-- leads that were closed at the end of the period, and since when
    SELECT * FROM (
      SELECT id AS lead_id, pipeline_id, outcome, status_changed_at AS closed_at
      FROM stage JOIN lead USING (status)
      WHERE outcome <> 'open' AND status_changed_at < :to${knownStay('lead.id', '')}
      UNION ALL
      SELECT lead_id, pipeline_id, outcome, entered_at
      FROM reopened JOIN stage_move USING (lead_id, moved_at, to_status) JOIN stage ON status = from_status
      WHERE entered_at < :to${knownStay('stage_move.lead_id', ' AND begun.moved_at < stage_move.moved_at')})
    WHERE ${isThere}`,
    },
    closing: {
      reads: [...chosen, 'reopened'],
      sql: `-- each time that a lead was closed, and when it was reopened if it has been since the end of the period
    SELECT id AS lead_id, pipeline_id, outcome, status_changed_at AS closed_at, NULL AS reopened_at
    FROM stage JOIN lead USING (status) WHERE outcome <> 'open'${scope('pipeline_id', 'id')}
    UNION ALL
    SELECT lead_id, pipeline_id, outcome, entered_at, moved_at
    FROM reopened JOIN stage_move USING (lead_id, moved_at, to_status) JOIN stage ON status = from_status
    WHERE entered_at IS NOT NULL${scope()}`,
    },
    win: {
      reads: [...chosen, 'gone_then', 'lead_then', 'reopened', 'closed'],
      sql: `-- leads won in the 30 days up to the end of the period, with their value then and the days it took
    SELECT value_amount, value_currency, julianday(closed_at) - julianday(created_at) AS days
    FROM closed JOIN lead_then USING (lead_id) WHERE closed.outcome = 'won' AND closed_at >= ${RECENT}`,
    },
    entered: {
      reads: [],
      sql: `-- each time that a lead came into a status, by the states and the activity that were known
    SELECT told.lead_id, lead.pipeline_id, told.status, told.at AS entered_at, before_at,
      coalesce(told_from, before) AS from_status, before
    FROM (SELECT *, lag(status) OVER lead_in_order AS before, lag(at) OVER lead_in_order AS before_at
      FROM (SELECT *, lag(status) OVER lead_in_order AS repeated FROM (
          -- the first state after an absence begins with the return, the status in it before that
          SELECT lead_id, min(valid_from, ifnull(status_changed_at, changed_at)) AS at, status, NULL AS told_from
          FROM lead_version WHERE observed_at <= :known_at
          UNION ALL
          SELECT lead_id, at, to_status, from_status
          FROM activity WHERE first_seen_at <= :known_at AND to_status IS NOT NULL AND from_status IS NOT to_status)
        WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY at, told_from IS NULL))
      WHERE repeated IS NOT status
      WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY at, told_from IS NULL)) AS told
    JOIN lead ON lead.id = told.lead_id`,
    },
    entry: isPast
      ? {
          reads: [...chosen, 'gone_then', 'entered'],
          sql: `-- each time that a lead came into a qualified stage in the period
    SELECT lead_id, pipeline_id, entered_at FROM entered
    WHERE status IN ${QUALIFIED_STATUSES} AND entered_at >= :from AND entered_at < :to AND ${isThere}`,
        }
      : {
          reads: [...chosen, 'gone_then'],
          sql: `-- each time that a lead came into a qualified stage in the period
    SELECT * FROM (
      SELECT id AS lead_id, pipeline_id, status_changed_at AS entered_at
      FROM lead WHERE status IN ${QUALIFIED_STATUSES} AND status_changed_at >= :from AND status_changed_at < :to
      UNION ALL
      SELECT lead_id, pipeline_id, entered_at FROM stage_move WHERE from_status IN ${QUALIFIED_STATUSES}
        AND moved_at >= :from AND entered_at >= :from AND entered_at < :to)
    WHERE ${isThere}`,
        },
    ended: isPast
      ? {
          reads: [...chosen, 'entered'],
          sql: `-- each stay in a status that has ended before the end of the period
    SELECT lead_id, pipeline_id, from_status AS status, before_at AS entered_at, entered_at AS left_at,
      round(julianday(entered_at) - julianday(before_at), 4) AS days
    FROM (SELECT lead_id, pipeline_id, from_status, entered_at, status, iif(before = from_status, before_at, NULL) AS before_at
      FROM entered)
    WHERE from_status IS NOT NULL AND from_status <> status AND entered_at < :to${scope()}`,
        }
      : {
          reads: chosen,
          sql: `-- each stay in a status that has ended before the end of the period
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, days_before AS days
    FROM stage_move WHERE moved_at < :to${scope()}`,
        },
    open_now: {
      reads: counted,
      sql: `-- how many leads are open now
    SELECT pipeline_id, leads FROM ${counts} WHERE status IN ${OPEN_STATUSES}${inPipelines()}`,
    },
    idle: {
      reads: chosen,
      sql: `-- leads that are open now, and when they last changed in any way
    SELECT id AS lead_id, status, pipeline_id, updated_at AS changed_at
    FROM lead WHERE status IN ${OPEN_STATUSES} AND removed_at IS NULL${scope('pipeline_id', 'id')}`,
    },
    idle_then: {
      reads: [...chosen, 'gone_then', 'lead_then', 'changed'],
      sql: `-- of the changed leads those that were open at the end of the period, and when they had last changed in any way
    SELECT lead_id, pipeline_id, max(${lastSeen('lead_version')},
      ${lastSeen('lead_touch')}) AS changed_at
    FROM lead_then WHERE outcome = 'open' AND lead_id IN changed`,
    },
    span: {
      reads: [],
      sql: `-- spans of time, in order
    SELECT key AS place, value ->> 0 AS span_from, value ->> 1 AS span_to FROM json_each(:spans)`,
    },
    lead_now: {
      reads: chosen,
      sql: `-- leads as they are now
    SELECT id AS lead_id, pipeline_id, status, created_at, status_changed_at FROM lead
    WHERE true${scope('pipeline_id', 'id')}`,
    },
    arrival: {
      reads: [...chosen, 'span'],
      sql: `-- leads created in each span
    SELECT place, id AS lead_id FROM span CROSS JOIN lead ON created_at >= span_from AND created_at < span_to
    WHERE true${isChosen ? ' AND id IN chosen' : ''}${inPipelines(`(SELECT pipeline_id FROM lead_version AS then_ WHERE then_.rowid = coalesce(
      ${version(' AND valid_from < span_to', 'DESC')},
      ${version('', 'ASC')}))`)}`,
    },
    level_now: {
      reads: counted,
      sql: `-- leads now by how they count
    SELECT coalesce(outcome, 'open') AS outcome, value_currency, value_amount
    FROM ${counts} LEFT JOIN stage USING (status) WHERE true${inPipelines()}`,
    },
    state: {
      reads: chosen,
      sql: `-- states of leads
    SELECT coalesce(outcome, 'open') AS outcome, value_currency, value_amount, valid_from, valid_to
    FROM lead_version LEFT JOIN stage USING (status) WHERE true${scope()}`,
    },
    early: {
      reads: chosen,
      isMaterialized: true,
      sql: `-- leads that were there before their first known state, up to when they first were known
    SELECT state.value_currency, state.value_amount, created_at, min(first_seen_at, state.valid_from) AS ended_at
    FROM lead_version AS state CROSS JOIN lead ON lead.id = state.lead_id
    WHERE state.valid_from >= :to AND first_seen_at >= :to AND created_at < min(first_seen_at, state.valid_from)${scope('state.pipeline_id', 'lead.id')}
      AND NOT EXISTS (SELECT 1 FROM lead_version AS each WHERE each.lead_id = state.lead_id AND each.valid_from < state.valid_from)`,
    },
    reach: {
      reads: [...chosen, 'gone_then', 'lead_now'],
      sql: `-- how far each lead had come by the end of the period, as far as is known; all have come to the first stage
    SELECT lead_id, max(position) AS position FROM (
      SELECT lead_id, (SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1) AS status
      FROM lead_now WHERE created_at < :to
      UNION ALL SELECT lead_id, status FROM lead_now WHERE created_at < :to AND status_changed_at < :to
      UNION ALL SELECT lead_id, to_status FROM stage_move WHERE moved_at < :to${scope()}
      UNION ALL SELECT lead_id, from_status FROM stage_move WHERE coalesce(entered_at, '') < :to${scope()})
    JOIN stage USING (status) WHERE in_funnel = 1 AND lead_id NOT IN gone_then GROUP BY lead_id`,
    },
    news: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that may not be what the last edition knew them to be
    SELECT lead_id FROM stage_move WHERE moved_at >= :since AND moved_at < :to
    UNION SELECT lead_id FROM stage_move WHERE observed_at > :told_at AND moved_at < :since
    UNION SELECT id FROM lead WHERE first_seen_at > :told_at
    UNION SELECT id FROM stage JOIN lead USING (status)
      WHERE outcome <> 'open' AND status_changed_at >= :since AND status_changed_at < :to
    UNION SELECT lead_id FROM lead_gone WHERE gone_at >= :since AND gone_at < :to
    UNION SELECT lead_id FROM lead_gone WHERE returned_at >= :since AND returned_at < :to`,
    },
    change: {
      reads: [...chosen, 'news'],
      isMaterialized: true,
      sql: `-- what the last edition knew leads to be, and what they are at the end of the period, where that differs
    SELECT lead_id, pipeline_id, iif(kind IN ('gone', 'returned'), NULL, from_status) AS from_status, to_status,
      value_amount, value_currency, kind,
      CASE kind WHEN 'gone' THEN gone_at WHEN 'returned' THEN returned_at ELSE changed_at END AS at
    FROM (SELECT *, CASE
        WHEN is_gone THEN iif(was_gone, NULL, 'gone')
        WHEN from_status IS NOT to_status AND outcome = 'won' THEN 'won'
        WHEN from_status IS NOT to_status AND outcome <> 'open' THEN 'lost'
        WHEN returned_at IS NOT NULL THEN 'returned'
        WHEN from_place < to_place THEN 'forward'
        WHEN from_place > to_place THEN 'back' END AS kind
      FROM (SELECT *, coalesce((SELECT outcome FROM stage WHERE status = to_status), 'open') AS outcome,
          ${placeOf('from_status')} AS from_place, ${placeOf('to_status')} AS to_place
        FROM (SELECT news.lead_id, after.pipeline_id, after.status AS to_status, after.value_amount, after.value_currency,
            coalesce(before.status, (SELECT from_status FROM stage_move AS each
              WHERE each.lead_id = news.lead_id AND moved_at >= :since AND moved_at < :to ORDER BY moved_at LIMIT 1)) AS from_status,
            coalesce((SELECT max(moved_at) FROM stage_move AS each
              WHERE each.lead_id = news.lead_id AND moved_at < :to AND each.to_status = after.status),
              after.status_changed_at, after.valid_from) AS changed_at,
            EXISTS (SELECT 1 FROM lead_gone AS each WHERE each.lead_id = news.lead_id
              AND gone_at < :to AND (returned_at IS NULL OR returned_at >= :to)) AS is_gone,
            EXISTS (SELECT 1 FROM lead_gone AS each WHERE each.lead_id = news.lead_id
              AND gone_at < :since AND (returned_at IS NULL OR returned_at >= :since)) AS was_gone,
            (SELECT max(gone_at) FROM lead_gone AS each WHERE each.lead_id = news.lead_id AND gone_at < :to) AS gone_at,
            (SELECT max(returned_at) FROM lead_gone AS each
              WHERE each.lead_id = news.lead_id AND returned_at >= :since AND returned_at < :to) AS returned_at
          FROM news JOIN lead ON lead.id = news.lead_id
          JOIN lead_version AS after ON after.rowid = ${version(' AND valid_from < :to', 'DESC')}
          LEFT JOIN lead_version AS before ON before.rowid =
            ${version(' AND valid_from < :since AND (:told_at IS NULL OR each.observed_at <= :told_at)', 'DESC')}
          WHERE true${scope('after.pipeline_id', 'news.lead_id')})))
    WHERE kind IS NOT NULL`,
    },
  }
}

/**
 * What the figures are counted from: the leads as they were at the end of a period (`:to`, not included), put
 * together from history. Each is a common table expression of plain SQLite, so that a figure can be pasted into any
 * SQLite program. `:pipelines` is a JSON list of ids, or null for all; `:known_at` leaves out what was read later.
 */

/** In the order in which one may read another. */
export const RELATION_NAMES = [
  'gone_then',
  'lead_then',
  'changed',
  'level',
  'closed',
  'win',
  'entry',
  'ended',
  'idle',
] as const
export type RelationName = (typeof RELATION_NAMES)[number]

/** Shares and speeds of winning look so far back, since a single day has too few closed leads to tell. */
export const RECENT = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-30 days')`

interface Relation {
  readonly reads: readonly RelationName[]
  readonly sql: string
}

const inScope = (column: string): string =>
  `(:pipelines IS NULL OR ${column} IN (SELECT value FROM json_each(:pipelines)))`

/** @param isPast whether only what was known at `:known_at` counts */
export function relationsOf(isPast: boolean): Readonly<Record<RelationName, Relation>> {
  const past = (condition: string): string => (isPast ? ` ${condition}` : '')
  const knownMove = (move: string): string => past(`AND ${move}.observed_at <= :known_at`)
  const version = (which: 'max' | 'min', condition: string): string =>
    `(SELECT ${which}(valid_from) FROM lead_version AS each
        WHERE each.lead_id = lead.id${condition}${past('AND each.observed_at <= :known_at')})`
  const lastSeen = (table: string): string =>
    `coalesce((SELECT max(changed_at) FROM ${table} AS each
        WHERE each.lead_id = lead_then.lead_id AND changed_at < :to${past('AND each.observed_at <= :known_at')}), created_at)`
  /** A stay became known with the move that began it, or with the lead. */
  const knownStay = (lead: string, condition: string): string =>
    past(`AND coalesce((SELECT observed_at FROM stage_move AS begun WHERE begun.lead_id = ${lead}${condition}
        ORDER BY moved_at DESC LIMIT 1), (SELECT first_seen_at FROM lead WHERE id = ${lead})) <= :known_at`)
  const isThere = `${inScope('pipeline_id')} AND lead_id NOT IN gone_then`

  return {
    gone_then: {
      reads: [],
      sql: `-- leads that were gone at the end of the period
    SELECT lead_id FROM lead_gone
    WHERE gone_at < :to AND (returned_at IS NULL OR returned_at >= :to${past('OR returned_at > :known_at')})${past('AND gone_at <= :known_at')}`,
    },
    lead_then: {
      reads: ['gone_then'],
      sql: `-- leads as they were at the end of the period; open and without a status before the first state that is known
    SELECT lead.id AS lead_id, lead.created_at, state.pipeline_id, stage.status,
      coalesce(stage.outcome, 'open') AS outcome, state.score, state.value_amount, state.value_currency
    FROM lead
    JOIN lead_version AS state ON state.lead_id = lead.id AND state.valid_from = coalesce(
      ${version('max', ' AND valid_from < :to')},
      ${version('min', '')})
    LEFT JOIN stage ON stage.status = state.status AND state.valid_from < :to
    WHERE lead.created_at < :to AND lead.id NOT IN gone_then AND ${inScope('state.pipeline_id')}`,
    },
    changed: {
      reads: [],
      sql: `-- leads that are not now what they were at the end of the period
    SELECT lead_id FROM lead_version WHERE valid_from >= :to${past('OR observed_at > :known_at')}
    UNION SELECT lead_id FROM lead_gone WHERE gone_at >= :to${past('OR gone_at > :known_at OR returned_at > :known_at')}
    UNION SELECT id FROM lead WHERE created_at >= :to${past('OR observed_at > :known_at')}`,
    },
    level: {
      reads: ['gone_then', 'lead_then', 'changed'],
      sql: `-- leads at the end of the period: the counts of now, with what has changed since put back
    SELECT coalesce(outcome, 'open') AS outcome, value_currency, leads, value_amount
    FROM lead_count LEFT JOIN stage USING (status) WHERE ${inScope('pipeline_id')}
    UNION ALL
    SELECT outcome, iif(value_amount IS NULL, '', ifnull(value_currency, '')), -1, -ifnull(value_amount, 0)
    FROM lead_now WHERE id IN changed AND ${inScope('pipeline_id')}
    UNION ALL
    SELECT outcome, iif(value_amount IS NULL, '', ifnull(value_currency, '')), 1, ifnull(value_amount, 0)
    FROM lead_then WHERE lead_id IN changed`,
    },
    closed: {
      reads: ['gone_then'],
      sql: `-- leads that were closed at the end of the period, and since when
    SELECT * FROM (
      SELECT id AS lead_id, pipeline_id, outcome, status_changed_at AS closed_at
      FROM stage JOIN lead USING (status)
      WHERE outcome <> 'open' AND status_changed_at < :to${knownStay('lead.id', '')}
      UNION ALL
      SELECT lead_id, pipeline_id, outcome, entered_at FROM stage_move JOIN stage ON status = from_status
      WHERE outcome <> 'open' AND entered_at < :to AND (moved_at >= :to${past('OR observed_at > :known_at')})${knownStay('stage_move.lead_id', ' AND begun.moved_at < stage_move.moved_at')})
    WHERE ${isThere}`,
    },
    win: {
      reads: ['gone_then', 'lead_then', 'closed'],
      sql: `-- leads won in the 30 days up to the end of the period, with their value then and the days it took
    SELECT value_amount, value_currency, julianday(closed_at) - julianday(created_at) AS days
    FROM closed JOIN lead_then USING (lead_id) WHERE closed.outcome = 'won' AND closed_at >= ${RECENT}`,
    },
    entry: {
      reads: ['gone_then'],
      sql: `-- each time that a lead came into a status in the period
    SELECT * FROM (
      SELECT id AS lead_id, pipeline_id, status, is_qualified, status_changed_at AS entered_at
      FROM stage JOIN lead USING (status)
      WHERE status_changed_at >= :from AND status_changed_at < :to${knownStay('lead.id', '')}
      UNION ALL
      SELECT lead_id, pipeline_id, from_status, is_qualified, entered_at FROM stage_move JOIN stage ON status = from_status
      WHERE entered_at >= :from AND entered_at < :to AND moved_at >= :from${knownStay('stage_move.lead_id', ' AND begun.moved_at < stage_move.moved_at')})
    WHERE ${isThere}`,
    },
    ended: {
      reads: [],
      sql: `-- each stay in a status that has ended before the end of the period
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, days_before AS days
    FROM stage_move WHERE moved_at < :to${knownMove('stage_move')}`,
    },
    idle: {
      reads: ['gone_then', 'lead_then', 'changed'],
      sql: `-- leads that were open at the end of the period, and when they had last changed in any way
    SELECT id AS lead_id, updated_at AS changed_at
    FROM (SELECT DISTINCT status FROM lead_count) JOIN lead USING (status) LEFT JOIN stage USING (status)
    WHERE coalesce(outcome, 'open') = 'open' AND removed_at IS NULL AND updated_at < :to
      AND ${inScope('pipeline_id')} AND id NOT IN changed
    UNION ALL
    SELECT lead_id, max(${lastSeen('lead_version')},
      ${lastSeen('lead_touch')})
    FROM lead_then WHERE outcome = 'open' AND (lead_id IN changed OR lead_id IN (
      SELECT id FROM (SELECT DISTINCT status FROM lead_count) JOIN lead USING (status) WHERE updated_at >= :to))`,
    },
  }
}

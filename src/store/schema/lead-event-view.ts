/**
 * The view `lead_event`: one row per instant at which a lead entered or left a state. The sum of all rows before
 * an instant tells how many leads were in each state then. `lead_day` keeps the sums of whole days.
 */
import { sql } from 'kysely'
import { isTraced } from '../leads/lead-day.ts'

/** A table with states of leads. In the SQL below, `state` is a row of it. */
interface StateTable {
  readonly states: string
  readonly leadId: string
  readonly createdAt: string
  /** The leads with their states, found by the leads, and the columns of the leads. */
  readonly byLead: { readonly leads: string; readonly leadId: string; readonly createdAt: string }
  readonly began: string
  readonly changed: string
  /** Null if the states have not ended. */
  readonly ended: string | null
  /** The beginning of the first known state of the lead. */
  readonly first: string
  /** The highest position in the funnel that the lead had reached with this state; null for none. */
  readonly position: string
}

/** The highest position in the funnel that the moves of a lead up to a time name; -1 for none. */
const MOVED_TO = (leadId: string, at: string): string =>
  `coalesce((SELECT max(position) FROM stage_move AS move JOIN stage ON stage.status IN (from_status, to_status)
          WHERE in_funnel = 1 AND move.lead_id = ${leadId} AND moved_at <= ${at}), -1)`

/** The stored states, of leads that have changed since they were first read. */
const STORED: StateTable = {
  states: 'lead_history AS state WHERE true',
  leadId: 'state.lead_id',
  createdAt: '(SELECT created_at FROM lead WHERE lead.id = state.lead_id)',
  byLead: {
    leads: 'lead CROSS JOIN lead_history AS state WHERE state.lead_id = lead.id',
    leadId: 'lead.id',
    createdAt: 'lead.created_at',
  },
  began: 'state.valid_from',
  changed: 'state.changed_at',
  ended: 'state.valid_to',
  first: '(SELECT min(each.valid_from) FROM lead_history AS each WHERE each.lead_id = state.lead_id)',
  position: `nullif(max(
        coalesce((SELECT max(position) FROM lead_history AS each JOIN stage ON stage.status = each.status
          WHERE in_funnel = 1 AND each.lead_id = state.lead_id AND each.valid_from <= state.valid_from), -1),
        ${MOVED_TO('state.lead_id', 'state.valid_from')}), -1)`,
}

/** The rows of leads that have not changed since they were first read: each is the only state of its lead. */
const ONLY: StateTable = {
  states: 'lead AS state WHERE derived_version IS NOT NULL',
  leadId: 'state.id',
  createdAt: 'state.created_at',
  byLead: {
    leads: 'lead AS state WHERE derived_version IS NOT NULL',
    leadId: 'state.id',
    createdAt: 'state.created_at',
  },
  began: 'state.status_changed_at',
  changed: 'state.updated_at',
  ended: null,
  first: 'state.status_changed_at',
  position: `nullif(max(coalesce((SELECT position FROM stage WHERE in_funnel = 1 AND stage.status = state.status), -1),
        ${MOVED_TO('state.id', 'state.status_changed_at')}), -1)`,
}

const CURRENCY = "iif(state.value_amount IS NULL, '', ifnull(state.value_currency, ''))"
const AMOUNT = 'ifnull(state.value_amount, 0)'

/**
 * Builds the SQL of the events of one table. What came before the first known state of a lead is known if that state
 * began within a minute after the creation of the lead, or if the activity of the lead tells all its moves.
 */
function eventsOf({ states, leadId, createdAt, byLead, ...state }: StateTable): string[] {
  const { began, changed, ended, first, position } = state
  const isLate = `${first} > ${createdAt} AND ${first} > strftime('%Y-%m-%dT%H:%M:%fZ', ${createdAt}, '+60 seconds')`
  const traced = isTraced(leadId, createdAt)
  const event = (at: string, isKnown: string, count: string): string => `
    SELECT ${at} AS at, ${leadId} AS lead_id, state.pipeline_id, state.status, ${CURRENCY} AS value_currency,
      ${isKnown} AS is_known, iif(${isLate} AND NOT ${traced}, -1, coalesce(${position}, 0)) AS reached,
      ${count} AS leads, ${count} * ${AMOUNT} AS value_amount`
  const unknown = (at: string, id: string, count: string): string => `
    SELECT ${at}, ${id}, state.pipeline_id, CAST('' AS TEXT), ${CURRENCY}, 0, iif(${isLate}, iif(${traced}, -2, -1), 0),
      ${count}, ${count} * ${AMOUNT}`
  const isKnownAtOnce = `${changed} <= ${began}`
  const isFirst = `${began} = ${first} AND ${createdAt} < ${began}`
  const isUpdated = `${changed} > ${began}${ended === null ? '' : ` AND (${ended} IS NULL OR ${changed} < ${ended})`}`
  return [
    `${event(began, `iif(${isKnownAtOnce}, 1, 0)`, '1')}
    FROM ${states}`,
    // With the update that was read, the state is no longer unknown but known.
    `${event(changed, '0', '-1')}
    FROM ${states} AND ${isUpdated}`,
    `${event(changed, '1', '1')}
    FROM ${states} AND ${isUpdated}`,
    ...(ended === null
      ? []
      : [
          `${event(ended, `iif(${isKnownAtOnce} OR ${changed} < ${ended}, 1, 0)`, '-1')}
    FROM ${states} AND ${ended} IS NOT NULL`,
        ]),
    // From its creation until its first known state, a lead has no known status.
    `${unknown(byLead.createdAt, byLead.leadId, '1')}
    FROM ${byLead.leads} AND ${isFirst}`,
    `${unknown(began, leadId, '-1')}
    FROM ${states} AND ${isFirst}`,
  ]
}

export const LEAD_EVENT = sql.raw(`CREATE VIEW lead_event AS
    -- one row per instant at which a lead entered or left a state; the sum of all rows before an instant is how many leads were in each state then
    -- at: UTC: when the lead entered or left the state
    -- lead_id: lead.id
    -- status: stage.status; empty from the creation of a lead until its first known state
    -- value_currency: ISO 4217; empty for leads without a value or without a currency
    -- is_known: 1: the lead was read as it was then; 0: it was first read after a later update, which may have changed its value
    -- reached: highest stage.position of the lead in the funnel; 0: none; -1: its earlier statuses are not known; -2: only its moves tell them
    -- leads: 1 if the lead entered the state, -1 if it left it
    -- value_amount: value of the lead, negative if it left the state; in whole units of value_currency${[STORED, ONLY].flatMap(eventsOf).join('\n    UNION ALL')}`)

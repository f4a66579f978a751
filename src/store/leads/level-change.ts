/**
 * The view `level_change`: a row per change of state, whose sums are the states. `lead_day` keeps whole days.
 */
import { sql } from 'kysely'
import { isFirstKnownLate, reachedBy } from './reached.ts'

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
  readonly first: string
  readonly reached: string
}

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
  reached: 'state.reached',
}

const OWN_ROW = {
  leadId: 'state.id',
  createdAt: 'state.created_at',
  began: 'state.status_changed_at',
  first: 'state.status_changed_at',
}

/** The rows of leads that have not changed since they were first read: each is the only state of its lead. */
const ONLY: StateTable = {
  ...OWN_ROW,
  states: 'lead AS state WHERE derived_version IS NOT NULL',
  byLead: { ...OWN_ROW, leads: 'lead AS state WHERE derived_version IS NOT NULL' },
  changed: 'state.updated_at',
  ended: null,
  reached: reachedBy({
    ...OWN_ROW,
    position: '(SELECT position FROM stage WHERE in_funnel = 1 AND stage.status = state.status)',
  }),
}

/** The states that a statement has read into a table of its own. */
const READ: StateTable = {
  states: 'read_state AS state WHERE true',
  leadId: 'state.lead_id',
  createdAt: 'state.created_at',
  byLead: {
    leads: 'read_state AS state WHERE true',
    leadId: 'state.lead_id',
    createdAt: 'state.created_at',
  },
  began: 'state.began',
  changed: 'state.changed',
  ended: 'state.ended',
  first: 'state.first_began',
  reached: 'state.reached',
}

const CURRENCY = "iif(state.value_amount IS NULL, '', ifnull(state.value_currency, ''))"
const AMOUNT = 'ifnull(state.value_amount, 0)'

/** Builds the SQL of the events of one table. */
function eventsOf({ states, leadId, createdAt, byLead, ...state }: StateTable): string[] {
  const { began, changed, ended, first, reached } = state
  const event = (at: string, isKnown: string, count: string): string => `
    SELECT ${at} AS at, ${leadId} AS lead_id, state.pipeline_id, state.status, ${CURRENCY} AS value_currency,
      ${isKnown} AS is_known, ${reached} AS reached, ${count} AS leads, ${count} * ${AMOUNT} AS value_amount`
  const unknown = (at: string, lead: { leadId: string; createdAt: string }, count: string): string => `
    SELECT ${at}, ${lead.leadId}, state.pipeline_id, CAST('' AS TEXT), ${CURRENCY}, 0,
      iif(${reached} = -1, -1, iif(${isFirstKnownLate({ first: began, createdAt: lead.createdAt })}, -2, 0)), ${count}, ${count} * ${AMOUNT}`
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
    `${unknown(byLead.createdAt, byLead, '1')}
    FROM ${byLead.leads} AND ${isFirst}`,
    `${unknown(began, { leadId, createdAt }, '-1')}
    FROM ${states} AND ${isFirst}`,
  ]
}

const unionOf = (tables: readonly StateTable[]): string => tables.flatMap(eventsOf).join('\n    UNION ALL')

const readStates = ({ leadId, createdAt, began, changed, ended, first, reached, states }: StateTable) => `
    SELECT ${leadId} AS lead_id, ${createdAt} AS created_at, ${began} AS began, ${changed} AS changed,
      ${ended ?? 'CAST(NULL AS TEXT)'} AS ended, ${first} AS first_began, ${reached} AS reached, state.pipeline_id, state.status,
      state.value_amount, state.value_currency
    FROM ${states}`

/**
 * The parts of a statement that reads each state once, into its table `read_state`. This is
 * faster for many leads than the view, which looks a lead up for each of its rows. Both SELECTs take a further AND.
 */
export const STATES_READ = { stored: readStates(STORED), only: readStates(ONLY), changes: unionOf([READ]) }

export const LEVEL_CHANGE = sql.raw(`CREATE VIEW level_change AS
    -- one row per instant at which a lead entered or left a state; the sum of all rows before an instant is how many leads were in each state then
    -- at: UTC: when the lead entered or left the state
    -- lead_id: lead.id
    -- status: stage.status; empty from the creation of a lead until its first known state
    -- value_currency: ISO 4217; empty for leads without a value or without a currency
    -- is_known: 1: the lead was read as it was then; 0: it was first read after a later update, which may have changed its value
    -- reached: highest stage.position of the lead in the funnel; 0: the first stage, or no stage of the funnel; -1: its earlier statuses are not known; -2: only its moves tell them
    -- leads: 1 if the lead entered the state, -1 if it left it
    -- value_amount: value of the lead, negative if it left the state; in whole units of value_currency${unionOf([STORED, ONLY])}`)

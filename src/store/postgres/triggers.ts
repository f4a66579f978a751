/** What PostgreSQL keeps up to date by itself, as SQLite's triggers do: counts of leads and events, words of issues. */
import { SEARCH_TRIGGERS } from './issue-words.ts'

const CURRENCY = `CASE WHEN value_amount IS NULL THEN '' ELSE coalesce(value_currency, '') END`

/** Runs once a statement. */
const addLeads = (changes: string): string => `
  INSERT INTO lead_count AS known (pipeline_id, status, value_currency, leads, value_amount)
  SELECT pipeline_id, status, currency, sum(n), sum(amount) FROM (${changes}) AS change
  GROUP BY pipeline_id, status, currency HAVING sum(n) <> 0 OR sum(amount) <> 0
  ON CONFLICT (pipeline_id, status, value_currency) DO UPDATE
    SET leads = known.leads + excluded.leads, value_amount = known.value_amount + excluded.value_amount;`

const counted = (table: string, sign: '' | '-'): string => `
    SELECT pipeline_id, status, ${CURRENCY} AS currency, ${sign}1 AS n, ${sign}coalesce(value_amount, 0) AS amount
    FROM ${table} WHERE removed_at IS NULL`

const triggerFunction = (name: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`

const ADD_EVENT = `
  INSERT INTO event_count AS known VALUES (substr(new.received_at, 1, 13), new.outcome, 1,
    coalesce(greatest(0, unixepoch(new.done_at, 'subsec') - unixepoch(new.received_at, 'subsec')), 0))
  ON CONFLICT (hour, outcome) DO UPDATE SET events = known.events + 1, seconds = known.seconds + excluded.seconds;`

export const TRIGGERS: readonly string[] = [
  triggerFunction('lead_count_insert', addLeads(counted('added', ''))),
  triggerFunction('lead_count_delete', addLeads(counted('gone', '-'))),
  triggerFunction('lead_count_update', addLeads(`${counted('gone', '-')} UNION ALL ${counted('added', '')}`)),
  triggerFunction('event_count_add', ADD_EVENT),
  `CREATE OR REPLACE TRIGGER lead_count_insert AFTER INSERT ON lead REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION lead_count_insert()`,
  `CREATE OR REPLACE TRIGGER lead_count_delete AFTER DELETE ON lead REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION lead_count_delete()`,
  `CREATE OR REPLACE TRIGGER lead_count_update AFTER UPDATE ON lead REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION lead_count_update()`,
  `CREATE OR REPLACE TRIGGER event_count_insert AFTER INSERT ON event FOR EACH ROW
    WHEN (new.outcome IS NOT NULL) EXECUTE FUNCTION event_count_add()`,
  `CREATE OR REPLACE TRIGGER event_count_update AFTER UPDATE OF outcome ON event FOR EACH ROW
    WHEN (old.outcome IS NULL AND new.outcome IS NOT NULL) EXECUTE FUNCTION event_count_add()`,
  ...SEARCH_TRIGGERS,
]

/**
 * What figures need to be quick: leads counted as they are written, and indexes for what changed since an instant.
 * The triggers keep `lead_count` right whatever writes into `lead`.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

/** The key of a row of `lead`, `old` or `new` and the value that it adds, in the order of the columns of `lead_count`. */
function counted(row: 'lead' | 'old' | 'new'): RawBuilder<unknown> {
  const of = (column: string): RawBuilder<unknown> => sql.ref(`${row}.${column}`)
  const currency = sql`iif(${of('value_amount')} IS NULL, '', ifnull(${of('value_currency')}, ''))`
  return sql`${of('pipeline_id')}, ${of('status')}, ${currency}, 1, ifnull(${of('value_amount')}, 0)`
}

const ADD_NEW = sql`INSERT INTO lead_count SELECT ${counted('new')} WHERE new.removed_at IS NULL
    ON CONFLICT DO UPDATE SET leads = leads + 1, value_amount = value_amount + excluded.value_amount`

const TAKE_OLD = sql`UPDATE lead_count SET leads = leads - 1, value_amount = value_amount - ifnull(old.value_amount, 0)
    WHERE old.removed_at IS NULL AND pipeline_id = old.pipeline_id AND status = old.status
      AND value_currency = iif(old.value_amount IS NULL, '', ifnull(old.value_currency, ''))`

const STATEMENTS = [
  sql`ALTER TABLE stage ADD COLUMN is_qualified INTEGER -- 1: a lead that has come this far counts as qualified; 0 for all where the profile marks no such stage
    NOT NULL DEFAULT 0`,

  sql`CREATE TABLE lead_count ( -- one row for each pipeline, status and currency: the leads that are there now, counted as they are written
    pipeline_id TEXT NOT NULL, -- pipeline.id
    status TEXT NOT NULL, -- stage.status
    value_currency TEXT NOT NULL, -- ISO 4217; empty for leads without a value or its currency
    leads INTEGER NOT NULL, -- number of leads
    value_amount REAL NOT NULL, -- sum of their values, in whole units of value_currency
    PRIMARY KEY (pipeline_id, status, value_currency)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO lead_count
    SELECT pipeline_id, status, currency, count(*), sum(amount) FROM (
      SELECT pipeline_id, status, iif(value_amount IS NULL, '', ifnull(value_currency, '')) AS currency,
        ifnull(value_amount, 0) AS amount
      FROM lead WHERE removed_at IS NULL)
    GROUP BY pipeline_id, status, currency`,
  sql`CREATE TRIGGER lead_count_insert AFTER INSERT ON lead BEGIN ${ADD_NEW}; END`,
  sql`CREATE TRIGGER lead_count_delete AFTER DELETE ON lead BEGIN ${TAKE_OLD}; END`,
  sql`CREATE TRIGGER lead_count_update
    AFTER UPDATE OF pipeline_id, status, value_amount, value_currency, removed_at ON lead
    WHEN old.pipeline_id IS NOT new.pipeline_id OR old.status IS NOT new.status OR old.removed_at IS NOT new.removed_at
      OR old.value_amount IS NOT new.value_amount OR old.value_currency IS NOT new.value_currency
    BEGIN ${TAKE_OLD}; ${ADD_NEW}; END`,

  // What a figure reads of many leads stands in the index itself, so that no row is looked up.
  sql`DROP INDEX lead_by_status`,
  sql`CREATE INDEX lead_by_status ON lead (status, status_changed_at, pipeline_id, id)`,
  sql`CREATE INDEX lead_by_change ON lead (status, updated_at, pipeline_id, id, removed_at)`,
  sql`CREATE INDEX lead_by_arrival ON lead (first_seen_at, created_at)`,
  sql`CREATE INDEX lead_version_by_start ON lead_version (valid_from, status, pipeline_id, value_currency, value_amount, lead_id)`,
  sql`CREATE INDEX lead_version_by_end ON lead_version (valid_to, status, pipeline_id, value_currency, value_amount)
    WHERE valid_to IS NOT NULL`,
]

/**
 * The invariants of the store: rules that hold even after a process was killed, a write was cut off or the
 * disk refused a write. Each rule has a query that finds its violations. `leadsheet doctor` checks the rules,
 * and so do the tests after every crash.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { fieldsWith } from '../../domain/lead-fields.ts'
import type { Instant } from '../../domain/model.ts'
import { shellCommand } from '../../errors.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'
import { REACHED_OF_STORED } from '../leads/reached.ts'
import { UNCONFIRMED_MAX } from '../outbox/delivery.ts'

interface Invariant {
  readonly rule: string
  /** Set if only an SQLite file can violate the rule, because PostgreSQL itself enforces the rule. */
  readonly isOfFiles?: true
  /** Returns one row for each violation, named in `what`. The present time is `(SELECT now FROM moment)`. */
  readonly violations: RawBuilder<unknown>
  /** By default {@link REPORT_FAULT}. */
  readonly remedy?: string
}

const RESTORE = `restore the last backup with ${shellCommand('db restore')}, or move the file away: the next sync reads all anew`
const READ_ALL = `run ${shellCommand('sync --full')}`
const REPORT_FAULT =
  'this is a fault of leadsheet: please report it with what is named here; a backup from before may be without it'

/** The rule that is checked first, because the other queries return nonsense on a damaged file. */
const INTACT: Invariant = {
  rule: 'the file is intact',
  isOfFiles: true,
  violations: sql`SELECT integrity_check AS what FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
  remedy: RESTORE,
}

const OF_LEADS: readonly Invariant[] = [
  {
    rule: 'each reference finds its row',
    isOfFiles: true,
    // Checks no references while the indexes are dropped during a first load, because the check needs the
    // index on lead.id. The join then has no rows.
    violations: sql`SELECT "table" || coalesce(' row ' || rowid, '') || ' to ' || parent AS what
      FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sync_dropped_index)) CROSS JOIN pragma_foreign_key_check`,
    remedy: RESTORE,
  },
  {
    rule: 'a lead that is there has one open version, a deleted one none',
    violations: sql`SELECT lead.id AS what FROM lead
      LEFT JOIN lead_history AS open ON open.lead_id = lead.id AND open.valid_to IS NULL
      GROUP BY lead.id HAVING count(open.lead_id) + count(lead.derived_version) <> iif(max(lead.deleted_at) IS NULL, 1, 0)`,
  },
  {
    rule: 'a lead with a derived version has no stored one',
    violations: sql`SELECT lead.id AS what FROM lead JOIN lead_history ON lead_history.lead_id = lead.id
      WHERE lead.derived_version IS NOT NULL`,
  },
  {
    rule: 'the open version says what the lead is',
    violations: sql`SELECT lead.id AS what FROM lead
      JOIN lead_history AS open ON open.lead_id = lead.id AND open.valid_to IS NULL
      WHERE ${sql.raw(
        fieldsWith('hasHistory')
          .map(({ column }) => `open.${column} IS DISTINCT FROM lead.${column}`)
          .join(' OR '),
      )}`,
  },
  {
    rule: 'the versions of a lead follow one another and never overlap',
    violations: sql`SELECT lead_id || ' from ' || valid_from AS what
      FROM (SELECT lead_id, valid_from, valid_to, lead(valid_from) OVER of_lead AS next FROM lead_history
        WINDOW of_lead AS (PARTITION BY lead_id ORDER BY valid_from)) AS version
      WHERE valid_to < valid_from OR next < coalesce(valid_to, '9999')`,
  },
  {
    rule: 'a lead is deleted while its last deletion lasts, and only then',
    violations: sql`SELECT lead.id AS what FROM lead
      LEFT JOIN lead_deletion AS deletion ON deletion.lead_id = lead.id AND deletion.returned_at IS NULL
      WHERE lead.deleted_at IS DISTINCT FROM deletion.deleted_since`,
  },
  {
    rule: 'a deleted lead is not among the missing leads any more',
    violations: sql`SELECT lead_id AS what FROM missing_lead JOIN lead ON lead.id = missing_lead.lead_id
      WHERE lead.deleted_at IS NOT NULL`,
  },
  {
    rule: 'a move leads from one status to another, and not before it was entered',
    violations: sql`SELECT lead_id || ' at ' || moved_at AS what FROM stage_move
      WHERE from_status = to_status OR entered_at > moved_at`,
  },
  {
    rule: 'each lead has the record that it was read from',
    violations: sql`SELECT lead.id AS what FROM lead LEFT JOIN lead_raw AS raw ON raw.lead_no = lead.no
      WHERE raw.lead_no IS NULL`,
  },
  {
    rule: 'a deleted lead is not known again by its bytes, but read anew',
    violations: sql`SELECT lead.id AS what FROM lead_fingerprint JOIN lead ON lead.no = lead_fingerprint.lead_no
      WHERE lead.deleted_at IS NOT NULL`,
  },
  {
    rule: 'details are there of each lead that was asked for without a failure, and of none that never was',
    violations: sql`SELECT lead_id AS what FROM lead_detail JOIN lead ON lead.id = lead_detail.lead_id
        LEFT JOIN detail_request AS queue ON queue.lead_no = lead.no WHERE queue.lead_no IS NULL
      UNION ALL SELECT lead.id FROM detail_request JOIN lead ON lead.no = detail_request.lead_no
        LEFT JOIN lead_detail AS detail ON detail.lead_id = lead.id
        WHERE detail_request.last_error IS NULL AND detail.lead_id IS NULL`,
  },
  {
    rule: 'each lead is in a pipeline that is known',
    violations: sql`SELECT DISTINCT lead.pipeline_id AS what FROM lead
      LEFT JOIN pipeline ON pipeline.id = lead.pipeline_id WHERE pipeline.id IS NULL`,
  },
  {
    rule: 'each stored state has how far its lead had come by its statuses and moves',
    violations: sql`SELECT lead_id || ' from ' || valid_from AS what FROM lead_history AS state
      WHERE NOT EXISTS (SELECT 1 FROM sync_dropped_index) AND reached <> ${sql.raw(REACHED_OF_STORED)}`,
  },
  {
    rule: 'the counts of leads by day are those of their states',
    // During a first load nothing is counted yet.
    violations: sql`SELECT day || ' ' || pipeline_id || ' ' || status AS what
      FROM (SELECT substr(at, 1, 10) AS day, pipeline_id, status, value_currency, is_known, reached,
          sum(leads) AS n, count(*) FILTER (WHERE leads > 0) AS enter, sum(value_amount) AS amount
        FROM level_change GROUP BY 1, 2, 3, 4, 5, 6) AS counted
      FULL JOIN lead_day USING (day, pipeline_id, status, value_currency, is_known, reached)
      WHERE (ifnull(leads, 0) <> ifnull(n, 0) OR ifnull(entered, 0) <> ifnull(enter, 0) OR abs(ifnull(lead_day.value_amount, 0) - ifnull(amount, 0)) > 0.5)
        AND NOT EXISTS (SELECT 1 FROM sync_dropped_index)`,
  },
  {
    rule: 'every lead that the last complete scan met is there',
    // Events and lists of changes delete leads that the scan has met.
    violations: sql`SELECT result.run_id || ' met ' || result.distinct_leads AS what
      FROM (SELECT of_run.* FROM sync_scan_result AS of_run JOIN sync_run ON sync_run.id = of_run.run_id
        WHERE of_run.mode = 'full' AND of_run.result = 'complete' ORDER BY sync_run.rowid DESC LIMIT 1) AS result
      WHERE result.distinct_leads > (SELECT count(*) FROM lead WHERE deleted_at IS NULL)
        - (SELECT count(*) FROM missing_lead)
        + (SELECT count(*) FROM lead_deletion WHERE returned_at IS NULL AND deleted_since >= result.started_at)
        + (SELECT count(*) FROM quarantined_record WHERE resource = 'lead' AND record_id IS NOT NULL)`,
  },
]

/** The rules on the program's own work: scans, runs, scheduled runs and messages. They are quick to check. */
const OF_WORK: readonly Invariant[] = [
  {
    rule: 'a scan under way has as many pages as were written with it, and a place in the list only after the first',
    violations: sql`SELECT 'page ' || scan.pages || ', ' || coalesce(scan.cursor, 'no cursor') AS what
      FROM sync_scan AS scan
      WHERE scan.pages <> (SELECT count(*) FROM sync_scan_page)
        OR scan.pass_pages <> (SELECT count(*) FROM sync_scan_page WHERE pass = scan.pass)
        OR (scan.pass_pages = 0 AND scan.cursor IS NOT NULL)`,
  },
  {
    rule: 'pages that were read belong to a scan that is under way',
    violations: sql`SELECT page AS what FROM sync_scan_page WHERE NOT EXISTS (SELECT 1 FROM sync_scan)`,
  },
  {
    rule: 'indexes are put aside only until a sync is complete',
    // A first load that was stopped leaves them to the next sync.
    violations: sql`SELECT name AS what FROM sync_dropped_index WHERE name <> ''
      AND 1 = (SELECT is_complete FROM sync_run ORDER BY rowid DESC LIMIT 1)`,
    remedy: `run ${shellCommand('sync')}: it makes them anew`,
  },
  {
    rule: 'a run that calls its leads whole has read a list that was proven complete',
    violations: sql`SELECT run.id AS what FROM sync_run AS run
      LEFT JOIN sync_scan_result AS result ON result.run_id = run.id
      WHERE run.leads_as_of IS NOT NULL AND result.result IS DISTINCT FROM 'complete'`,
    remedy: READ_ALL,
  },
  {
    rule: 'of all runs only the last may be without an outcome',
    violations: sql`SELECT id AS what FROM sync_run
      WHERE outcome IS NULL AND rowid < (SELECT max(rowid) FROM sync_run)`,
  },
  {
    rule: 'the leads of a run are those that it inserted, updated and found unchanged',
    violations: sql`SELECT id AS what FROM sync_run
      WHERE leads_seen <> leads_inserted + leads_updated + leads_unchanged`,
  },
  {
    rule: 'changes are asked for only since a list that was read to its end',
    violations: sql`SELECT updated_at AS what FROM sync_watermark
      WHERE updated_at <> '' AND NOT EXISTS (SELECT 1 FROM sync_run WHERE leads_as_of IS NOT NULL)`,
    remedy: READ_ALL,
  },
  {
    rule: 'each event that waits to be followed has its place in the queue',
    violations: sql`SELECT id AS what FROM event WHERE done_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM event_queue AS queue WHERE queue.resource = event.resource AND queue.resource_id = event.resource_id)`,
    remedy: READ_ALL,
  },
  {
    rule: 'a scheduled run is being worked on only while the lease of its schedule is held',
    violations: sql`SELECT schedule || ' ' || due_at AS what FROM scheduled_run WHERE state = 'running'
      AND NOT EXISTS (SELECT 1 FROM lease WHERE expires_at > (SELECT now FROM moment) AND name = CASE
        WHEN schedule IN ('sync', 'sync-full') THEN 'sync' ELSE schedule END)`,
    remedy: `start ${shellCommand('run')}: it takes up what was left`,
  },
  {
    rule: 'only reports are held',
    violations: sql`SELECT schedule || ' ' || due_at AS what FROM scheduled_run
      WHERE state = 'held' AND schedule NOT LIKE 'report:%'`,
  },
  {
    rule: 'each message is there, and the one to its recipient',
    violations: sql`SELECT delivery.message_id AS what FROM delivery LEFT JOIN message USING (message_id)
      WHERE head ->> '$.messageId' IS DISTINCT FROM delivery.message_id OR head ->> '$.to' IS DISTINCT FROM recipient`,
  },
  {
    rule: 'each file that a message carries is there',
    violations: sql`SELECT message.message_id || ' ' || (file.value ->> '$.name') AS what
      FROM message, json_each(message.files) AS file
      WHERE NOT EXISTS (SELECT 1 FROM message_file WHERE sha256 = file.value ->> '$.sha256')`,
  },
  {
    rule: 'each message that was sent has the answer of the server that took it',
    violations: sql`SELECT message_id AS what FROM delivery WHERE state = 'sent' AND response IS NULL`,
  },
  {
    rule: 'each message that is to be tried has a time for it, and no other has',
    violations: sql`SELECT message_id AS what FROM delivery WHERE iif(next_attempt_at IS NULL,
      state IN ('pending', 'sending', 'data'), state IN ('sent', 'failed') OR unconfirmed_count >= ${UNCONFIRMED_MAX})`,
  },
  {
    rule: 'no message has been leaving for more than ten minutes',
    violations: sql`SELECT message_id AS what FROM delivery
      WHERE state IN ('sending', 'data') AND state_at < (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', now, '-10 minutes') FROM moment)
        AND NOT EXISTS (SELECT 1 FROM lease WHERE holder = sender AND expires_at > (SELECT now FROM moment))`,
    remedy: `start ${shellCommand('run')}, or send the report again: what may have arrived is marked as unconfirmed`,
  },
]

export const INVARIANTS: readonly Invariant[] = [INTACT, ...OF_WORK, ...OF_LEADS]

/** Lists the rules that can be violated in this kind of database (SQLite or PostgreSQL). */
export function invariantsOf(db: Db): readonly Invariant[] {
  return isPostgres(db) ? INVARIANTS.filter(({ isOfFiles }) => !isOfFiles) : INVARIANTS
}

export interface Violation {
  readonly rule: string
  readonly count: number
  readonly examples: readonly string[]
  readonly remedy: string
}

const EXAMPLES = 3

/**
 * Finds violations by the present time `now`. With `few`, checks only the quick rules on the program's work.
 */
export async function findViolations(db: Db, now: Instant, reads: 'few' | 'all'): Promise<Violation[]> {
  const found: Violation[] = []
  for (const invariant of reads === 'all' ? invariantsOf(db) : OF_WORK) {
    const violation = await findViolation(db, invariant, now)
    if (violation !== null) found.push(violation)
    if (violation !== null && invariant === INTACT) return found
  }
  return found
}

async function findViolation(
  db: Db,
  { rule, violations, remedy = REPORT_FAULT }: Invariant,
  now: Instant,
): Promise<Violation | null> {
  const { rows } = await sql<{ what: string; count: number }>`
    WITH moment (now) AS (SELECT ${now})
    SELECT CAST(what AS TEXT) AS what, count(*) OVER () AS count FROM (${violations}) AS violation LIMIT ${EXAMPLES}`.execute(
    db,
  )
  const [first] = rows
  return first ? { rule, count: first.count, examples: rows.map((row) => row.what), remedy } : null
}

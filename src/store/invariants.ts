/**
 * What always holds in the store, whatever was killed, cut or refused: each rule with the query that finds what
 * breaks it. `leadsheet doctor` asks them, and so do the tests after every crash.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../model.ts'
import type { Db } from './open.ts'

export interface Violation {
  /** The rule, as a sentence. */
  readonly rule: string
  readonly count: number
  /** A few of what breaks it. */
  readonly examples: readonly string[]
  readonly remedy: string
}

/** `few`: of the program's own work, answered at once; `all`: reads tables of the leads from one end to the other. */
type Reach = 'few' | 'all'

interface Invariant {
  readonly rule: string
  readonly reads: Reach
  /** One row for each violation, which it names as `what`; the present is `(SELECT now FROM moment)`. */
  readonly violations: RawBuilder<unknown>
  readonly remedy: string
}

const EXAMPLES = 3

const RESTORE =
  'restore the last backup with `leadsheet restore`, or move the file away: the next sync reads all anew'
const READ_ALL = 'run `leadsheet sync --full`'
const TELL =
  'this is a fault of leadsheet: please report it with what is named here; a backup from before may be without it'

/**
 * @param now for what may be under way for some time and no longer
 * @param reads `few` leaves out the rules over all leads, which take a second for some hundred megabytes
 */
export async function findViolations(db: Db, now: Instant, reads: Reach): Promise<Violation[]> {
  const found: Violation[] = []
  for (const invariant of INVARIANTS) {
    if (reads === 'few' && invariant.reads === 'all') continue
    const violation = await findViolation(db, invariant, now)
    if (violation === null) continue
    found.push(violation)
    // A damaged file answers other questions at random.
    if (invariant === INTACT) break
  }
  return found
}

async function findViolation(
  db: Db,
  { rule, violations, remedy }: Invariant,
  now: Instant,
): Promise<Violation | null> {
  const { rows } = await sql<{ what: string; count: number }>`
    WITH moment (now) AS (SELECT ${now})
    SELECT CAST(what AS TEXT) AS what, count(*) OVER () AS count FROM (${violations}) LIMIT ${EXAMPLES}`.execute(
    db,
  )
  const [first] = rows
  return first ? { rule, count: first.count, examples: rows.map((row) => row.what), remedy } : null
}

const INTACT: Invariant = {
  rule: 'the file is intact',
  reads: 'all',
  violations: sql`SELECT integrity_check AS what FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
  remedy: RESTORE,
}

export const INVARIANTS: readonly Invariant[] = [
  INTACT,
  {
    rule: 'a scan under way has as many pages as were written with it, and a place in the list only after the first',
    reads: 'few',
    violations: sql`SELECT 'page ' || scan.pages || ', ' || coalesce(scan.cursor, 'no cursor') AS what
      FROM sync_scan AS scan
      WHERE scan.pages <> (SELECT count(*) FROM sync_scan_page)
        OR scan.pass_pages <> (SELECT count(*) FROM sync_scan_page WHERE pass = scan.pass)
        OR (scan.pass_pages = 0 AND scan.cursor IS NOT NULL)`,
    remedy: TELL,
  },
  {
    rule: 'pages that were read belong to a scan that is under way',
    reads: 'few',
    violations: sql`SELECT page AS what FROM sync_scan_page WHERE NOT EXISTS (SELECT 1 FROM sync_scan)`,
    remedy: TELL,
  },
  {
    rule: 'indexes are put aside only while a sync runs',
    reads: 'few',
    violations: sql`SELECT name AS what FROM sync_dropped_index
      WHERE NOT EXISTS (SELECT 1 FROM lease WHERE name = 'sync' AND expires_at > (SELECT now FROM moment))`,
    remedy: 'run `leadsheet sync`: it makes them anew',
  },
  {
    rule: 'a run that calls its leads whole has read a list that was proven complete',
    reads: 'few',
    violations: sql`SELECT run.id AS what FROM sync_run AS run
      LEFT JOIN sync_scan_verdict AS verdict ON verdict.run_id = run.id
      WHERE run.leads_as_of IS NOT NULL AND verdict.verdict IS NOT 'complete'`,
    remedy: READ_ALL,
  },
  {
    rule: 'of all runs only the last may be without an outcome',
    reads: 'few',
    violations: sql`SELECT id AS what FROM sync_run
      WHERE outcome IS NULL AND rowid < (SELECT max(rowid) FROM sync_run)`,
    remedy: TELL,
  },
  {
    rule: 'the leads of a run are those that it inserted, updated and found unchanged',
    reads: 'few',
    violations: sql`SELECT id AS what FROM sync_run
      WHERE leads_seen <> leads_inserted + leads_updated + leads_unchanged`,
    remedy: TELL,
  },
  {
    rule: 'changes are asked for only since a list that was read to its end',
    reads: 'few',
    violations: sql`SELECT updated_at AS what FROM sync_watermark
      WHERE updated_at <> '' AND NOT EXISTS (SELECT 1 FROM sync_run WHERE leads_as_of IS NOT NULL)`,
    remedy: READ_ALL,
  },
  {
    rule: 'a due time is being worked on only while a daemon runs',
    reads: 'few',
    violations: sql`SELECT schedule || ' ' || slot AS what FROM schedule_slot WHERE state = 'running'
      AND NOT EXISTS (SELECT 1 FROM lease WHERE name = 'daemon' AND expires_at > (SELECT now FROM moment))`,
    remedy: 'start `leadsheet run`: it takes up what was left',
  },
  {
    rule: 'each letter is the one to its recipient',
    reads: 'few',
    violations: sql`SELECT message_id AS what FROM delivery
      WHERE letter ->> '$.messageId' IS NOT message_id OR letter ->> '$.to' IS NOT recipient`,
    remedy: TELL,
  },
  {
    rule: 'each letter that was sent has the answer of the server that took it',
    reads: 'few',
    violations: sql`SELECT message_id AS what FROM delivery WHERE state = 'sent' AND response IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'no letter has been leaving for more than ten minutes',
    reads: 'few',
    violations: sql`SELECT message_id AS what FROM delivery
      WHERE state IN ('sending', 'data') AND state_at < (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', now, '-10 minutes') FROM moment)
        AND NOT EXISTS (SELECT 1 FROM lease WHERE name = 'delivery' AND expires_at > (SELECT now FROM moment))`,
    remedy: 'start `leadsheet run`, or send the report again: what may have arrived is marked as in doubt',
  },
  {
    rule: 'each reference finds its row',
    reads: 'all',
    // Without the index on lead.id references cannot be followed: the join keeps SQLite from trying.
    violations: sql`SELECT "table" || coalesce(' row ' || rowid, '') || ' to ' || parent AS what
      FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sync_dropped_index)) CROSS JOIN pragma_foreign_key_check`,
    remedy: RESTORE,
  },
  {
    rule: 'a lead that is there has one open version, a removed one none',
    reads: 'all',
    violations: sql`SELECT lead.id AS what FROM lead
      LEFT JOIN lead_version AS open ON open.lead_id = lead.id AND open.valid_to IS NULL
      GROUP BY lead.id HAVING count(open.lead_id) <> (lead.removed_at IS NULL)`,
    remedy: TELL,
  },
  {
    rule: 'the open version says what the lead is',
    reads: 'all',
    violations: sql`SELECT lead.id AS what FROM lead
      JOIN lead_version AS open ON open.lead_id = lead.id AND open.valid_to IS NULL
      WHERE (open.pipeline_id, open.status) <> (lead.pipeline_id, lead.status)
        OR open.score IS NOT lead.score OR open.value_amount IS NOT lead.value_amount
        OR open.value_currency IS NOT lead.value_currency OR open.agent_id IS NOT lead.agent_id`,
    remedy: TELL,
  },
  {
    rule: 'the versions of a lead follow one another and never overlap',
    reads: 'all',
    violations: sql`SELECT lead_id || ' from ' || valid_from AS what
      FROM (SELECT lead_id, valid_from, valid_to, lead(valid_from) OVER of_lead AS next FROM lead_version
        WINDOW of_lead AS (PARTITION BY lead_id ORDER BY valid_from))
      WHERE valid_to < valid_from OR next < coalesce(valid_to, '9999')`,
    remedy: TELL,
  },
  {
    rule: 'a lead is removed while its last absence lasts, and only then',
    reads: 'all',
    violations: sql`SELECT lead.id AS what FROM lead
      LEFT JOIN lead_gone AS gone ON gone.lead_id = lead.id AND gone.returned_at IS NULL
      WHERE lead.removed_at IS NOT gone.gone_at`,
    remedy: TELL,
  },
  {
    rule: 'a lead that was removed is not waited for any more',
    reads: 'all',
    violations: sql`SELECT lead_id AS what FROM lead_absence JOIN lead ON lead.id = lead_absence.lead_id
      WHERE lead.removed_at IS NOT NULL`,
    remedy: TELL,
  },
  {
    rule: 'a move leads from one status to another, and not before it was entered',
    reads: 'all',
    violations: sql`SELECT lead_id || ' at ' || moved_at AS what FROM stage_move
      WHERE from_status = to_status OR entered_at > moved_at`,
    remedy: TELL,
  },
  {
    rule: 'each lead has the record that it was read from',
    reads: 'all',
    violations: sql`SELECT lead.id AS what FROM lead LEFT JOIN lead_raw AS raw ON raw.lead_no = lead.no
      WHERE raw.lead_no IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'a removed lead is not known again by its bytes, but read anew',
    reads: 'all',
    violations: sql`SELECT lead.id AS what FROM lead_fingerprint JOIN lead ON lead.no = lead_fingerprint.lead_no
      WHERE lead.removed_at IS NOT NULL`,
    remedy: TELL,
  },
  {
    rule: 'details are there of each lead that was asked for without a failure, and of none that never was',
    reads: 'all',
    violations: sql`SELECT lead_id AS what FROM lead_detail JOIN lead ON lead.id = lead_detail.lead_id
        LEFT JOIN detail_queue AS queue ON queue.lead_no = lead.no WHERE queue.lead_no IS NULL
      UNION ALL SELECT lead.id FROM detail_queue JOIN lead ON lead.no = detail_queue.lead_no
        LEFT JOIN lead_detail AS detail ON detail.lead_id = lead.id
        WHERE detail_queue.last_error IS NULL AND detail.lead_id IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'each lead is in a pipeline that is known',
    reads: 'all',
    violations: sql`SELECT DISTINCT lead.pipeline_id AS what FROM lead
      LEFT JOIN pipeline ON pipeline.id = lead.pipeline_id WHERE pipeline.id IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'every lead that the last complete scan met is there',
    reads: 'all',
    violations: sql`SELECT verdict.run_id || ' met ' || verdict.distinct_leads AS what
      FROM (SELECT of_run.* FROM sync_scan_verdict AS of_run JOIN sync_run ON sync_run.id = of_run.run_id
        WHERE of_run.mode = 'full' AND of_run.verdict = 'complete' ORDER BY sync_run.rowid DESC LIMIT 1) AS verdict
      WHERE verdict.distinct_leads > (SELECT count(*) FROM lead WHERE removed_at IS NULL)
        - (SELECT count(*) FROM lead_absence)
        + (SELECT count(*) FROM held_row WHERE resource = 'lead' AND record_id IS NOT NULL)`,
    remedy: TELL,
  },
]

/** What holds of the leads and their past. Each rule reads a table from one end to the other. */
import { sql } from 'kysely'
import { type Invariant, RESTORE, TELL } from './invariant.ts'

/** Asked first: a damaged file answers other questions at random. */
export const INTACT: Invariant = {
  rule: 'the file is intact',
  isOfFiles: true,
  violations: sql`SELECT integrity_check AS what FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
  remedy: RESTORE,
}

export const OF_LEADS: readonly Invariant[] = [
  {
    rule: 'each reference finds its row',
    isOfFiles: true,
    // Without the index on lead.id references cannot be followed: the join keeps SQLite from trying.
    violations: sql`SELECT "table" || coalesce(' row ' || rowid, '') || ' to ' || parent AS what
      FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sync_dropped_index)) CROSS JOIN pragma_foreign_key_check`,
    remedy: RESTORE,
  },
  {
    rule: 'a lead that is there has one open version, a removed one none',
    violations: sql`SELECT lead.id AS what FROM lead
      LEFT JOIN lead_version AS open ON open.lead_id = lead.id AND open.valid_to IS NULL
      GROUP BY lead.id, lead.removed_at HAVING count(open.lead_id) <> iif(max(lead.removed_at) IS NULL, 1, 0)`,
    remedy: TELL,
  },
  {
    rule: 'the open version says what the lead is',
    violations: sql`SELECT lead.id AS what FROM lead
      JOIN lead_version AS open ON open.lead_id = lead.id AND open.valid_to IS NULL
      WHERE (open.pipeline_id, open.status) <> (lead.pipeline_id, lead.status)
        OR open.score IS DISTINCT FROM lead.score OR open.value_amount IS DISTINCT FROM lead.value_amount
        OR open.value_currency IS DISTINCT FROM lead.value_currency OR open.agent_id IS DISTINCT FROM lead.agent_id`,
    remedy: TELL,
  },
  {
    rule: 'the versions of a lead follow one another and never overlap',
    violations: sql`SELECT lead_id || ' from ' || valid_from AS what
      FROM (SELECT lead_id, valid_from, valid_to, lead(valid_from) OVER of_lead AS next FROM lead_version
        WINDOW of_lead AS (PARTITION BY lead_id ORDER BY valid_from)) AS version
      WHERE valid_to < valid_from OR next < coalesce(valid_to, '9999')`,
    remedy: TELL,
  },
  {
    rule: 'a lead is removed while its last absence lasts, and only then',
    violations: sql`SELECT lead.id AS what FROM lead
      LEFT JOIN lead_gone AS gone ON gone.lead_id = lead.id AND gone.returned_at IS NULL
      WHERE lead.removed_at IS DISTINCT FROM gone.gone_at`,
    remedy: TELL,
  },
  {
    rule: 'a lead that was removed is not waited for any more',
    violations: sql`SELECT lead_id AS what FROM lead_absence JOIN lead ON lead.id = lead_absence.lead_id
      WHERE lead.removed_at IS NOT NULL`,
    remedy: TELL,
  },
  {
    rule: 'a move leads from one status to another, and not before it was entered',
    violations: sql`SELECT lead_id || ' at ' || moved_at AS what FROM stage_move
      WHERE from_status = to_status OR entered_at > moved_at`,
    remedy: TELL,
  },
  {
    rule: 'each lead has the record that it was read from',
    violations: sql`SELECT lead.id AS what FROM lead LEFT JOIN lead_raw AS raw ON raw.lead_no = lead.no
      WHERE raw.lead_no IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'a removed lead is not known again by its bytes, but read anew',
    violations: sql`SELECT lead.id AS what FROM lead_fingerprint JOIN lead ON lead.no = lead_fingerprint.lead_no
      WHERE lead.removed_at IS NOT NULL`,
    remedy: TELL,
  },
  {
    rule: 'details are there of each lead that was asked for without a failure, and of none that never was',
    violations: sql`SELECT lead_id AS what FROM lead_detail JOIN lead ON lead.id = lead_detail.lead_id
        LEFT JOIN detail_queue AS queue ON queue.lead_no = lead.no WHERE queue.lead_no IS NULL
      UNION ALL SELECT lead.id FROM detail_queue JOIN lead ON lead.no = detail_queue.lead_no
        LEFT JOIN lead_detail AS detail ON detail.lead_id = lead.id
        WHERE detail_queue.last_error IS NULL AND detail.lead_id IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'each lead is in a pipeline that is known',
    violations: sql`SELECT DISTINCT lead.pipeline_id AS what FROM lead
      LEFT JOIN pipeline ON pipeline.id = lead.pipeline_id WHERE pipeline.id IS NULL`,
    remedy: TELL,
  },
  {
    rule: 'the counts of leads are those of the leads',
    violations: sql`SELECT pipeline_id || ' ' || status AS what
      FROM (SELECT pipeline_id, status, iif(value_amount IS NULL, '', ifnull(value_currency, '')) AS value_currency,
          count(*) AS n, sum(ifnull(value_amount, 0)) AS amount
        FROM lead WHERE removed_at IS NULL GROUP BY 1, 2, 3) AS counted
      FULL JOIN lead_count USING (pipeline_id, status, value_currency)
      WHERE ifnull(leads, 0) <> ifnull(n, 0) OR abs(ifnull(lead_count.value_amount, 0) - ifnull(amount, 0)) > 0.5`,
    remedy: TELL,
  },
  {
    rule: 'every lead that the last complete scan met is there',
    violations: sql`SELECT verdict.run_id || ' met ' || verdict.distinct_leads AS what
      FROM (SELECT of_run.* FROM sync_scan_verdict AS of_run JOIN sync_run ON sync_run.id = of_run.run_id
        WHERE of_run.mode = 'full' AND of_run.verdict = 'complete' ORDER BY sync_run.rowid DESC LIMIT 1) AS verdict
      WHERE verdict.distinct_leads > (SELECT count(*) FROM lead WHERE removed_at IS NULL)
        - (SELECT count(*) FROM lead_absence)
        + (SELECT count(*) FROM lead_gone WHERE run_id LIKE 'event:%' AND returned_at IS NULL AND gone_at >= verdict.started_at)
        + (SELECT count(*) FROM held_row WHERE resource = 'lead' AND record_id IS NOT NULL)`,
    remedy: TELL,
  },
]

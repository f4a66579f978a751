/**
 * The tables that a snapshot (the file for analysts) contains. Because the list names these tables, a new
 * table is private until somebody adds it. Recipients, sent messages and the internals of a sync stay in the
 * store.
 */

/** The published tables, each with the columns that are left out. */
export const PUBLISHED: Readonly<Record<string, readonly string[]>> = {
  stage: [],
  pipeline: [],
  pipeline_stat: [],
  pipeline_stage_stat: [],
  lead: [],
  lead_raw: [],
  field_change: [],
  lead_history: [],
  lead_deletion: [],
  lead_minor_update: [],
  lead_day: [],
  lead_detail: [],
  activity: [],
  stage_move: [],
  agent: [],
  agent_sample: [],
  sync_run: [],
  sync_scan_result: [],
  quarantined_record: [],
  field_seen: [],
  pruned: [],
  // Leaves out the HTML and the text of issues, because the archive of issues shows both as they were sent.
  report_issue: ['html', 'text'],
  daily_count: [],
  daily_count_span: [],
  stall_threshold: [],
  old_lead_count: [],
  published_range: [],
  annotation: [],
}

/** The tables of the store from which the snapshot makes `lead_field`, a table with a column for each declared field. */
export const OF_FIELDS: readonly string[] = ['declared_field', 'lead_values']

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

/** The tables that only leadsheet itself needs. A test checks that each table is published or listed here. */
export const PRIVATE: readonly string[] = [
  'installation',
  'missing_lead',
  'lead_fingerprint',
  'detail_queue',
  'event',
  'event_queue',
  'delivery',
  'message',
  'message_file',
  'mail_outage',
  'alert',
  'alert_message',
  'heartbeat_ping',
  'lease',
  'ended_session',
  'link_key',
  'preference',
  'scheduled_run',
  'daemon_uptime',
  'sync_scan',
  'sync_scan_page',
  'sync_scan_older',
  'sync_dropped_index',
  'sync_watermark',
  'upstream_address',
  'upstream_profile',
]

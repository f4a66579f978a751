/** The tables as Kysely types. The comments in `schema/` give the meaning of each column. */
import type { Generated, GeneratedAlways } from 'kysely'
import type { PeriodKind } from '../../domain/figures.ts'
import type { ScanStop } from '../../domain/sync.ts'
import type { InsightTables } from './insight-tables.ts'
import type { EventTables, LeadTables, PrunedTable } from './lead-tables.ts'
import type { AlertTables, DeliveryTables, PreferenceTables } from './outbox-tables.ts'

interface Installation {
  id: string
  created_at: string
}

interface StageTable {
  status: string
  position: number
  outcome: 'open' | 'won' | 'lost' | 'disqualified'
  in_funnel: number
  is_qualified: Generated<number>
}

interface Pipeline {
  id: string
  name: string
  status: string | null
  first_seen_at: string
  observed_at: string
}

export interface PipelineStatTable {
  pipeline_id: string
  observed_at: string
  as_of: string
  run_id: string
  leads: number | null
  open: number | null
  won: number | null
  lost: number | null
  disqualified: number | null
  win_rate: number | null
  open_value_amount: number | null
  open_value_currency: string | null
  won_value_amount: number | null
  won_value_currency: string | null
  raw: string
}

interface PipelineStageStat {
  pipeline_id: string
  observed_at: string
  status: string
  current: number
  reached: number
  conversion: number | null
  median_hours: number | null
}

interface AgentTable {
  id: string
  name: string
  kind: string | null
  status: string
  status_changed_at: string | null
  task_type: string | null
  task_pipeline_id: string | null
  task_lead_id: string | null
  task_started_at: string | null
  task_progress: number | null
  last_seen_at: string | null
  tasks_24h: number | null
  errors_24h: number | null
  last_error_at: string | null
  last_error_message: string | null
  observed_at: string
  deleted_since: string | null
  raw: string
}

interface AgentSample {
  agent_id: string
  observed_at: string
  run_id: string
  status: string
  task_type: string | null
  task_pipeline_id: string | null
  tasks_24h: number | null
  errors_24h: number | null
}

export interface SyncRunTable {
  id: string
  started_at: string
  finished_at: string | null
  mode: 'incremental' | 'full'
  parts: string
  outcome: 'ok' | 'ok_no_change' | 'partial' | 'deferred' | 'failed' | 'killed' | null
  is_complete: Generated<number>
  leads_as_of: string | null
  leads_seen: Generated<number>
  leads_inserted: Generated<number>
  leads_updated: Generated<number>
  leads_unchanged: Generated<number>
  leads_deleted: Generated<number>
  leads_quarantined: Generated<number>
  stats: Generated<number>
  agents: Generated<number>
  details_read: Generated<number>
  details_not_found: Generated<number>
  details_failed: Generated<number>
  pages: Generated<number>
  requests: Generated<number>
  retries: Generated<number>
  duration_ms: number | null
  problems: Generated<string>
  not_before: string | null
}

export interface SyncScanTable {
  resource: string
  mode: 'incremental' | 'full'
  profile_sha256: string
  is_remap: number
  updated_since: string | null
  started_at: string
  progress_at: string
  page_size: number
  max_updated_at: string | null
  seen: number
  pages: number
  reported_total: number | null
  moved: number
  cleaned: number
  cut: number
  passes_without_new: number
  pass: number
  pass_since: string | null
  cursor: string | null
  pass_seen: number
  pass_new: number
  pass_without_id: number
  pass_pages: number
  pass_moved: number
  is_broken: number
  is_unordered: number
  partial_sign: string | null
  first_rows: number
  idle_pages: number
  last_rows: number
  largest_page: number
  tail: string
  total_low: number | null
  total_high: number | null
}

/** The columns of a new scan that have default values. */
type ScanDefaults = Exclude<
  keyof SyncScanTable,
  'resource' | 'mode' | 'profile_sha256' | 'is_remap' | 'started_at' | 'progress_at' | 'page_size'
>

interface SyncScanResult {
  run_id: string
  mode: 'incremental' | 'full'
  started_at: string
  ended_at: string
  scan_result: 'complete' | 'incomplete' | 'unproven'
  stop: ScanStop
  reported_total: number | null
  distinct_leads: number
  pages: number
  passes: number
  moved: number
  cleaned: number
  cut: number
  warnings: string
  drift: string
  held_back: Generated<number>
}

interface FieldSeen {
  path: string
  types: string
  first_seen_at: string
  last_seen_at: string
  missing_since: string | null
  records: number
  count: number
  nulls: number
  null_share: GeneratedAlways<number>
}

interface QuarantinedRecord {
  resource: 'lead' | 'pipeline_stat' | 'agent' | 'activity'
  raw_sha256: string
  reason: string
  raw: string
  is_whole: number
  first_seen_at: string
  last_seen_at: string
  record_id: string | null
}

export interface ReportIssueTable {
  id: string
  report: string
  period_from: string
  period_to: string
  time_zone: string
  rendered_at: string
  run_id: string | null
  figures: string
  subject: string
  html: string
  text: string
  kind: Generated<PeriodKind>
  variant: Generated<string>
  not_sent: string | null
  program_version: string | null
  figures_format: number | null
}

export interface ScheduledRunTable {
  schedule: string
  due_at: string
  state: 'pending' | 'running' | 'held' | 'done' | 'failed' | 'skipped'
  noted_at: string
  not_before: string | null
  attempts: number
  approved_at: string | null
  started_at: string | null
  finished_at: string | null
  message: string | null
}

export interface DaemonUptimeTable {
  id: GeneratedAlways<number>
  began_at: string
  began_after: 'down' | 'blocked' | 'unwritable' | 'clock'
  down_since: string | null
  last_heartbeat_at: string
  ended_at: string | null
  host: string
  pid: number
}

interface EndedSessionTable {
  id: string
  expires_at: string
}

interface LeaseTable {
  name: string
  holder: string
  host: string
  pid: number
  acquired_at: string
  expires_at: string
}

export interface Tables
  extends LeadTables,
    EventTables,
    InsightTables,
    DeliveryTables,
    PreferenceTables,
    AlertTables {
  installation: Installation
  stage: StageTable
  pipeline: Pipeline
  pipeline_stat: PipelineStatTable
  pipeline_stage_stat: PipelineStageStat
  agent: AgentTable
  agent_sample: AgentSample
  sync_run: SyncRunTable
  sync_scan: {
    [K in keyof SyncScanTable]: K extends ScanDefaults ? Generated<SyncScanTable[K]> : SyncScanTable[K]
  }
  sync_scan_page: { page: number; pass: number; seen: string }
  sync_scan_older: { lead_no: number; raw: string }
  sync_dropped_index: { name: string; sql: string }
  sync_scan_result: SyncScanResult
  sync_watermark: {
    resource: string
    updated_at: string
    not_before: string | null
    has_undated: Generated<number>
  }
  quarantined_record: QuarantinedRecord
  pruned: PrunedTable
  field_seen: FieldSeen
  upstream_address: { id: number; address: string }
  upstream_profile: { id: number; sha256: string; since: string }
  report_issue: ReportIssueTable
  scheduled_run: ScheduledRunTable
  daemon_uptime: DaemonUptimeTable
  lease: LeaseTable
  ended_session: EndedSessionTable
}

/**
 * Meanings of columns whose name says it all to those who made them, and the units that follow from meanings and
 * names. A comment in the schema goes first, unless it says no more than a unit or whose clock it is.
 */

/** By column, or by table and column, or by table. */
export const MEANINGS: Readonly<Record<string, string>> = {
  lead_fts: 'the full-text index over lead_text; search by the view lead_search',
  lead_id: 'lead.id',
  run_id:
    'sync_run.id that read it, or event: and the time of the reading where the upstream had told of it by a webhook',
  won_value_amount: 'value of the leads won, in whole units of won_value_currency',
  won_value_currency: 'currency of won_value_amount, ISO 4217',
  open_value_amount: 'value of the open leads, in whole units of open_value_currency',
  open_value_currency: 'currency of open_value_amount, ISO 4217',
  open: 'leads that are open',
  won: 'leads that were won',
  lost: 'leads that were lost',
  disqualified: 'leads that were disqualified',
  observed_at: 'UTC, by our clock: when we read it',
  'stage.status': 'name of the status',
  'pipeline.first_seen_at': 'UTC, by our clock: when a lead or a setting first named it',
  'pipeline_stat.as_of': "UTC, by the upstream's clock: the moment that the numbers are of",
  'pipeline.id': "the upstream's identifier of the pipeline",
  'agent.id': "the upstream's identifier of the agent",
  'agent.name': 'name of the agent',
  'agent.status_changed_at': "UTC, by the upstream's clock: when its status last changed",
  'agent.task_progress': 'how much of its task is done, 0 to 1',
  'agent.last_seen_at': "UTC, by the upstream's clock: when it last gave a sign of life",
  'agent.task_pipeline_id': 'pipeline.id that it works for',
  'agent.task_lead_id': 'lead.id that it works on',
  'agent.task_started_at': "UTC, by the upstream's clock: when it began its task",
  'agent.errors_24h': 'tasks failed in the 24 hours before',
  'agent.last_error_at': "UTC, by the upstream's clock: when it last failed",
  'agent.last_error_message': 'why it last failed',
  'agent_sample.agent_id': 'agent.id',
  'agent_sample.status': 'such as running, idle, failing, paused',
  'agent_sample.task_type': 'what it works on; null when it does not',
  'agent_sample.task_pipeline_id': 'pipeline.id that it works for',
  'agent_sample.tasks_24h': 'tasks done in the 24 hours before',
  'agent_sample.errors_24h': 'tasks failed in the 24 hours before',
  'field_seen.first_seen_at': 'UTC, by our clock: when a record was first seen to have it',
  'field_seen.last_seen_at': 'UTC, by our clock: when a record was last seen to have it',
  'field_seen.null_share': 'nulls / count, 0 to 1',
  'quarantined_record.first_seen_at': 'UTC, by our clock: when it was first read',
  'quarantined_record.last_seen_at': 'UTC, by our clock: when it was last read',
  'sync_run.started_at': 'UTC, by our clock: when it began',
  'sync_scan_result.ended_at': 'UTC, by our clock: when the reading of the leads ended',
  'sync_run.mode': 'full read all leads, incremental those changed since the run before',
  'sync_run.outcome': 'ok, ok_no_change, partial, deferred, failed or killed; null while running',
  'sync_run.leads_seen': 'distinct leads met',
  'sync_run.leads_inserted': 'leads that were new',
  'sync_run.leads_updated': 'leads that had changed',
  'sync_run.leads_unchanged': 'leads that were as before',
  'sync_run.leads_removed': 'leads that were found to be gone upstream',
  'sync_run.agents': 'agents read',
  'sync_run.pages': 'pages of leads read',
  'sync_run.requests': 'requests sent, retries included',
  'sync_run.retries': 'requests sent again after a failure',
  'sync_run.duration_ms': 'how long it took',
  'sync_scan_result.mode': 'full read all leads, incremental those changed since the run before',
  'quarantined_record.reason': 'why it could not be read',
  'report_issue.id': 'random identifier',
  'report_issue.time_zone': 'IANA zone of the period',
  'report_issue.subject': 'subject of its messages',
  'report_issue.rendered_at': 'UTC, by our clock: when it was made',
}

/** A comment that says how a value is written, or of which table it is, but not what it means. */
export const BARE_UNIT =
  /^(UTC(, by (our|the upstream's) clock)?|0 to 1|ISO 4217|sync_run\.id( that (first )?(read|wrote|marked) (it|them|this row)( removed)?)?)$/

/** The first pattern that a meaning fits says its unit; `$1` is what the pattern finds. */
const UNITS_BY_MEANING: readonly (readonly [RegExp, string])[] = [
  [/^UTC\b/, 'UTC'],
  [/\bin whole units of (?!the\b)(\w+)/, '$1'],
  [/\bISO 4217\b/, 'ISO 4217'],
  [/\b0 to 100\b/, '0 to 100'],
  [/\b0 to 1\b/, '0 to 1'],
  [/^1:|^0:/, '0 or 1'],
  [/^JSON\b|, JSON\b/, 'JSON'],
]

/** By a word of the name. */
const UNITS_BY_NAME: Readonly<Record<string, string>> = {
  ms: 'ms',
  hours: 'hours',
  days: 'days',
  employees: 'people',
}

/** @returns what the values are counted or written in; null where that is no question */
export function unitOf(column: string, meaning: string): string | null {
  for (const [pattern, unit] of UNITS_BY_MEANING) {
    const found = pattern.exec(meaning)
    if (found) return unit.replace('$1', found[1] ?? '')
  }
  const word = column.split('_').find((part) => part in UNITS_BY_NAME)
  return word === undefined ? null : (UNITS_BY_NAME[word] ?? null)
}

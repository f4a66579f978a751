/** The built-in profile of the reference service. */
import { FUNNEL_STATUSES, STAGES } from '../../contract/lead.ts'
import { LEAD_FIELDS } from '../../domain/lead-fields.ts'
import { ACTIVITY_FIELDS, type Profile, parseProfile, STAGE_STAT_FIELDS } from './profile.ts'

export const REFERENCE_PROFILE: Profile = parseProfile(
  {
    name: 'reference',
    paging: {
      kind: 'cursor',
      param: 'cursor',
      next: 'page.next_cursor',
      size_param: 'limit',
      has_more: 'page.has_more',
      total: 'page.total',
    },
    envelope: { leads: 'data', agents: 'data' },
    filters: {
      updated_since: { param: 'updated_since' },
      created_since: { param: 'created_since' },
      pipeline: 'pipeline_id',
      status: 'status',
      min_score: 'min_score',
      q: 'q',
    },
    sort: { sort: 'updated_at' },
    mapping: {
      lead: Object.fromEntries(LEAD_FIELDS.map(({ column }) => [column, wirePath(column)])),
      stat: {
        ...sameNames(['name', 'status', 'as_of', 'win_rate']),
        leads: 'totals.leads',
        open: 'totals.open',
        won: 'totals.won',
        lost: 'totals.lost',
        disqualified: 'totals.disqualified',
        open_value_amount: 'open_value.amount',
        open_value_currency: 'open_value.currency',
        won_value_amount: 'won_value.amount',
        won_value_currency: 'won_value.currency',
      },
      stages: {
        items: 'stages',
        fields: { ...sameNames(STAGE_STAT_FIELDS), status: 'stage' },
      },
      agent: {
        ...sameNames(['id', 'name', 'kind', 'status', 'status_changed_at', 'last_seen_at']),
        task_type: 'current_task.type',
        task_pipeline_id: 'current_task.pipeline_id',
        task_lead_id: 'current_task.lead_id',
        task_started_at: 'current_task.started_at',
        task_progress: 'current_task.progress',
        tasks_24h: 'last_24h.tasks',
        errors_24h: 'last_24h.errors',
        last_error_at: 'last_error.at',
        last_error_message: 'last_error.message',
      },
      enrichment: 'enrichment',
      activity: { items: 'activity', fields: sameNames(ACTIVITY_FIELDS) },
    },
    stages: STAGES.map(({ status, outcome }) => ({
      status,
      outcome,
      in_funnel: FUNNEL_STATUSES.some((step) => step === status),
      qualified: status === 'qualified',
    })),
    webhook: {
      verify: { scheme: 'standard' },
      id: { header: 'webhook-id' },
      type: 'type',
      time: 'timestamp',
      lead: 'data.lead_id',
      pipeline: 'data.pipeline_id',
      agent: 'data.agent_id',
      deleted: ['lead.removed'],
    },
  },
  'reference',
)

/** Maps fields that the service calls by the same names. */
function sameNames(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map((name) => [name, name]))
}

/** `company_name` is `company.name` in the records of the service, and `score` is `score`. */
export function wirePath(column: string): string {
  return column.replace(/^(company|contact|value)_/, '$1.')
}

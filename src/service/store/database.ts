/** The service's SQLite file, separate from leadsheet's store. Instants are whole milliseconds since 1970. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import SQLite from 'better-sqlite3'
import type { Generated, Insertable, Selectable } from 'kysely'
import { Kysely, SqliteDialect } from 'kysely'
import type { LeadStatus, WireActivity } from '../../contract/lead.ts'
import type { AGENT_STATUSES, WirePipeline } from '../../contract/pipeline.ts'
import type { DISABLED_REASONS, EventType } from '../../contract/webhook.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

export type ServiceDatabase = Kysely<ServiceTables>

/** Only its owner may read the file, because it holds the secrets of webhooks. The WAL gets the same mode. */
const MODE = 0o600

/**
 * Opens the database.
 * @param file created with its folder if it does not exist
 * @throws LeadsheetError data_unwritable, store_corrupt, store_newer
 */
export function openServiceDatabase(file: string): ServiceDatabase {
  let sqlite: SQLite.Database | undefined
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (!existsSync(file)) closeSync(openSync(file, 'a', MODE))
    sqlite = new SQLite(file, { timeout: 5000 })
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = NORMAL')
    sqlite.pragma('foreign_keys = ON')
    sqlite.transaction(createTables).immediate(sqlite, file)
    return new Kysely<ServiceTables>({ dialect: new SqliteDialect({ database: sqlite }) })
  } catch (error) {
    sqlite?.close()
    throw error instanceof LeadsheetError ? error : openError(file, error)
  }
}

function createTables(sqlite: SQLite.Database, file: string): void {
  const version = sqlite.pragma('user_version', { simple: true })
  if (version === SCHEMA_VERSION) return
  if (version !== 0) {
    throw new LeadsheetError(
      'store_newer',
      `The service's database ${file} was written by a newer leadsheet.`,
      {
        hint: 'Use the newer version, or name another file.',
      },
    )
  }
  sqlite.exec(SCHEMA)
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
}

function openError(file: string, cause: unknown): LeadsheetError {
  if (cause instanceof SQLite.SqliteError && cause.code === 'SQLITE_NOTADB') {
    return new LeadsheetError('store_corrupt', `The service's database ${file} is not an SQLite file.`, {
      hint: 'Name another file, or move this one away to start afresh.',
      cause,
    })
  }
  return new LeadsheetError(
    'data_unwritable',
    `The service's database ${file} cannot be opened: ${errorText(cause)}.`,
    { hint: 'Check that the folder exists and may be written.', cause },
  )
}

/** Converts a stored instant to the text that the API sends: RFC 3339 in UTC. */
export function instantOf(at: number): string {
  return new Date(at).toISOString()
}

export interface ServiceTables {
  simulation: SimulationTable
  api_key: ApiKeyTable
  pipeline: PipelineTable
  lead: LeadTable
  removed_lead: RemovedLeadTable
  activity: ActivityTable
  event: EventTable
  agent_incident: AgentIncidentTable
  agent_error: AgentErrorTable
  webhook: WebhookTable
  webhook_message: WebhookMessageTable
  webhook_attempt: WebhookAttemptTable
  idempotent_answer: IdempotentAnswer
}

/** The state of the simulation, in the only row of its table. */
interface SimulationTable {
  id: 1
  seed: number
  epoch_at: number
  made_at: number
  simulated_until: number
}

interface ApiKeyTable {
  id: string
  name: string
  scope: KeyScope
  /** The first characters of the key. They are enough to find the key, but not to use it. */
  prefix: string
  sha256: string
  created_at: number
}
export type KeyScope = 'read' | 'write'

interface PipelineTable {
  id: string
  name: string
  /** The criteria of the pipeline: the contract's `Criteria` as JSON. */
  criteria: string
  status: WirePipeline['status']
  created_at: number
  updated_at: number
}
export type PipelineRow = Selectable<PipelineTable>

interface LeadTable {
  id: string
  pipeline_id: string
  company_id: number
  status: LeadStatus
  company_name: string
  company_domain: string | null
  industry: string | null
  subindustry: string | null
  employees: number | null
  city: string | null
  country: string | null
  region: string | null
  one_liner: string | null
  contact_name: string | null
  contact_title: string | null
  contact_email: string | null
  score: number | null
  value_amount: number | null
  value_currency: string | null
  source: string
  agent_id: string | null
  /** A JSON array of strings. */
  tags: string
  /** A JSON object; null until the lead is enriched. */
  enrichment: string | null
  /** The names and addresses that the query `q` searches, in lower case and without accents. */
  search_text: string
  created_at: number
  updated_at: number
  status_changed_at: number
  /** The next step of the lead; null if there is none. The next three columns are then null too. */
  next_step: string | null
  /** The time when the next step is done. */
  next_at: number | null
  /** The agent that does the next step. */
  next_agent_id: string | null
  /** The time when the agent begins to work on the next step. */
  next_task_at: number | null
  /** The number of steps already done. Each step draws its random numbers from this number. */
  step_count: number
}
export type LeadRow = Selectable<LeadTable>

interface RemovedLeadTable {
  lead_id: string
  pipeline_id: string
  company_id: number
  deleted_at: number
}
export type RemovedLeadRow = Selectable<RemovedLeadTable>

interface ActivityTable {
  id: Generated<number>
  lead_id: string
  type: WireActivity['type']
  at: number
  agent_id: string | null
  summary: string
  from_status: LeadStatus | null
  to_status: LeadStatus | null
}
export type ActivityRow = Selectable<ActivityTable>
export type NewActivity = Insertable<ActivityTable>

interface EventTable {
  id: Generated<number>
  type: EventType
  at: number
  pipeline_id: string | null
  lead_id: string | null
  agent_id: string | null
  /** The field `data` of the event as the API sends it, as JSON. */
  data: string
}
export type EventRow = Selectable<EventTable>
export type NewEvent = Insertable<EventTable>

interface AgentIncidentTable {
  agent_id: string
  status: Extract<(typeof AGENT_STATUSES)[number], 'failing' | 'paused'>
  started_at: number
  ends_at: number
}
export type AgentIncidentRow = Selectable<AgentIncidentTable>

interface AgentErrorTable {
  id: Generated<number>
  agent_id: string
  at: number
  message: string
}
export type NewAgentError = Insertable<AgentErrorTable>

interface WebhookTable {
  id: string
  url: string
  /** The types of events that the webhook gets: a JSON array of strings. */
  events: string
  description: string | null
  status: 'active' | 'disabled'
  /** The secret in plain text, because signing a message needs it. */
  secret: string
  created_at: number
  disabled_reason: (typeof DISABLED_REASONS)[number] | null
  disabled_at: number | null
  /** The time of the first failure since a message was last delivered; null if there was no failure. */
  failing_since: number | null
  /** The end of the pause that the receiver asked for; null if the receiver asked for no pause. */
  paused_until: number | null
  /** The id of the last event that was checked for this webhook. Later events have no messages yet. */
  last_event_id: number
}
export type WebhookRow = Selectable<WebhookTable>

/** A message for a webhook: an event or a test message. Its times are real, not simulated. */
interface WebhookMessageTable {
  /** An id such as `msg_…`. Every attempt sends this id in the header `webhook-id`. */
  id: string
  webhook_id: string
  /** The id of the event; null for a test message. */
  event_id: number | null
  type: string
  /** The JSON that every attempt sends. */
  body: string
  state: 'waiting' | 'delivered' | 'failed'
  attempts: number
  created_at: number
  /** The time of the next attempt; null if there is none. */
  next_attempt_at: number | null
}
export type WebhookMessageRow = Selectable<WebhookMessageTable>

interface WebhookAttemptTable {
  id: Generated<number>
  webhook_id: string
  message_id: string
  attempt: number
  at: number
  status: number | null
  error: string | null
  duration_ms: number
}
export type WebhookAttemptRow = Selectable<WebhookAttemptTable>

export interface IdempotentAnswer {
  key_id: string
  path: string
  idempotency_key: string
  request_sha256: string
  /** The body of the answer to the first request with this key. Repeated requests get the same answer. */
  answer: string
  created_at: number
}

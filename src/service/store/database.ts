/** The service's SQLite file, separate from leadsheet's store. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import SQLite from 'better-sqlite3'
import type { Insertable, Selectable } from 'kysely'
import { Kysely, SqliteDialect } from 'kysely'
import type { LeadStatus, WireActivity } from '../../contract/lead.ts'
import type { DISABLED_REASONS, EventType } from '../../contract/webhook.ts'
import { errorText, LeadsheetError } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
import type { Created } from '../../store/tables/created.ts'
import { INDEXES, SCHEMA_VERSION, TABLES } from './schema.ts'

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
    makeFolders(dirname(file))
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
  sqlite.exec([...TABLES, ...INDEXES].join(';\n'))
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

/** The values that the contract allows in columns whose SQL says only TEXT. */
interface OfContract {
  lead: { status: LeadStatus }
  activity: {
    type: WireActivity['type']
    from_status: LeadStatus | null
    to_status: LeadStatus | null
  }
  event: { type: EventType }
  webhook: { disabled_reason: (typeof DISABLED_REASONS)[number] | null }
}

type Plain = Created<(typeof TABLES)[number]>

export type ServiceTables = {
  [T in keyof Plain]: T extends keyof OfContract ? Plain[T] & OfContract[T] : Plain[T]
}

type Row<T extends keyof ServiceTables> = Selectable<ServiceTables[T]>
export type PipelineRow = Row<'pipeline'>
export type LeadRow = Row<'lead'>
export type RemovedLeadRow = Row<'removed_lead'>
export type ActivityRow = Row<'activity'>
export type EventRow = Row<'event'>
export type AgentIncidentRow = Row<'agent_incident'>
export type WebhookRow = Row<'webhook'>
export type WebhookMessageRow = Row<'webhook_message'>
export type WebhookAttemptRow = Row<'webhook_attempt'>
export type IdempotentAnswer = Row<'idempotent_answer'>
export type NewActivity = Insertable<ServiceTables['activity']>
export type NewEvent = Insertable<ServiceTables['event']>
export type NewAgentError = Insertable<ServiceTables['agent_error']>
export type KeyScope = Row<'api_key'>['scope']

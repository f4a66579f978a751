/** The tables of the outbox, the preferences and the alerts, as Kysely types. */
import type { Generated } from 'kysely'

export interface DeliveryTable {
  message_id: string
  issue_id: string | null
  recipient: string
  revision: Generated<number>
  state: 'pending' | 'sending' | 'data' | 'sent' | 'failed' | 'unconfirmed' | 'withdrawn'
  attempts: Generated<number>
  unconfirmed_count: Generated<number>
  queued_at: string
  state_at: string
  next_attempt_at: string | null
  deferred_at: string | null
  reply_code: number | null
  response: string | null
  sender: string | null
}

interface MessageTable {
  message_id: string
  head: string
  files: string
  html: Uint8Array
  text: Uint8Array
}

export interface MailOutageTable {
  server: string
  kind: 'transient' | 'configuration' | 'sender'
  began_at: string
  failures: number
  next_attempt_at: string
  reply_code: number | null
  response: string
}

export interface DeliveryTables {
  delivery: DeliveryTable
  message: MessageTable
  message_file: { sha256: string; content: Uint8Array }
  mail_outage: MailOutageTable
}

export interface PreferenceTable {
  address: string
  report: string
  state: 'active' | 'paused' | 'unsubscribed'
  cadence: 'as_scheduled' | 'weekly'
  changed_at: string
  changed_by: 'recipient' | 'operator' | 'leadsheet'
  reason: string | null
}

export interface PreferenceTables {
  preference: PreferenceTable
  link_key: { id: number; key: Uint8Array; made_at: string }
}

export interface AlertTable {
  id: Generated<number>
  check_id: string
  subject: string
  state: 'pending' | 'open' | 'resolved'
  seen: number
  message: string
  hint: string
  first_seen_at: string
  opened_at: string | null
  reopened_at: string | null
  resolved_at: string | null
  announced: 'nothing' | 'open' | 'resolved'
  announced_at: string | null
  acknowledged_at: string | null
}

export interface AlertMessageTable {
  id: Generated<number>
  made_at: string
  content: string
  post_state: 'pending' | 'sent' | 'failed' | null
  post_attempts: Generated<number>
  next_post_at: string | null
  post_response: string | null
}

export interface HeartbeatPingTable {
  id: number
  run_id: string
  signal: 'start' | 'success' | 'fail' | 'log'
  attempts: number
  next_attempt_at: string | null
  response: string | null
}

export interface AlertTables {
  alert: AlertTable
  alert_message: AlertMessageTable
  heartbeat_ping: HeartbeatPingTable
}

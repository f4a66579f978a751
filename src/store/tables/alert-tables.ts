/** The tables of alerts as Kysely sees them. */
import type { Generated } from 'kysely'

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

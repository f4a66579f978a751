/** The tables of notices as Kysely sees them. */
import type { Generated } from 'kysely'

export interface NoticeTable {
  id: Generated<number>
  reason: string
  subject: string
  state: 'watched' | 'open' | 'closed'
  seen: number
  message: string
  hint: string
  first_seen_at: string
  opened_at: string | null
  reopened_at: string | null
  closed_at: string | null
  told: 'nothing' | 'raised' | 'over'
  told_at: string | null
  acknowledged_at: string | null
}

export interface NoticeMessageTable {
  id: Generated<number>
  made_at: string
  content: string
  post_state: 'pending' | 'sent' | 'failed' | null
  post_attempts: Generated<number>
  next_post_at: string | null
  post_response: string | null
}

export interface PingTable {
  id: number
  run_id: string
  signal: 'start' | 'success' | 'fail' | 'log'
  attempts: number
  next_attempt_at: string | null
  response: string | null
}

export interface NoticeTables {
  notice: NoticeTable
  notice_message: NoticeMessageTable
  ping: PingTable
}

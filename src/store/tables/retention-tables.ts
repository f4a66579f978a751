/** The table of what has been pruned, as Kysely sees it. */

export interface PrunedTable {
  table_name: string
  rule: 'hourly' | 'daily' | 'ended'
  before: string
  pruned_at: string
  rows: number
}

export interface RetentionTables {
  pruned: PrunedTable
}

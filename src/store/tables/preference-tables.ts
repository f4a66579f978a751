/** The tables of subscriptions as Kysely sees them. */

export interface SubscriptionTable {
  address: string
  report: string
  state: 'active' | 'paused' | 'unsubscribed'
  cadence: 'as_scheduled' | 'weekly'
  changed_at: string
  changed_by: 'recipient' | 'operator' | 'leadsheet'
  reason: string | null
}

export interface SubscriptionTables {
  subscription: SubscriptionTable
  link_key: { id: number; key: Uint8Array; made_at: string }
}

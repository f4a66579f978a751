/** The tables of preferences as Kysely sees them. */

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

/**
 * Subscriptions: what somebody wishes of a report otherwise than the settings say. Who has none of their own gets what
 * the settings say; a row stays when its address leaves the settings, so that who unsubscribed stays so.
 */
import type { Selectable } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { SubscriptionTable } from '../tables/preference-tables.ts'

export interface SubscriptionKey {
  /** However it is written: mail servers hold two ways to write an address for one. */
  readonly address: string
  /** Name of the report. */
  readonly report: string
}

export interface Subscription extends SubscriptionKey {
  readonly state: SubscriptionTable['state']
  readonly cadence: SubscriptionTable['cadence']
  readonly changedAt: Instant
  readonly changedBy: SubscriptionTable['changed_by']
  readonly reason: string | null
}

export async function findSubscription(
  db: Db,
  { address, report }: SubscriptionKey,
): Promise<Subscription | undefined> {
  const row = await db
    .selectFrom('subscription')
    .where('address', '=', address.toLowerCase())
    .where('report', '=', report)
    .selectAll()
    .executeTakeFirst()
  return row && subscriptionOf(row)
}

/** @param report of all reports unless given; in order of report and address */
export async function listSubscriptions(db: Db, report?: string): Promise<Subscription[]> {
  const all = db.selectFrom('subscription').selectAll().orderBy('report').orderBy('address')
  const rows = await (report === undefined ? all : all.where('report', '=', report)).execute()
  return rows.map(subscriptionOf)
}

/** In the place of an earlier one of the same address and report. */
export async function saveSubscription(trx: Trx, subscription: Subscription): Promise<void> {
  const { address, report, state, cadence, changedAt, changedBy, reason } = subscription
  const wish = { state, cadence, changed_at: changedAt, changed_by: changedBy, reason }
  await trx
    .insertInto('subscription')
    .values({ address: address.toLowerCase(), report, ...wish })
    .onConflict((conflict) => conflict.columns(['address', 'report']).doUpdateSet(wish))
    .execute()
}

function subscriptionOf(row: Selectable<SubscriptionTable>): Subscription {
  return {
    address: row.address,
    report: row.report,
    state: row.state,
    cadence: row.cadence,
    changedAt: row.changed_at,
    changedBy: row.changed_by,
    reason: row.reason,
  }
}

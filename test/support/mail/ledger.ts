/** A store with messages that wait to be sent. No report was made for them. */
import { type MessageContent, messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import type { DeliverDeps } from '../../../src/jobs/outbox/send-batch.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { type Delivery, listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { type Issue, saveIssue } from '../../../src/store/reports/issue.ts'
import { folderWith } from '../folder.ts'
import { busyDay } from '../reports/figures.ts'
import { openNewStore } from '../store.ts'
import { SILENT } from '../syncing.ts'
import { enqueueMessage, SENDER } from './message.ts'
import { AT_ONCE } from './reports.ts'

export const CONTENT: MessageContent = {
  subject: 's',
  html: 'h',
  text: 't',
  lang: 'en',
  files: [],
  notAttached: '',
}

export interface Ledger extends AsyncDisposable {
  readonly store: Store
  readonly issue: Issue
  /** A clock that tests move. */
  readonly clock: { now: Date }
  readonly deps: Omit<DeliverDeps, 'transport'>
  /** Returns the deliveries in the order of their recipients. */
  deliveries(): Promise<Delivery[]>
}

/** Opens a store with an issue whose messages were queued at 07:00, in the order of their recipients. */
export async function openLedger(recipients: readonly string[], content = CONTENT): Promise<Ledger> {
  const clock = { now: new Date('2026-11-21T07:00:00Z') }
  const store = await openNewStore(`${folderWith()}/leadsheet.db`, clock.now)
  const figures = busyDay()
  const issue = await store.write((trx) =>
    saveIssue(trx, {
      report: 'daily',
      period: figures.period,
      renderedAt: clock.now.toISOString(),
      figures,
      variant: '',
      programVersion: null,
      subject: 's',
      html: 'h',
      text: 't',
    }),
  )
  await store.write(async (trx) => {
    for (const address of recipients) {
      const message = messageFor(store, issue, { address, name: null }, content, SENDER)
      await enqueueMessage(trx, issue.id, message, issue.renderedAt)
    }
  })
  return {
    store,
    issue,
    clock,
    deps: { store, log: SILENT, now: () => clock.now, policy: AT_ONCE },
    deliveries: () => listDeliveries(store.db, issue.id),
    [Symbol.asyncDispose]: store.close,
  }
}

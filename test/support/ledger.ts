/** A ledger with letters that wait, without a report that was made for them. */
import { type LetterContent, letterFor } from '../../src/jobs/outbox/message.ts'
import type { DeliverDeps } from '../../src/jobs/outbox/send-batch.ts'
import type { Store } from '../../src/store/db/store.ts'
import { type Delivery, listDeliveries } from '../../src/store/outbox/delivery.ts'
import { type Edition, saveEdition } from '../../src/store/reports/issue.ts'
import { busyDay } from './figures.ts'
import { folderWith } from './folder.ts'
import { enqueueLetter, SENDER } from './letter.ts'
import { AT_ONCE } from './mailing.ts'
import { openNewStore } from './store.ts'
import { SILENT } from './syncing.ts'

export const CONTENT: LetterContent = { subject: 's', html: 'h', text: 't', lang: 'en', files: [] }

export interface Ledger extends AsyncDisposable {
  readonly store: Store
  readonly edition: Edition
  /** Tests move it on. */
  readonly clock: { now: Date }
  readonly deps: Omit<DeliverDeps, 'transport'>
  /** In order of the recipients. */
  deliveries(): Promise<Delivery[]>
}

/** An edition whose letters were queued at 07:00, in the order of their recipients. */
export async function openLedger(recipients: readonly string[], content = CONTENT): Promise<Ledger> {
  const clock = { now: new Date('2026-11-21T07:00:00Z') }
  const store = await openNewStore(`${folderWith()}/leadsheet.db`, clock.now)
  const figures = busyDay()
  const edition = await store.write((trx) =>
    saveEdition(trx, {
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
      const letter = letterFor(store, edition, { address, name: null }, content, SENDER)
      await enqueueLetter(trx, edition.id, letter, edition.renderedAt)
    }
  })
  return {
    store,
    edition,
    clock,
    deps: { store, log: SILENT, now: () => clock.now, policy: AT_ONCE },
    deliveries: () => listDeliveries(store.db, edition.id),
    [Symbol.asyncDispose]: store.close,
  }
}

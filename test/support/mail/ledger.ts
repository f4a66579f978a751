/** A store with messages that wait to be sent. No report was made for them. */
import { type MessageContent, messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import { deliverDue } from '../../../src/jobs/outbox/send-due.ts'
import { openTransport, type Transport } from '../../../src/mail/transport.ts'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import { enqueueMessage, listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { type Issue, saveIssue } from '../../../src/store/reports/issue.ts'
import { folderWith } from '../folder.ts'
import { openNewStore } from '../store.ts'
import { SILENT } from '../syncing.ts'
import { SENDER, unsavedIssue } from './message.ts'
import { AT_ONCE } from './reports.ts'

export const CONTENT: MessageContent = {
  subject: 's',
  html: 'h',
  text: 't',
  lang: 'en',
  files: [],
  notAttached: '',
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>

/** Opens a store with an issue whose messages were queued at 07:00, in the order of their recipients. */
export async function openLedger(recipients: readonly string[], content = CONTENT) {
  const clock = { now: new Date('2026-11-21T07:00:00Z') }
  const store = await openNewStore(`${folderWith()}/leadsheet.db`, clock.now)
  const renderedAt = clock.now.toISOString()
  const issue = await store.write((trx) => saveIssue(trx, unsavedIssue({ renderedAt })))
  await store.write(async (trx) => {
    for (const address of recipients) await enqueueTo(trx, store, issue, address, content)
  })
  const deliveries = () => listDeliveries(store.db, issue.id)
  return {
    store,
    issue,
    /** A clock that tests move. */
    clock,
    deps: { store, log: SILENT, now: () => clock.now, policy: AT_ONCE },
    /** Returns the deliveries in the order of their recipients. */
    deliveries,
    async first() {
      const [first] = await deliveries()
      if (first === undefined) throw new Error('found no message')
      return first
    },
    /** Returns the recipient, the state and the attempts of each message. */
    states: async () =>
      (await deliveries()).map(({ recipient, state, attempts }) => [recipient, state, attempts]),
    [Symbol.asyncDispose]: store.close,
  }
}

/** Queues the message of an issue to one recipient, at the time at which the issue was made. */
export async function enqueueTo(
  trx: Trx,
  store: Store,
  issue: Issue,
  address: string,
  content = CONTENT,
): Promise<void> {
  const message = messageFor(store, issue, { address, name: null }, content, SENDER)
  await enqueueMessage(trx, issue.id, message, issue.renderedAt)
}

export type Post<Server extends AsyncDisposable & { readonly url: string }> = Awaited<
  ReturnType<typeof openPost<Server>>
>

/** Opens a ledger beside a mail server. Both are closed together. */
export async function openPost<Server extends AsyncDisposable & { readonly url: string }>(
  recipients: readonly string[],
  opening: Promise<Server>,
  open = (url: string): Transport => openTransport(url, { log: SILENT }),
) {
  const ledger = await openLedger(recipients)
  const server = await opening
  const transport = open(server.url)
  const deps = { ...ledger.deps, transport }
  return {
    ...ledger,
    server,
    transport,
    deps,
    /** Moves the clock by so many minutes, and sends what is due. */
    deliver(minutes = 0) {
      ledger.clock.now = new Date(ledger.clock.now.getTime() + minutes * 60_000)
      return deliverDue(deps, new AbortController().signal)
    },
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await ledger[Symbol.asyncDispose]()
    },
  }
}

/** Returns a mail server that cannot be reached. */
export async function openNoServer(): Promise<AsyncDisposable & { readonly url: string }> {
  return { url: 'smtp://127.0.0.1:1', [Symbol.asyncDispose]: async () => undefined }
}

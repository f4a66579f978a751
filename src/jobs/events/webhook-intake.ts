/**
 * Stores incoming events. The sender gets its answer only after the events are on disk. Events that arrive
 * during a write are written together in the next transaction, so that ten thousand events a minute need only
 * a few commits a second.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { UpstreamEvent } from '../../domain/model.ts'
import type { Store } from '../../store/db/store.ts'
import { saveEvents } from '../../store/events/event.ts'

/* Limits for what may wait to be written to disk, so that a burst of events fits into memory. */

const MESSAGES_MAX = 1000
const EVENTS_MAX = 10_000
/** The maximum pause after a transaction, which lasts as long as the transaction took. */
const REST_MAX_MS = 20

interface WebhookIntakeDeps {
  readonly store: Store
  readonly now: () => Date
  readonly wake: () => void
}

export interface WebhookIntake {
  /**
   * Stores the events of one message. Resolves to true once the events are on disk. Resolves to false if too
   * many events are waiting; the sender must then send the message again later.
   * @throws LeadsheetError such as data_unwritable; the events are then not on disk
   */
  take(events: readonly UpstreamEvent[]): Promise<boolean>
}

interface Message {
  readonly events: readonly UpstreamEvent[]
  readonly onWritten: () => void
  readonly onFailed: (reason: unknown) => void
}

export function createWebhookIntake({ store, now, wake }: WebhookIntakeDeps): WebhookIntake {
  const waiting: Message[] = []
  let events = 0
  let isWriting = false

  async function writeWaiting(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const began = performance.now()
      await write(waiting.splice(0))
      await delay(Math.min(REST_MAX_MS, performance.now() - began))
    }
    isWriting = false
  }

  async function write(messages: readonly Message[]): Promise<void> {
    try {
      const all = messages.flatMap((message) => message.events)
      const hasNew = await store.write((trx) => saveEvents(trx, all, now().toISOString()))
      for (const message of messages) message.onWritten()
      if (hasNew) wake()
    } catch (thrown) {
      for (const message of messages) message.onFailed(thrown)
    }
    for (const message of messages) events -= message.events.length
  }

  return {
    async take(arrived) {
      if (arrived.length === 0) return true
      if (waiting.length >= MESSAGES_MAX || events > EVENTS_MAX) return false
      await new Promise<void>((onWritten, onFailed) => {
        waiting.push({ events: arrived, onWritten, onFailed })
        events += arrived.length
        if (!isWriting) void writeWaiting()
      })
      return true
    },
  }
}

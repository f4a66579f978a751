/**
 * Where events are taken in: on disk before their sender is told so. What comes while the disk is busy goes in by the
 * next transaction together, so that ten thousand a minute cost a few commits a second.
 */
import type { UpstreamEvent } from '../model.ts'
import { saveEvents } from '../store/event.ts'
import type { Store } from '../store/open.ts'

/** Messages that may wait to be written, and the characters of their records, so that a burst fits into memory. */
const MESSAGES_MAX = 1000
const CHARACTERS_MAX = 32 * 1024 * 1024
/** Messages of one transaction: others want to write, too. */
const MESSAGES_AT_ONCE = 200

export interface InboxDeps {
  readonly store: Store
  readonly now: () => Date
  /** Called when there is something new to follow. */
  readonly poke: () => void
}

export interface Inbox {
  /**
   * The events of one message. Resolves once they are on disk; false where too many wait to be written: come again
   * later.
   * @throws LeadsheetError data_unwritable and the like: they are not on disk
   */
  take(events: readonly UpstreamEvent[]): Promise<boolean>
}

interface Message {
  readonly events: readonly UpstreamEvent[]
  readonly characters: number
  readonly onWritten: () => void
  readonly onFailed: (reason: unknown) => void
}

export function createInbox({ store, now, poke }: InboxDeps): Inbox {
  const waiting: Message[] = []
  let characters = 0
  let isWriting = false

  async function writeWaiting(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) await write(waiting.splice(0, MESSAGES_AT_ONCE))
    isWriting = false
  }

  async function write(messages: readonly Message[]): Promise<void> {
    try {
      const events = messages.flatMap((message) => message.events)
      const hasNew = await store.write((trx) => saveEvents(trx, events, now().toISOString()))
      for (const message of messages) message.onWritten()
      if (hasNew) poke()
    } catch (thrown) {
      for (const message of messages) message.onFailed(thrown)
    }
    for (const message of messages) characters -= message.characters
  }

  return {
    async take(events) {
      if (waiting.length >= MESSAGES_MAX || characters > CHARACTERS_MAX) return false
      await new Promise<void>((onWritten, onFailed) => {
        const message = { events, characters: charactersOf(events), onWritten, onFailed }
        waiting.push(message)
        characters += message.characters
        if (!isWriting) void writeWaiting()
      })
      return true
    },
  }
}

function charactersOf(events: readonly UpstreamEvent[]): number {
  return events.reduce((sum, { record }) => sum + (record?.length ?? 0), 0)
}

/** Prints each lead that an event has changed in the local copy, as soon as the change is stored. */
import { setTimeout as delay } from 'node:timers/promises'
import { counted } from '../../report/words/numbers.ts'
import type { Store } from '../../store/db/store.ts'
import { countEvents, type EventNews, listEvents } from '../../store/events/event-stats.ts'
import { formatChange } from '../../web/dashboard/status/events.ts'
import { plainText } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface LiveChanges {
  /** Records that the service has now played all its changes up to the simulated time `until`. */
  notePlayed(until: Date): void
  /** Prints changes until the signal aborts, and then a summary. */
  tell(store: Pick<Store, 'db'>, signal: AbortSignal): Promise<void>
}

const LOOK_MS = 100
// More events than can arrive between two reads of the store.
const EVENTS_MAX = 200
// The delay of a webhook message is measured if the message arrives within this time.
const REMEMBERED_MS = 60 * 60_000
const NAME_CELLS = 32

/**
 * The real time `at` (Unix ms) at which the service had played all its changes up to the simulated time
 * `until`.
 */
interface Played {
  readonly until: string
  readonly at: number
}

/** @param now the clock of the local copy, in Unix ms */
export function createLiveChanges(
  terminal: Pick<Terminal, 'json' | 'print'>,
  now: () => number = Date.now,
): LiveChanges {
  const played: Played[] = []
  const told = new Set<string>()
  const seconds: number[] = []

  function printNew(events: readonly EventNews[]): void {
    for (const event of events.toReversed()) {
      // Several events of one lead can lead to a single read, which is printed once.
      const landing = `${event.resourceId} ${event.doneAt}`
      if (!isLanded(event) || told.has(landing)) continue
      told.add(landing)
      const after = (Date.parse(event.doneAt) - happenedAt(event, played)) / 1000
      seconds.push(after)
      terminal.print(terminal.json ? jsonOf(event, after) : lineOf(event, after))
    }
  }

  return {
    notePlayed(until) {
      const at = now()
      played.push({ until: until.toISOString(), at })
      while ((played[0]?.at ?? at) < at - REMEMBERED_MS) played.shift()
    },
    async tell({ db }, signal) {
      let seen = -1
      while (!signal.aborted) {
        const counts = await countEvents(db)
        const done = counts.reduce((sum, { events }) => sum + events, 0)
        if (done !== seen) printNew(await listEvents(db, EVENTS_MAX))
        seen = done
        await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
      }
      if (!terminal.json) terminal.print('', ending(seconds))
    },
  }
}

type Landed = EventNews & { readonly doneAt: string }

function isLanded(event: EventNews): event is Landed {
  const changes: readonly (string | null)[] = ['inserted', 'updated', 'removed']
  return event.resource === 'lead' && event.doneAt !== null && changes.includes(event.outcome)
}

/**
 * Returns the time (Unix ms) from which the service had the change. If that time is unknown, returns the time
 * at which the event arrived.
 */
function happenedAt({ occurredAt, receivedAt }: EventNews, played: readonly Played[]): number {
  const first = played.find(({ until }) => occurredAt !== null && occurredAt <= until)
  return first?.at ?? Date.parse(receivedAt)
}

/** Formats a change: `14:02:07    0.30 s  Acme Ltd.    qualified → contacted`. */
function lineOf(event: Landed, after: number): string {
  const time = new Date(event.doneAt).toLocaleTimeString('en-GB')
  const name = plainText(event.name ?? event.resourceId).slice(0, NAME_CELLS)
  return `${time}  ${after.toFixed(2).padStart(6)} s  ${name.padEnd(NAME_CELLS)}  ${changeOf(event)}`
}

function changeOf({ outcome, change }: EventNews): string {
  if (outcome === 'removed') return 'removed'
  const fields = formatChange(change) ?? 'other details'
  return outcome === 'inserted' ? `new, ${fields}` : fields
}

function jsonOf(event: Landed, after: number): string {
  const data = {
    ...{ at: event.doneAt, lead: event.resourceId, company: event.name, outcome: event.outcome },
    ...{ from: event.change?.before?.status ?? null, to: event.change?.after.status ?? null },
    ...{ change: changeOf(event), event: event.id, type: event.type, seconds: after },
  }
  return JSON.stringify({ data })
}

function ending(seconds: readonly number[]): string {
  if (seconds.length === 0) return 'No lead has changed.'
  const sorted = seconds.toSorted((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(2)
  return `${counted(seconds.length, 'change')} came by events: half of them within ${at(0.5)} s, the slowest within ${at(1)} s.`
}

/**
 * Updates open pages by server-sent events. The store is asked only while somebody listens, a few times a second for all
 * listeners, and only parts that changed are sent, rendered as the page itself would.
 */
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { AddRoutes } from '../../server/server.ts'

export interface LiveParts {
  /** Cheap; gives another text when the parts may have changed. */
  readonly readStamp: () => Promise<string>
  /** The HTML of each part, by the id of the element that it fills. */
  readonly renderParts: () => Promise<ReadonlyMap<string, string>>
  /** The time that the page shows. */
  readonly formatTime: () => string
}

const LOOK_MS = 250
/** The least time between two renderings, while a sync writes page after page. */
const REST_MS = 500
/** Parts are rendered at least so often, since `4 min ago` changes by itself; listeners then also get a heartbeat. */
const BEAT_MS = 10_000
/** A connection ends then, so that the guard is asked again: a session may have ended. */
const LIFE_MS = 10 * 60_000
const AGAIN_MS = 1_000
const LISTENERS_MAX = 48
/** A listener that does not read is disconnected, and comes back. */
const UNREAD_BYTES_MAX = 2_000_000

interface Listener {
  readonly stream: PassThrough
  /** The HTML that was sent last, by id. */
  readonly sent: Map<string, string>
}

export function liveRoutes(parts: LiveParts, log: Log): AddRoutes {
  const listeners = new Set<Listener>()
  const stop = new AbortController()
  let looking: Promise<void> | null = null
  return (app) => {
    app.addHook('onClose', async () => {
      stop.abort()
      await looking
    })
    // A HEAD request would hold a place without listening.
    app.get('/events', { exposeHeadRoute: false }, (_, reply) => {
      if (listeners.size >= LISTENERS_MAX) return reply.code(503).header('Retry-After', '30').send()
      const stream = new PassThrough()
      const listener = { stream, sent: new Map<string, string>() }
      const end = setTimeout(() => stream.end(), LIFE_MS)
      stream.once('close', () => {
        clearTimeout(end)
        listeners.delete(listener)
      })
      stream.write(`retry: ${AGAIN_MS}\n\n`)
      listeners.add(listener)
      looking ??= keepLooking(listeners, parts, log, stop.signal).finally(() => {
        looking = null
      })
      // Keeps proxies from buffering.
      return reply.header('X-Accel-Buffering', 'no').type('text/event-stream').send(stream)
    })
  }
}

/** Looks until nobody listens any more. */
async function keepLooking(
  listeners: ReadonlySet<Listener>,
  { readStamp, renderParts, formatTime }: LiveParts,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  let shown = { stamp: '', at: Number.NEGATIVE_INFINITY, html: new Map() as ReadonlyMap<string, string> }
  while (listeners.size > 0 && !signal.aborted) {
    let pauseMs = LOOK_MS
    try {
      const stamp = await readStamp()
      const sinceMs = performance.now() - shown.at
      const isBeat = sinceMs >= BEAT_MS
      const isNew = stamp !== shown.stamp && sinceMs >= REST_MS
      if (isNew || isBeat) {
        const html = await renderParts()
        shown = { stamp, html, at: performance.now() }
      }
      for (const listener of listeners) {
        for (const [id, html] of shown.html) {
          if (listener.sent.get(id) === html) continue
          listener.sent.set(id, html)
          send(listener, 'part', JSON.stringify({ id, html }))
        }
        if (isBeat) send(listener, 'beat', formatTime())
      }
    } catch (thrown) {
      // Listeners notice the silence and say so; it may pass.
      log.warn({ err: thrown }, `the status cannot be read: ${errorText(thrown)}`)
      pauseMs = REST_MS
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

function send({ stream }: Listener, event: string, data: string): void {
  if (stream.writableLength > UNREAD_BYTES_MAX) stream.destroy()
  else stream.write(`event: ${event}\ndata: ${data}\n\n`)
}

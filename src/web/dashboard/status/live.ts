/**
 * Updates open status pages by server-sent events. While any page is open, the server checks a few times a
 * second whether the store has changed, once for all pages together. It sends only the parts of the page that
 * changed.
 */
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { AddRoutes } from '../../server/server.ts'

export interface LiveParts {
  /** Returns a text that changes whenever the parts may have changed. This function is cheap. */
  readonly readStamp: () => Promise<string>
  /** Renders the HTML of all parts. The keys are the ids of their elements in the page. */
  readonly renderParts: () => Promise<ReadonlyMap<string, string>>
  /** Returns the current time as the page shows it. */
  readonly formatTime: () => string
}

const LOOK_MS = 250
// The shortest time between two renderings. A sync changes the store with every page of leads, and rendering
// each time would cost too much.
const REST_MS = 500
// Parts are rendered at least this often, because texts such as `4 min ago` change by themselves. Listeners
// get a heartbeat at the same time.
const HEARTBEAT_MS = 10_000
// A connection ends after this time, so that the guard checks the session again.
const LIFE_MS = 10 * 60_000
const AGAIN_MS = 1_000
const LISTENERS_MAX = 48
// A listener with more unread bytes than this is disconnected. The browser then connects again.
const UNREAD_BYTES_MAX = 2_000_000

interface Listener {
  readonly stream: PassThrough
  /** The HTML of each part that was last sent to this page, by the id of the part's element. */
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
    // HEAD is not supported here, because such a request would count as a listener but never listen.
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
      // This header tells proxies not to buffer the answer.
      return reply.header('X-Accel-Buffering', 'no').type('text/event-stream').send(stream)
    })
  }
}

/** Checks the store and sends changed parts until no page listens any more. */
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
      const isHeartbeat = sinceMs >= HEARTBEAT_MS
      const isNew = stamp !== shown.stamp && sinceMs >= REST_MS
      if (isNew || isHeartbeat) {
        const html = await renderParts()
        shown = { stamp, html, at: performance.now() }
      }
      for (const listener of listeners) {
        for (const [id, html] of shown.html) {
          if (listener.sent.get(id) === html) continue
          listener.sent.set(id, html)
          send(listener, 'part', JSON.stringify({ id, html }))
        }
        if (isHeartbeat) send(listener, 'heartbeat', formatTime())
      }
    } catch (thrown) {
      // The loop goes on, because the error may be temporary. The page gets no heartbeat, and so shows that
      // it is no longer updated.
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

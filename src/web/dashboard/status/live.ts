/**
 * Pages that change while they are looked at, by server-sent events. The store is looked at only while somebody
 * listens, some times a second for all of them, and sent is only what has changed, as the page itself would show it.
 */
import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { AddRoutes } from '../../server/server.ts'

export interface LiveParts {
  /** Another text when the parts may have changed; cheap. */
  readonly readStamp: () => Promise<string>
  /** The HTML of each, by the id of the element that it fills. */
  readonly renderParts: () => Promise<ReadonlyMap<string, string>>
  /** What the clock of the page shows. */
  readonly tellTime: () => string
}

const LOOK_MS = 250
/** While much is written, as by a sync, the parts are not made anew each time. */
const REST_MS = 500
/** How long ago something was changes by itself; and who listens hears of it, so that they know that we live. */
const BEAT_MS = 10_000
/** The guard is asked again then: a session may have ended. */
const LIFE_MS = 10 * 60_000
const AGAIN_MS = 1_000
const LISTENERS_MAX = 48
/** Who does not take what is sent is let go, and comes back. */
const UNREAD_BYTES_MAX = 2_000_000

interface Listener {
  readonly stream: PassThrough
  /** The last that was sent, by id. */
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
    // Asked by HEAD it would hold a place that nobody listens at.
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
      // Proxies would wait for more.
      return reply.header('X-Accel-Buffering', 'no').type('text/event-stream').send(stream)
    })
  }
}

/** Until nobody listens any more. */
async function keepLooking(
  listeners: ReadonlySet<Listener>,
  { readStamp, renderParts, tellTime }: LiveParts,
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
        if (isBeat) send(listener, 'beat', tellTime())
      }
    } catch (thrown) {
      // Who listens hears nothing, and says so; it may pass.
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

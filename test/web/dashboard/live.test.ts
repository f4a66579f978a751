/**
 * The live parts of a page are sent only when they change, only to listeners, and not to too many of them.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { openWebPages } from '../../../src/report/preferences/page.ts'
import { upsertAlerts } from '../../../src/store/alerts/alert.ts'
import { type LiveParts, liveRoutes } from '../../../src/web/dashboard/status/live.ts'
import { openWeb } from '../../../src/web/server/server.ts'
import { TEMPLATES_FOLDER } from '../../support/report.ts'
import { lead, save, saveWholeRun } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'
import { openStatusPage } from '../../support/web/status-page.ts'

/** A little longer than the time between two checks. */
const LOOKED_WITHIN_MS = 1_200

interface Event {
  readonly name: string
  readonly data: string
}

/** Listens until the end of the test. */
async function listen(url: string) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const response = await fetch(`${url}/events`, { signal: stop.signal })
  const events = eventsOf(response)
  return {
    response,
    stop: () => stop.abort(),
    /** Returns the next event; null if the stream has ended. */
    next: async (): Promise<Event | null> => (await events.next()).value ?? null,
    /** Reads up to a heartbeat, or to the end. */
    async untilHeartbeat(): Promise<string[]> {
      const names: string[] = []
      for (
        let event = await this.next();
        event !== null && event.name !== 'heartbeat';
        event = await this.next()
      )
        names.push(event.name === 'part' ? JSON.parse(event.data).id : event.name)
      return names
    },
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<Event> {
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, name = 'retry'] = /^event: (.*)$/m.exec(block) ?? []
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? []
      yield { name, data }
    }
  }
}

/** Opens a server with parts that the test makes. */
async function openLive(parts: Partial<LiveParts> = {}) {
  const pages = await openWebPages(TEMPLATES_FOLDER)
  const live = liveRoutes(
    {
      readStamp: async () => 'same',
      renderParts: async () => new Map([['a', '<b>1</b>']]),
      formatTime: () => '13:00',
      ...parts,
    },
    SILENT,
  )
  const trustedProxies = ['loopback']
  const server = await openWeb(
    { host: '127.0.0.1', port: 0, publicUrl: null, trustedProxies, pages, log: SILENT },
    [live],
  )
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

it('sends all parts at first, and then only those that have changed', async () => {
  const { url, store, clock } = await openStatusPage()
  await save(store, [lead('a')])
  await saveWholeRun(store, '2026-11-21T11:56:00Z')
  const listener = await listen(url)
  expect(listener.response.headers.get('content-type')).toBe('text/event-stream')
  expect(listener.response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await listener.untilHeartbeat()).toEqual([
    'retry',
    ...['part-head', 'part-progress', 'part-findings', 'part-freshness', 'part-schedules'],
    ...['part-runs', 'part-messages', 'part-records', 'part-installation'],
  ])
  const at = clock.now.toISOString()
  await store.write((trx) =>
    upsertAlerts(trx, [
      {
        id: 1,
        check: 'clock_wrong',
        subject: 'sync',
        state: 'open',
        seen: 1,
        message: 'It <hangs>.',
        hint: 'Look.',
        firstSeenAt: at,
        openedAt: at,
        reopenedAt: null,
        resolvedAt: null,
        announced: 'open',
        announcedAt: at,
        acknowledgedAt: null,
      },
    ]),
  )
  const parts = [await listener.next(), await listener.next()].map((event) => JSON.parse(event?.data ?? '{}'))
  expect(parts.map(({ id }) => id)).toEqual(['part-head', 'part-findings'])
  expect(parts[1].html).toContain('It &lt;hangs&gt;.')
})

it('looks at nothing while nobody listens, and renders nothing while nothing changes', async () => {
  let stamps = 0
  let renders = 0
  const { url } = await openLive({
    readStamp: async () => {
      stamps += 1
      return 'same'
    },
    renderParts: async () => {
      renders += 1
      return new Map()
    },
  })
  expect(stamps).toBe(0)
  const listener = await listen(url)
  await listener.untilHeartbeat()
  await until(() => stamps >= 3)
  expect(renders).toBe(1)
  listener.stop()
  const countLooks = async (): Promise<number> => {
    const before = stamps
    await delay(LOOKED_WITHIN_MS)
    return stamps - before
  }
  await expect.poll(countLooks).toBe(0)
})

it('shows what is written without a pause twice a second at most, and the last of it for sure', async () => {
  let written = 0
  let isWriting = true
  const rendered: number[] = []
  const { url } = await openLive({
    readStamp: async () => `${isWriting ? ++written : written}`,
    renderParts: async () => {
      rendered.push(performance.now())
      return new Map([['a', `<b>${written}</b>`]])
    },
  })
  const listener = await listen(url)
  await until(() => rendered.length >= 3)
  isWriting = false
  let last = ''
  while (!last.includes(`<b>${written}</b>`)) last = (await listener.next())?.data ?? ''
  const pauses = rendered.slice(1).map((at, index) => at - (rendered[index] ?? 0))
  expect(Math.min(...pauses)).toBeGreaterThan(490)
})

it('goes on after what could not be read, and says nothing meanwhile', async () => {
  let looks = 0
  const { url } = await openLive({
    readStamp: async () => {
      looks += 1
      if (looks === 1) throw new Error('the store is locked')
      return 'there'
    },
  })
  const listener = await listen(url)
  expect(await listener.untilHeartbeat()).toEqual(['retry', 'a'])
  expect(looks).toBe(2)
})

it('has room for some dozens, and for another one as soon as one has gone', async () => {
  const { url } = await openLive()
  const listeners = await Promise.all(Array.from({ length: 48 }, () => listen(url)))
  const refused = await fetch(`${url}/events`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
  listeners[7]?.stop()
  await expect.poll(async () => (await listen(url)).response.status).toBe(200)
  expect((await fetch(`${url}/events`, { method: 'HEAD' })).status).toBe(404)
})

it('ends with the server, at once', async () => {
  const server = await openLive()
  const listener = await listen(server.url)
  await listener.untilHeartbeat()
  const begun = performance.now()
  await server[Symbol.asyncDispose]()
  expect(await listener.next().catch(() => null)).toBeNull()
  expect(performance.now() - begun).toBeLessThan(10_000)
})

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo).toBe(true)
}

/**
 * The service is killed while it sends webhooks. Each event still arrives, and a repeated one can be
 * recognised.
 */
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, it } from 'vitest'
import { EVENT_TYPES } from '../../src/contract/webhook.ts'
import { startService } from '../service/support/service.ts'
import { ask } from '../support/data/publishing.ts'
import { folderWith } from '../support/folder.ts'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { openReceiver } from '../support/network/receiver.ts'
import { random } from '../support/random.ts'
import { IS_FULL, SEED } from './support/scale.ts'

const KILLS = IS_FULL ? 100 : 12
/**
 * The number of events that wait when the service starts again: far more than it sends before the next kill.
 */
const BACKLOG = 100
const SENT_MAX = 40
/** Thousands of events may wait after the last kill. */
const SENT_WITHIN_MS = 900_000

it(`events reach a webhook at least once, with one id and the same bytes, through ${KILLS} kills of the service, SEED=${SEED}`, async () => {
  const cwd = folderWith()
  const file = join(cwd, 'data/service/service.db')
  await using receiver = await openReceiver()
  receiver.answer = 204
  const firstEventId = await prepare(file, receiver.url)

  const next = random(SEED)
  for (let kill = 0; kill < KILLS; kill++) {
    addEvents(file)
    const serving = startServing(cwd)
    const before = receiver.posts.length
    const count = 1 + Math.floor(next() * SENT_MAX)
    const isAnswered = next() < 0.5
    await new Promise<void>((resolve) => {
      receiver.answer = (response) => {
        const isLast = receiver.posts.length - before === count
        // The answer is given, or it never comes.
        if (!isLast || isAnswered) response.writeHead(204).end()
        if (isLast) resolve()
      }
    })
    serving.kill('SIGKILL')
    expect((await finished(serving)).status, 'it was not to end by itself').toBeNull()
  }

  receiver.answer = 204
  const serving = startServing(cwd)
  const missing = () => {
    const arrived = new Set(receiver.posts.map(({ body }) => JSON.parse(body).id))
    return eventsFrom(file, firstEventId).filter((id) => !arrived.has(`evt_${id}`))
  }
  await expect.poll(() => missing().length, { timeout: SENT_WITHIN_MS }).toBe(0)
  serving.kill('SIGTERM')
  expect((await finished(serving)).status).toBe(0)

  const byId = Map.groupBy(receiver.posts, ({ headers }) => String(headers['webhook-id']))
  const bodies = [...byId.values()].map((posts) => new Set(posts.map(({ body }) => body)))
  expect(bodies.filter(({ size }) => size > 1)).toEqual([])
  // In spite of the kills, each event became exactly one message.
  expect(new Set(bodies.flatMap((each) => [...each])).size).toBe(byId.size)
})

/** Makes a service with a short history and one webhook for all events. Returns the id of its first event. */
async function prepare(file: string, url: string): Promise<number> {
  await using service = await startService({ file, historyDays: 1, webhooksToLoopback: true, now: Date.now })
  await service.post('/webhooks', { url, events: EVENT_TYPES })
  const [row] = service.rows<{ last_event_id: number }>('select last_event_id from webhook')
  return (row?.last_event_id ?? 0) + 1
}

function startServing(cwd: string) {
  const args = ['--port', '0', '--json', '--quiet', '--speed', '3600', '--webhooks-to-loopback']
  return startLeadsheet(['service', 'run', ...args], { cwd })
}

function addEvents(file: string): void {
  const sqlite = new SQLite(file)
  const data = JSON.stringify({ pipeline_id: 'pl_x', name: 'X', status: 'active' })
  const insert = sqlite.prepare(
    "insert into event (type, at, pipeline_id, data) values ('pipeline.updated', ?, 'pl_x', ?)",
  )
  sqlite.transaction(() => {
    for (let index = 0; index < BACKLOG; index++) insert.run(Date.now(), data)
  })()
  sqlite.close()
}

function eventsFrom(file: string, firstId: number): readonly number[] {
  return ask<{ id: number }>(file, `select id from event where id >= ${firstId}`).map(({ id }) => id)
}

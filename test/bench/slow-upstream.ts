/**
 * A slow upstream in its own process: `node slow-upstream.ts LEADS MS` prints its address. Its leads come in
 * the order of their updates, evenly over two years. Each answer takes MS milliseconds, also if many are
 * requested at once.
 */
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { generateLead } from './generate.ts'

const FIRST = Date.parse('2024-11-01T00:00:00Z')
const LAST = Date.parse('2026-11-01T00:00:00Z')

const leads = Number(process.argv[2])
const answerMs = Number(process.argv[3])
const apartMs = (LAST - FIRST) / leads

const texts = Array.from({ length: leads }, (_, number) => {
  const at = new Date(FIRST + Math.round(number * apartMs)).toISOString()
  const lead = { ...generateLead(number), created_at: at, status_changed_at: at, updated_at: at }
  return JSON.stringify(lead)
})

const server = createServer(async (request, response) => {
  const { searchParams: asked } = new URL(request.url ?? '/', 'http://127.0.0.1')
  const since = Date.parse(asked.get('updated_since') ?? '') || FIRST
  const first = Math.min(leads, Math.max(0, Math.ceil((since - FIRST) / apartMs)))
  const from = asked.has('cursor') ? Number(asked.get('cursor')) : first
  const to = Math.min(leads, from + Number(asked.get('limit')))
  const page = { next_cursor: to < leads ? String(to) : null, has_more: to < leads, total: leads - first }
  await delay(answerMs)
  const body = Buffer.from(`{"data":[${texts.slice(from, to).join()}],"page":${JSON.stringify(page)}}`)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`)
})

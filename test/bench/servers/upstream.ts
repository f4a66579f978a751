/**
 * The upstream of the bench: pages of generated leads, made once and served from memory, so that the time
 * measured is the client's. A process of its own: `node upstream.ts LEADS` prints its address.
 *
 * The first segment of the path is the state of the leads: `v1`, or `v2` and `v3`, in each of which another
 * hundredth of them has changed, evenly over all pages; `now` is the state that `/set/STATE` named last. `slow-v1`
 * takes 50 ms a page, `few-v1` has the first page alone. Pages are asked for by `cursor` or by `page` (from 1);
 * `updated_since` gives what changed since `v1`. `/v3/leads/ID` is a single lead, `/checksum/STATE` is what each copy
 * of that state has to be.
 */
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { addToSum } from '../checksum.ts'
import { generateLead } from '../generate.ts'

const PAGE_SIZE = 500
const SLOW_MS = 50
/** The leads that change with each state, as numbers of a hundred. */
const CHANGES: Readonly<Record<string, readonly number[]>> = { v1: [], v2: [7], v3: [7, 13] }

const leads = Number(process.argv[2])

interface Page {
  readonly bytes: Buffer
  /** The positions at which each lead begins, and the end of the last one. */
  readonly starts: readonly number[]
}

const pages: Page[] = []
for (let first = 0; first < leads; first += PAGE_SIZE) {
  const texts = Array.from({ length: Math.min(PAGE_SIZE, leads - first) }, (_, index) =>
    JSON.stringify(generateLead(first + index)),
  )
  const starts = [0]
  for (const text of texts) starts.push((starts.at(-1) ?? 0) + Buffer.byteLength(text) + 1)
  pages.push({ bytes: Buffer.from(`${texts.join(',')},`), starts })
}

/** Changed leads by number and change. They are made in advance, so that no request waits for it. */
const changedTexts = new Map<string, string>()
for (const [index, ending] of (CHANGES['v3'] ?? []).entries())
  for (let number = ending; number < leads; number += 100)
    changedTexts.set(`${number} ${index + 1}`, JSON.stringify(generateLead(number, index + 1)))

function textOfChanged(number: number, change: number): string {
  return changedTexts.get(`${number} ${change}`) ?? ''
}

/** Returns the leads of a page with the changes of this state. */
function leadsOf(number: number, changed: readonly number[]): Buffer[] {
  const page = pages[number]
  if (page === undefined) return []
  const parts: Buffer[] = []
  let at = 0
  for (let index = 0; index < page.starts.length - 1; index++) {
    const lead = number * PAGE_SIZE + index
    const change = changed.indexOf(lead % 100) + 1
    if (change === 0) continue
    parts.push(page.bytes.subarray(at, page.starts[index]))
    parts.push(Buffer.from(`${textOfChanged(lead, change)},`))
    at = page.starts[index + 1] ?? 0
  }
  parts.push(page.bytes.subarray(at))
  // The last lead has no comma after it.
  const last = parts.pop()
  return last === undefined ? [] : [...parts, last.subarray(0, -1)]
}

/** Returns a page of the leads that have changed since the first state. */
function changesOf(number: number, changed: readonly number[]): { leads: string[]; total: number } {
  const texts = Array.from({ length: Math.ceil(leads / 100) }, (_, hundred) =>
    changed.map((ending, index) => textOfChanged(hundred * 100 + ending, index + 1)),
  ).flat()
  const all = texts.filter((text) => text !== '')
  return { leads: all.slice(number * PAGE_SIZE, (number + 1) * PAGE_SIZE), total: all.length }
}

function answer(response: ServerResponse, data: readonly Buffer[], number: number, total: number): void {
  const isLast = (number + 1) * PAGE_SIZE >= total
  const page = { next_cursor: isLast ? null : String(number + 1), has_more: !isLast, total }
  const body = [Buffer.from('{"data":['), ...data, Buffer.from(`],"page":${JSON.stringify(page)}}`)]
  const length = body.reduce((sum, part) => sum + part.length, 0)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  response.end(Buffer.concat(body, length))
}

let numbers: ReadonlyMap<string, number> | null = null

/** Returns the number of a lead by its id. */
function findNumber(id: string): number | undefined {
  numbers ??= new Map(Array.from({ length: leads }, (_, number) => [generateLead(number).id, number]))
  return numbers.get(id)
}

function answerSingle(response: ServerResponse, id: string, changed: readonly number[]): void {
  const number = findNumber(id)
  const lead = number === undefined ? null : generateLead(number, changed.indexOf(number % 100) + 1)
  const body = lead === null ? { title: 'no such lead' } : { ...lead, enrichment: null, activity: [] }
  answerJson(response, lead === null ? 404 : 200, body)
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Returns the number of leads in a state, and the sum over their ids and records. */
function checksumOf(changed: readonly number[]): { count: number; sum: number } {
  let sum = 0
  for (let number = 0; number < leads; number++) {
    const change = changed.indexOf(number % 100) + 1
    const page = pages[Math.floor(number / PAGE_SIZE)]
    const index = number % PAGE_SIZE
    const text =
      change > 0
        ? textOfChanged(number, change)
        : (page?.bytes.toString('utf8', page.starts[index], (page.starts[index + 1] ?? 0) - 1) ?? '')
    sum = addToSum(sum, JSON.parse(text).id, text)
  }
  return { count: leads, sum }
}

/** The state of the list below `/now/…`. A request to `/set/STATE` changes it. */
let present = 'v1'

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const [, segment = '', named = ''] = url.pathname.split('/')
  const isSlow = segment.startsWith('slow-')
  const state = segment.replace(/^(?:slow|few)-/, '')
  const changed = CHANGES[state === 'now' ? present : state] ?? []
  if (segment === 'set') {
    present = named
    return answerJson(response, 200, { state: present })
  }
  if (segment === 'checksum') return answerJson(response, 200, checksumOf(CHANGES[named] ?? []))
  const [, last = ''] = /\/leads\/([^/]+)$/.exec(url.pathname) ?? []
  if (last !== '') return answerSingle(response, last, changed)
  if (url.pathname.endsWith('/agents/status')) return answerJson(response, 200, { data: [] })
  if (url.pathname.endsWith('/stats')) return answerJson(response, 200, { name: 'p', stages: [] })
  const asked = url.searchParams
  const number = asked.has('page') ? Number(asked.get('page')) - 1 : Number(asked.get('cursor') ?? 0)
  if (isSlow) await delay(SLOW_MS)
  if (asked.has('updated_since')) {
    const { leads: texts, total } = changesOf(number, changed)
    answer(response, [Buffer.from(texts.join(','))], number, total)
    return
  }
  const total = segment.startsWith('few-') ? Math.min(leads, PAGE_SIZE) : leads
  answer(response, leadsOf(number, changed), number, total)
})
process.stdin.resume().once('end', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`)
})

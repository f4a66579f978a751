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
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { checksumOf } from '../checksum.ts'
import { generateLead } from '../generate.ts'

const PAGE_SIZE = 500
const SLOW_MS = 50
const leads = Number(process.argv[2])
const v1 = Array.from({ length: leads }, (_, number) => textOf(number, 0))
const v2 = v1.map((text, number) => (number % 100 === 7 ? textOf(number, 1) : text))
const v3 = v2.map((text, number) => (number % 100 === 13 ? textOf(number, 2) : text))

interface State {
  readonly all: readonly string[]
  /** The leads that have changed since the first state. */
  readonly changed: readonly string[]
}

const FIRST: State = { all: v1, changed: [] }
const STATES: Readonly<Record<string, State>> = { v2: changedTo(v2), v3: changedTo(v3) }
/** The state of the list below `/now/…`. A request to `/set/STATE` changes it. */
let present = 'v1'
let numbers: ReadonlyMap<string, number> | null = null

function textOf(number: number, change: number): string {
  return JSON.stringify(generateLead(number, change))
}

function changedTo(all: readonly string[]): State {
  return { all, changed: all.filter((text, number) => text !== v1[number]) }
}

/** Returns a lead by its id, as one asks for it alone. */
function findLead(id: string, { all }: State): object | null {
  numbers ??= new Map(v1.map((_, number) => [generateLead(number).id, number]))
  const text = all[numbers.get(id) ?? -1]
  return text === undefined ? null : { ...JSON.parse(text), enrichment: null, activity: [] }
}

function answerPage(response: ServerResponse, list: readonly string[], number: number): void {
  const after = (number + 1) * PAGE_SIZE
  const has_more = after < list.length
  const page = { next_cursor: has_more ? String(number + 1) : null, has_more, total: list.length }
  const texts = list.slice(after - PAGE_SIZE, after).join()
  answer(response, 200, `{"data":[${texts}],"page":${JSON.stringify(page)}}`)
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
  // Generated leads are ASCII, and this encoding takes the least time.
  response.end(body, 'latin1')
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const [, segment = '', named = ''] = url.pathname.split('/')
  const stateOf = (name: string): State => STATES[name === 'now' ? present : name] ?? FIRST
  const state = stateOf(segment.replace(/^(?:slow|few)-/, ''))
  const tell = (body: object, status = 200): void => answer(response, status, JSON.stringify(body))
  if (segment === 'set') {
    present = named
    return tell({ state: present })
  }
  if (segment === 'checksum')
    return tell(checksumOf(stateOf(named).all.map((raw) => ({ id: JSON.parse(raw).id, raw }))))
  const [, id] = /\/leads\/([^/]+)$/.exec(url.pathname) ?? []
  if (id !== undefined) {
    const lead = findLead(id, state)
    return lead === null ? tell({ title: 'no such lead' }, 404) : tell(lead)
  }
  if (url.pathname.endsWith('/agents/status')) return tell({ data: [] })
  if (url.pathname.endsWith('/stats')) return tell({ name: 'p', stages: [] })
  const asked = url.searchParams
  const number = asked.has('page') ? Number(asked.get('page')) - 1 : Number(asked.get('cursor') ?? 0)
  if (segment.startsWith('slow-')) await delay(SLOW_MS)
  const list = asked.has('updated_since') ? state.changed : state.all
  answerPage(response, segment.startsWith('few-') ? list.slice(0, PAGE_SIZE) : list, number)
})
process.stdin.resume().once('end', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

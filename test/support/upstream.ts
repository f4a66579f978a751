/**
 * A list API over HTTP whose answers a test can replace. It has leads in memory, keyset pages over
 * (updated_at, id), and a list of faults, one for each request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WireLead } from '../../src/contract/lead.ts'
import { generateLead } from '../bench/generate.ts'
import { openHttpServer } from './network/http-server.ts'

/** Answers a request in place of the upstream. If it returns `false`, the upstream answers. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean | undefined

export type Upstream = Awaited<ReturnType<typeof startUpstream>>

export async function startUpstream(count: number) {
  const leads = new Map<string, WireLead>()
  const upstream = {
    leads,
    /** The faults of the next requests. Each request takes the first one. */
    faults: [] as Fault[],
    /** Returns whether a request is let in; the others get 401. */
    allows: (_headers: IncomingMessage['headers']): boolean => true,
    /** Returns the answer for a path below /api/v1; null for the usual answer. */
    answer: (_path: string): string | null => null,
    /** The faults of requests for a lead's details, by lead. */
    detailFaults: new Map<string, Fault>(),
    /** The fields that a lead's details have beside the fields of the list, by lead. */
    details: new Map<string, Readonly<Record<string, unknown>>>(),
    requests: [] as { readonly path: string; readonly headers: IncomingMessage['headers'] }[],
    /** Adds a lead or changes one, with the given `updated_at`. */
    put(number: number, change: Partial<WireLead> = {}): WireLead {
      const lead = { ...generateLead(number), ...change }
      leads.set(lead.id, lead)
      return lead
    },
  }
  for (let number = 0; number < count; number++) upstream.put(number)

  const http = await openHttpServer((request, response) => {
    upstream.requests.push({ path: request.url ?? '', headers: request.headers })
    if (upstream.faults.shift()?.(request, response)) return
    if (!upstream.allows(request.headers)) return void status(401)(request, response)
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const said = upstream.answer(decodeURIComponent(url.pathname.slice('/api/v1'.length)))
    if (said !== null) return void body(said)(request, response)
    if (url.pathname.endsWith('/leads')) return json(response, pageOf([...leads.values()], url.searchParams))
    if (url.pathname.endsWith('/agents/status')) return json(response, { data: [] })
    const lead = leads.get(/\/leads\/(\w+)$/.exec(url.pathname)?.[1] ?? '')
    if (lead !== undefined) {
      if (upstream.detailFaults.get(lead.id)?.(request, response)) return
      return json(response, { enrichment: null, activity: [], ...lead, ...upstream.details.get(lead.id) })
    }
    response.writeHead(404, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ detail: `nothing at ${url.pathname}` }))
  })
  return Object.assign(upstream, http)
}

/** Returns a fault that answers with a status. */
export function status(code: number, headers: Record<string, string> = {}): Fault {
  return (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/problem+json', ...headers })
    response.end(JSON.stringify({ detail: `made to answer ${code}` }))
    return true
  }
}

/** Returns a fault that answers with a body of the given type. */
export function body(text: string, type = 'application/json', code = 200): Fault {
  return (_request, response) => {
    response.writeHead(code, { 'content-type': type })
    response.end(text)
    return true
  }
}

/** Announces more bytes than it sends, and then cuts the connection. */
export const cut: Fault = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"data":[')
  setImmediate(() => response.destroy())
  return true
}

/** Returns a fault that answers with these bytes, head included, and then ends or resets the connection. */
export function bytes(text: string, end: 'fin' | 'reset' = 'fin'): Fault {
  return (request) => {
    request.socket.write(text)
    if (end === 'fin') request.socket.end()
    // The reset waits until the bytes have left, because it would discard them.
    if (end === 'reset') setTimeout(() => request.socket.resetAndDestroy(), 5)
    return true
  }
}

function pageOf(all: readonly WireLead[], query: URLSearchParams) {
  const keyOf = (lead: WireLead): string => `${lead.updated_at} ${lead.id}`
  const since = query.get('updated_since') ?? ''
  const after = query.get('cursor') ?? ''
  const limit = Number(query.get('limit') ?? 100)
  const matching = all
    .filter((lead) => lead.updated_at >= since)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const rest = matching.filter((lead) => keyOf(lead) > after)
  const data = rest.slice(0, limit)
  const last = data.at(-1)
  const next = last && rest.length > limit ? keyOf(last) : null
  return { data, page: { next_cursor: next, has_more: next !== null, total: matching.length } }
}

function json(response: ServerResponse, answer: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer))
}

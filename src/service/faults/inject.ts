/** Injects faults into the reference service. A fault replaces an answer of the service or damages it. */
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PROBLEM_TYPE } from '../../contract/api.ts'
import type { FaultRule, Faults } from './rules.ts'
import { planFaults } from './rules.ts'

const PAGE_FAULTS: ReadonlySet<FaultRule['fault']> = new Set(['duplicate', 'loop', 'shift', 'total'])

/** Must be called before the routes are added, so that the hooks also see requests to unknown paths. */
export function injectFaults(app: FastifyInstance, faults: Faults): void {
  const faultsFor = planFaults(faults)
  const faultsOf = new WeakMap<FastifyRequest, readonly FaultRule[]>()
  const answeredInstead = new WeakSet<FastifyRequest>()
  const memory: PageMemory = { last: [] }
  const hasPageFaults = faults.faults.some((rule) => PAGE_FAULTS.has(rule.fault))
  const closing = new AbortController()

  app.addHook('preClose', async () => closing.abort())
  app.addHook('onRequest', async (request, reply) => {
    const [path = ''] = request.url.split('?')
    const rules = faultsFor(request.method, path)
    faultsOf.set(request, rules)
    for (const rule of rules) {
      if (await answerInstead(rule, reply, closing.signal)) {
        answeredInstead.add(request)
        return reply
      }
    }
    return undefined
  })
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string') return payload
    const rules = faultsOf.get(request) ?? []
    const isPage = hasPageFaults && reply.statusCode === 200 && !answeredInstead.has(request)
    const cursor = new URLSearchParams(request.url.split('?')[1]).get('cursor')
    const text = isPage ? spoilPage(payload, rules, cursor, memory) : payload
    return spoilWire(text, rules, reply, closing.signal)
  })
}

/** Applies a fault that answers in place of the service. Returns false if the service must still answer. */
async function answerInstead(rule: FaultRule, reply: FastifyReply, signal: AbortSignal): Promise<boolean> {
  switch (rule.fault) {
    case 'delay':
      await delay(rule.ms, undefined, { signal }).catch(() => undefined)
      return false
    case 'stall':
      reply.hijack()
      signal.addEventListener('abort', () => reply.raw.destroy(), { once: true })
      if (signal.aborted) reply.raw.destroy()
      return true
    case 'status':
      reply.code(rule.status).type(PROBLEM_TYPE).headers(rule.headers)
      reply.send(rule.body ?? (rule.status === 204 ? '' : problem(rule.status)))
      return true
    case 'gzip_bomb':
      reply.type('application/json').header('content-encoding', 'gzip').send(bomb(rule.mib))
      return true
    default:
      return false
  }
}

function problem(status: number): string {
  return JSON.stringify({
    type: 'about:blank',
    title: 'A fault',
    status,
    code: 'fault',
    detail: 'The service was told to answer so.',
  })
}

function spoilWire(
  text: string,
  rules: readonly FaultRule[],
  reply: FastifyReply,
  signal: AbortSignal,
): string | Readable {
  let body = text
  for (const rule of rules) {
    if (rule.fault === 'content_type') reply.type(rule.type)
    if (rule.fault === 'truncate') body = cutAt(body, rule.at_byte).toString()
    if (rule.fault === 'drip') {
      reply.header('content-length', Buffer.byteLength(body))
      return dripping(Buffer.from(body), rule.bytes, rule.every_ms, signal)
    }
    if (rule.fault === 'reset' || rule.fault === 'cut') {
      if (!rule.chunked) reply.header('content-length', Buffer.byteLength(body))
      const { socket } = reply.raw
      const isReset = rule.fault === 'reset'
      return breakingOff(cutAt(body, rule.at_byte), () => {
        if (isReset) socket?.resetAndDestroy()
        else socket?.destroy()
      })
    }
  }
  return body
}

/** Returns the first `byte` bytes of the body; if `byte` is absent, the first half. */
function cutAt(body: string, byte: number | undefined): Buffer {
  const bytes = Buffer.from(body)
  return bytes.subarray(0, byte ?? Math.floor(bytes.length / 2))
}

interface ListBody {
  data: unknown[]
  page: { next_cursor: string | null; has_more: boolean; total?: number }
}

/** The rows of the page that was sent last. The fault `shift` can repeat these rows in the next page. */
interface PageMemory {
  last: readonly unknown[]
}

/**
 * Text that is not a page of a list stays unchanged.
 * @param cursor null for the first page
 */
function spoilPage(
  text: string,
  faults: readonly FaultRule[],
  cursor: string | null,
  memory: PageMemory,
): string {
  const body: unknown = JSON.parse(text)
  if (!isList(body)) return text
  const rows = body.data
  for (const fault of faults) {
    if (fault.fault === 'duplicate') body.data = [...body.data, ...body.data.slice(0, fault.rows)]
    if (fault.fault === 'shift') {
      const repeated = fault.repeat === 0 ? [] : memory.last.slice(-fault.repeat)
      body.data = [...repeated, ...body.data.slice(fault.drop)]
    }
    if (fault.fault === 'loop')
      body.page = { ...body.page, next_cursor: cursor ?? body.page.next_cursor, has_more: true }
    if (fault.fault === 'total') {
      const { total = 0, ...page } = body.page
      body.page = fault.absent ? page : { ...page, total: Math.max(0, total + fault.add) }
    }
  }
  memory.last = rows
  return JSON.stringify(body)
}

function isList(body: unknown): body is ListBody {
  return (
    typeof body === 'object' && body !== null && 'page' in body && 'data' in body && Array.isArray(body.data)
  )
}

const MIB = 1024 * 1024
/** The wait before the connection is ended, in ms. During the wait, the sent bytes reach the client. */
const FLUSH_MS = 20

/** Sends the bytes and then calls `end`, which ends the connection. */
function breakingOff(bytes: Buffer, end: () => void): Readable {
  return Readable.from(
    (async function* () {
      if (bytes.length > 0) yield bytes
      await delay(FLUSH_MS)
      end()
    })(),
    { objectMode: false },
  )
}

/** Sends the body in small pieces with a pause between them. The signal stops the sending. */
function dripping(body: Buffer, bytes: number, everyMs: number, signal: AbortSignal): Readable {
  return Readable.from(
    (async function* () {
      for (let start = 0; start < body.length; start += bytes) {
        if (start > 0) await delay(everyMs, undefined, { signal })
        yield body.subarray(start, start + bytes)
      }
    })(),
    { objectMode: false },
  )
}

/** Repeats one gzip member of about a kilobyte, which unpacks to 1 MiB (RFC 1952, 2.2). */
function bomb(mib: number): Readable {
  const member = gzipSync(Buffer.alloc(MIB, ' '), { level: 9 })
  return Readable.from(
    (function* () {
      for (let sent = 0; sent < mib; sent++) yield member
    })(),
    { objectMode: false },
  )
}

/**
 * The pages that the daemon serves: one server, to which each part of the product that has pages adds its routes, open
 * to everybody or behind the guard. It stands behind something that has TLS, needs no script, and no GET of it changes
 * anything, since mail scanners follow links.
 */
import type { AddressInfo } from 'node:net'
import { isIP } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { WebPages } from '../report/web-pages.ts'
import { pageWordsIn } from '../report/words/pages.ts'
import { takeForms } from './form.ts'
import type { Guard } from './guard.ts'
import { createRateLimit } from './rate-limit.ts'

export interface WebOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Under which it is reached from outside: `https://reports.example.com`; null where it is not. */
  readonly publicUrl: string | null
  readonly pages: WebPages
  readonly log: Log
  readonly limits?: Partial<WebLimits>
}

export interface WebLimits {
  /** Requests of one network. */
  readonly perMinute: number
  /** For the head of a request to come in, and for all of it. */
  readonly headersMs: number
  readonly requestMs: number
}

export interface WebServer extends AsyncDisposable {
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly url: string
}

/** A part of the product that has pages. */
export type AddRoutes = (app: FastifyInstance) => void

/** Parts for operators alone. */
export interface GuardedParts {
  readonly guard: Guard
  readonly parts: readonly AddRoutes[]
}

const LIMITS: WebLimits = { perMinute: 120, headersMs: 10_000, requestMs: 15_000 }
const BODY_BYTES = 16_384
const HEADER_BYTES = 8_192
const CONNECTIONS = 256
/** For the stylesheet behind the page; a connection that is held longer keeps others out. */
const KEPT_MS = 5_000

const HEADERS = {
  'Content-Security-Policy': [
    ...["default-src 'none'", "style-src 'self'", "form-action 'self'"],
    ...["frame-ancestors 'none'", "base-uri 'none'"],
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
}

type Notice = 'unknown' | 'wish' | 'tooMany' | 'host' | 'failed'

/**
 * @param parts for everybody
 * @throws LeadsheetError web_port
 */
export async function openWeb(
  options: WebOptions,
  parts: readonly AddRoutes[],
  guarded: GuardedParts | null = null,
): Promise<WebServer> {
  const { pages, log, host } = options
  const { perMinute, headersMs, requestMs } = { ...LIMITS, ...options.limits }
  const refuse = (request: FastifyRequest, reply: FastifyReply, status: number, notice: Notice) =>
    sendPage(reply.code(status), pages.notice(noticeIn(request, notice)))
  const app = Fastify({
    // Whoever stands before it is on this machine or in a private network beside it.
    trustProxy: ['loopback', 'linklocal', 'uniquelocal'],
    bodyLimit: BODY_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEPT_MS,
    forceCloseConnections: true,
    // A token holds an address and the name of a report; a path that is longer never comes in.
    routerOptions: { maxParamLength: HEADER_BYTES },
    // A path that cannot be read; hooks are not asked then.
    frameworkErrors: (_, request, reply) => void refuse(request, reply.headers(HEADERS), 404, 'unknown'),
    http: {
      headersTimeout: headersMs,
      maxHeaderSize: HEADER_BYTES,
      connectionsCheckingInterval: Math.min(headersMs, 1_000),
    },
  })
  app.server.maxConnections = CONNECTIONS
  const limit = createRateLimit(perMinute, Date.now)
  const isOurs = hostCheck(options.publicUrl)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    if (!isOurs(request.headers.host)) return refuse(request, reply, 403, 'host')
    if (!limit.allows(request.ip)) return refuse(request, reply.header('Retry-After', '60'), 429, 'tooMany')
  })
  app.setNotFoundHandler((request, reply) => refuse(request, reply, 404, 'unknown'))
  app.setErrorHandler((thrown, request, reply) => {
    const status = statusOf(thrown)
    if (status < 500) return refuse(request, reply, status, 'wish')
    // The path of the route, since that of the request may hold a token.
    log.error({ err: thrown, route: request.routeOptions.url }, `a page failed: ${errorText(thrown)}`)
    return refuse(request, reply, 500, 'failed')
  })
  takeForms(app)
  app.get('/web.css', (_, reply) => reply.type('text/css; charset=utf-8').send(pages.stylesheet))
  for (const addRoutes of parts) addRoutes(app)
  if (guarded !== null) {
    app.register(async (window) => {
      window.addHook('onRequest', guarded.guard)
      for (const addRoutes of guarded.parts) addRoutes(window)
    })
  }
  await listen(app, host, options.port)
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    [Symbol.asyncDispose]: () => app.close(),
  }
}

export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(html)
}

/**
 * What somebody is told whom we do not know, in the first language of their browser that there are words in.
 */
export function noticeIn(request: FastifyRequest, notice: Notice) {
  const [wanted = 'en'] = request.headers['accept-language']?.match(/\b(?:en|de)\b/i) ?? []
  const lang = wanted.toLowerCase()
  return { lang, ...pageWordsIn(lang).notices[notice] }
}

/** A page of another site could point a name of its own to this machine, and read what is shown here. */
function hostCheck(publicUrl: string | null): (host: string | undefined) => boolean {
  const known = ['localhost', ...(publicUrl === null ? [] : [new URL(publicUrl).hostname])]
  return (host) => {
    const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '')
    return name !== undefined && (known.includes(name) || isIP(name) !== 0)
  }
}

function statusOf(thrown: unknown): number {
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined
  return typeof status === 'number' && status >= 400 ? status : 500
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (cause) {
    await app.close()
    throw new LeadsheetError(
      'web_port',
      `The pages cannot be served at ${host}:${port}: ${errorText(cause)}`,
      {
        hint: 'Choose another web.listen, or end the program that has it.',
        cause,
      },
    )
  }
}

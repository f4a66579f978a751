/**
 * The pages that the daemon serves: one server, to which each part of the product that has pages adds its routes, open
 * to everybody or behind the guard. It stands behind something that has TLS, needs no script, and no GET of it changes
 * anything, since mail scanners follow links.
 */
import { type AddressInfo, isIP } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { WebPages } from '../../report/preferences/web-pages.ts'
import { pageWordsIn } from '../../report/words/pages.ts'
import { createOwnNames } from './allowed-hosts.ts'
import { DASHBOARD_HEADERS, PAGE_HEADERS } from './headers.ts'
import { createRateLimit } from './rate-limit.ts'

export interface WebOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Under which it is reached from outside: `https://reports.example.com`; null where it is not. */
  readonly publicUrl: string | null
  /** Further names that it answers to; none unless given. */
  readonly hosts?: readonly string[]
  /** Whose X-Forwarded-* is believed: addresses, networks, or names of such as Fastify has; nobody's unless given. */
  readonly trustedProxies?: readonly string[]
  readonly pages: WebPages
  readonly log: Log
  readonly limits?: Partial<WebLimits>
  /** Told of each answer: the pattern of its route, null where there is none, and its status. */
  readonly onAnswer?: (route: string | null, status: number) => void
}

export interface WebLimits {
  /** Requests of one network to each part that is open to everybody. */
  readonly perMinute: number
  /** And to the dashboard. */
  readonly dashboardPerMinute: number
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

/** What stands before the parts for operators. */
export interface Guard {
  /** Lets a request in, or answers it. */
  check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>
  /** Answers what a page threw. */
  tellError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply
}

/** Parts for operators alone. */
export interface GuardedParts {
  readonly guard: Guard
  readonly parts: readonly AddRoutes[]
}

const LIMITS: WebLimits = {
  perMinute: 120,
  dashboardPerMinute: 1_200,
  headersMs: 10_000,
  requestMs: 15_000,
}
const BODY_BYTES = 16_384
const HEADER_BYTES = 8_192
const CONNECTIONS = 256
/** For the stylesheet behind the page; a connection that is held longer keeps others out. */
const KEPT_MS = 5_000

type Notice = 'unknown' | 'wish' | 'tooMany' | 'host' | 'failed'

type Refuse = (request: FastifyRequest, reply: FastifyReply, status: number, notice: Notice) => FastifyReply

/**
 * @param parts for everybody; each has requests of its own to give, so that none takes those of another
 * @param uncounted parts for everybody without a limit of requests: probes, which are cheap, and whom a stranger behind
 *   the same address must not silence; and those that tell better whom to refuse
 * @throws LeadsheetError web_port
 */
export async function openWeb(
  options: WebOptions,
  parts: readonly AddRoutes[],
  guarded: GuardedParts | null = null,
  uncounted: readonly AddRoutes[] = [],
): Promise<WebServer> {
  const { host, pages } = options
  const limits = { ...LIMITS, ...options.limits }
  const refuse: Refuse = (request, reply, status, notice) =>
    sendPage(reply.code(status), pages.notice(noticeIn(request, notice)))
  const limited = (perMinute: number) => {
    const limit = createRateLimit(perMinute, Date.now)
    return async (request: FastifyRequest, reply: FastifyReply) => {
      if (limit.allows(request.ip)) return
      return refuse(request, reply.header('Retry-After', '60'), 429, 'tooMany')
    }
  }
  const app = createApp(options, limits, refuse)
  const tellOtherMethods = watchMethods(app)
  const limitUnknown = limited(limits.perMinute)
  app.setNotFoundHandler(
    async (request, reply) => (await limitUnknown(request, reply)) ?? refuse(request, reply, 404, 'unknown'),
  )
  const stylesheet: AddRoutes = (part) =>
    part.get('/web.css', (_, reply) => reply.type('text/css; charset=utf-8').send(pages.stylesheet))
  for (const addRoutes of [stylesheet, ...parts]) {
    await app.register(async (part) => {
      part.addHook('onRequest', limited(limits.perMinute))
      addRoutes(part)
    })
  }
  for (const addRoutes of uncounted) await app.register(async (part) => addRoutes(part))
  if (guarded !== null) {
    const { guard } = guarded
    await app.register(async (dashboard) => {
      dashboard.addHook('onRequest', limited(limits.dashboardPerMinute))
      dashboard.addHook('onRequest', async (request, reply) =>
        guard.check(request, reply.headers(DASHBOARD_HEADERS)),
      )
      dashboard.setErrorHandler(guard.tellError)
      for (const addRoutes of guarded.parts) addRoutes(dashboard)
    })
  }
  tellOtherMethods(
    async (request, reply) => (await limitUnknown(request, reply)) ?? refuse(request, reply, 405, 'wish'),
  )
  await listen(app, host, options.port)
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    [Symbol.asyncDispose]: () => app.close(),
  }
}

/** Without any route: what holds for all of them. */
function createApp(options: WebOptions, limits: WebLimits, refuse: Refuse): FastifyInstance {
  const { log, publicUrl, hosts, trustedProxies = [], onAnswer } = options
  const { headersMs, requestMs } = limits
  const app = Fastify({
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    bodyLimit: BODY_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEPT_MS,
    forceCloseConnections: true,
    // A token holds an address and the name of a report; a path that is longer never comes in.
    routerOptions: { maxParamLength: HEADER_BYTES },
    // A path that cannot be read; hooks are not asked then.
    frameworkErrors: (_, request, reply) => void refuse(request, reply.headers(PAGE_HEADERS), 404, 'unknown'),
    http: {
      headersTimeout: headersMs,
      maxHeaderSize: HEADER_BYTES,
      connectionsCheckingInterval: Math.min(headersMs, 1_000),
    },
  })
  app.server.maxConnections = CONNECTIONS
  const names = createOwnNames(publicUrl, hosts)
  let isProxyTold = trustedProxies.length > 0
  app.decorateRequest('visitor', null)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(PAGE_HEADERS)
    if (!isProxyTold && 'x-forwarded-for' in request.headers) {
      isProxyTold = true
      log.warn(
        { address: request.ip },
        'X-Forwarded-For is not believed: if that is your proxy, name it in web.trusted_proxies',
      )
    }
    if (!names.isKnown(request)) return refuse(request, reply, 403, 'host')
  })
  app.addHook('onResponse', async (request, reply) =>
    onAnswer?.(request.routeOptions.url ?? null, reply.statusCode),
  )
  app.setErrorHandler((thrown, request, reply) => {
    const status = statusOf(thrown)
    if (status < 500) return refuse(request, reply, status, 'wish')
    // The path of the route, since that of the request may hold a token.
    log.error({ err: thrown, route: request.routeOptions.url }, `a page failed: ${errorText(thrown)}`)
    return refuse(request, reply, 500, 'failed')
  })
  takeForms(app)
  return app
}

/** Which status an answer gets for what was thrown: that of Fastify or ours where it carries one, else 500. */
export function statusOf(thrown: unknown): number {
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined
  return typeof status === 'number' && status >= 400 ? status : 500
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

/* What a path is asked by that it does not answer to, told apart from a path that there is not. */

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const

type Tell = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * To be called before there are routes.
 * @returns to be called when all are there: answers with 405 what none of them does
 */
export function watchMethods(app: FastifyInstance): (tell: Tell) => void {
  const known = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]))
  })
  return (tell) => {
    for (const [url, methods] of [...known]) {
      const allow = [...methods].join(', ')
      const answer: Tell = (request, reply) => tell(request, reply.code(405).header('Allow', allow))
      const method = METHODS.filter((each) => !methods.has(each))
      app.route({ url, method, onRequest: answer, handler: answer })
    }
  }
}

/* Forms as browsers and mail programs post them, in both ways that there are (RFC 8058, 3.2, names the two). */

export type Form = ReadonlyMap<string, string>

/** Gives POST routes their body as a {@link Form}; anything else than a form is refused with 415. */
export function takeForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      parseForm(body, request.headers['content-type'] ?? ''),
    )
  }
}

/** @throws Error with the status 400 */
async function parseForm(body: Buffer, type: string): Promise<Form> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    return new Map([...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  } catch (cause) {
    throw Object.assign(new Error('the form cannot be read', { cause }), { statusCode: 400 })
  }
}

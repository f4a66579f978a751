/**
 * The HTTP server of the daemon. Each feature adds its routes, either public or behind the sign-in of the
 * dashboard. A proxy ends TLS. Pages work without script. A GET changes nothing, because scanners of mails
 * follow links.
 */
import { type AddressInfo, isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { WebPages } from '../../report/preferences/page.ts'
import { LANGUAGES, wordsIn } from '../../report/words/catalogue.ts'
import { limitConnections } from './connections.ts'
import { createAllowedHosts, DASHBOARD_HEADERS, PAGE_HEADERS } from './headers.ts'

interface WebOptions {
  readonly host: string
  /** The port; 0 takes a free port. */
  readonly port: number
  /** The public address, such as `https://reports.example.com`; null if there is none. */
  readonly publicUrl: string | null
  readonly hosts?: readonly string[]
  /** The proxies whose X-Forwarded-* headers are trusted: addresses, networks, or names like `loopback`. */
  readonly trustedProxies?: readonly string[]
  readonly pages: WebPages
  readonly log: Log
  readonly limits?: Partial<WebLimits>
  /** The route is null if none matches. */
  readonly onAnswer?: (route: string | null, status: number) => void
}

export interface WebLimits {
  /** The maximum number of requests per minute from one network to each public feature. */
  readonly perMinute: number
  /** The maximum number of requests per minute from one network to the dashboard. */
  readonly dashboardPerMinute: number
  readonly headersMs: number
  readonly requestMs: number
}

export interface WebServer extends AsyncDisposable {
  readonly url: string
}

export type AddRoutes = (app: FastifyInstance) => void

export interface Guard {
  /** Lets the request through, or answers it with a refusal. */
  check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>
  /** Answers a request for a page that threw an error. */
  answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply
}

interface GuardedParts {
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
// The time for which an idle connection is kept. It is long enough to load the stylesheet.
const KEPT_MS = 5_000

const NO_SESSION = {}

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the signed-in user, where the CSRF plugin finds the session's CSRF secret. */
    readonly session: object
  }
}

type ErrorKind = 'unknown' | 'choice' | 'tooMany' | 'host' | 'failed'

type Refuse = (request: FastifyRequest, reply: FastifyReply, status: number, kind: ErrorKind) => FastifyReply

/**
 * @param parts public routes; each part has its own rate limit
 * @param guarded routes behind the sign-in of the dashboard
 * @param unlimited public routes without a rate limit. Some limit requests themselves. The others are cheap
 * checks by monitoring programs, which must work even if a stranger behind the same address sends many
 * requests.
 * @throws LeadsheetError web_port
 */
export async function openWeb(
  options: WebOptions,
  parts: readonly AddRoutes[],
  guarded: GuardedParts | null = null,
  unlimited: readonly AddRoutes[] = [],
): Promise<WebServer> {
  const { host, pages } = options
  const limits = { ...LIMITS, ...options.limits }
  const refuse: Refuse = (request, reply, status, kind) =>
    sendPage(reply.code(status), pages.error(errorPageIn(request, kind)))
  const app = await createApp(options, limits, refuse)
  await app.register(import('@fastify/rate-limit'), { global: false })
  await app.register(import('@fastify/csrf-protection'), {
    // The plugin reads the secret from `request.session`, which is the session of the signed-in user.
    sessionPlugin: '@fastify/session',
    sessionKey: 'csrfSecret',
    getToken: ({ body }) => (body instanceof Map ? body.get(FORM_TOKEN) : undefined),
  })
  const limited = (perMinute: number) => {
    const isTooMany = limitPerMinute(app, perMinute)
    return async (request: FastifyRequest, reply: FastifyReply) => {
      if (await isTooMany(request)) return refuse(request, reply.header('Retry-After', '60'), 429, 'tooMany')
    }
  }
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
  for (const addRoutes of unlimited) await app.register(async (part) => addRoutes(part))
  if (guarded !== null) {
    const { guard } = guarded
    await app.register(async (dashboard) => {
      dashboard.addHook('onRequest', limited(limits.dashboardPerMinute))
      dashboard.addHook('onRequest', async (request, reply) =>
        guard.check(request, reply.headers(DASHBOARD_HEADERS)),
      )
      dashboard.setErrorHandler(guard.answerError)
      for (const addRoutes of guarded.parts) addRoutes(dashboard)
    })
  }
  await listen(app, host, options.port)
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    [Symbol.asyncDispose]: () => app.close(),
  }
}

/** True if the network of the request has sent too many requests in this minute. */
export function limitPerMinute(
  app: FastifyInstance,
  perMinute: number,
): (request: FastifyRequest) => Promise<boolean> {
  const count = app.createRateLimit({ max: perMinute, timeWindow: 60_000 })
  return async (request) => {
    const counted = await count(request)
    return !counted.isAllowed && counted.isExceeded
  }
}

/** Creates the server with the limits, headers and error handling that all routes share. */
async function createApp(options: WebOptions, limits: WebLimits, refuse: Refuse): Promise<FastifyInstance> {
  const { log, publicUrl, hosts, trustedProxies = [], onAnswer } = options
  const { headersMs, requestMs } = limits
  const { fastify } = await import('fastify')
  const app = fastify({
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    bodyLimit: BODY_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEPT_MS,
    forceCloseConnections: true,
    // The maximum is high, because the token in a recipient's link is long.
    routerOptions: { maxParamLength: HEADER_BYTES },
    // Fastify runs no hooks for a path that it cannot parse, so the headers are set here.
    frameworkErrors: (_, request, reply) => void refuse(request, reply.headers(PAGE_HEADERS), 404, 'unknown'),
    http: {
      headersTimeout: headersMs,
      maxHeaderSize: HEADER_BYTES,
      connectionsCheckingInterval: Math.min(headersMs, 1_000),
    },
  })
  const { normalizeIP } = await import('@fastify/rate-limit')
  limitConnections(app.server, trustedProxies, normalizeIP)
  const allowed = createAllowedHosts(publicUrl, hosts)
  let isProxyLogged = trustedProxies.length > 0
  app.decorateRequest('user', null)
  app.decorateRequest('session', {
    getter() {
      return this.user?.session ?? NO_SESSION
    },
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(PAGE_HEADERS)
    if (!isProxyLogged && 'x-forwarded-for' in request.headers) {
      isProxyLogged = true
      log.warn(
        { address: request.ip },
        'X-Forwarded-For is not believed: if that is your proxy, name it in web.trusted_proxies',
      )
    }
    if (!allowed.isAllowed(request)) return refuse(request, reply, 403, 'host')
  })
  app.addHook('onResponse', async (request, reply) =>
    onAnswer?.(request.routeOptions.url ?? null, reply.statusCode),
  )
  app.setErrorHandler((thrown, request, reply) => {
    const status = statusOf(thrown)
    if (status < 500) return refuse(request, reply, status, 'choice')
    // The pattern of the route is logged and not the path, because the path may contain a token.
    log.error({ err: thrown, route: request.routeOptions.url }, `a page failed: ${errorText(thrown)}`)
    return refuse(request, reply, 500, 'failed')
  })
  takeForms(app)
  return app
}

/** Returns the HTTP status of a thrown error, or 500 if it has no error status. */
export function statusOf(thrown: unknown): number {
  const status = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined
  return typeof status === 'number' && status >= 400 ? status : 500
}

export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(html)
}

/** Returns the texts of an error page in the first of the browser's languages that the program has. */
export function errorPageIn(request: FastifyRequest, kind: ErrorKind) {
  const accepted = request.headers['accept-language']?.toLowerCase().match(/\b[a-z]{2,3}\b/g) ?? []
  const lang = accepted.find((code) => LANGUAGES.includes(code)) ?? 'en'
  const words = wordsIn(lang)
  return {
    lang,
    title: words(`preferences.errors.${kind}.title`),
    text: words(`preferences.errors.${kind}.text`),
  }
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

/** The fields of a form. Browsers and mail programs send forms in two encodings (RFC 8058, section 3.2). */
export type Form = ReadonlyMap<string, string>

/** The form field that holds the CSRF token. */
export const FORM_TOKEN = 'form_token'

/** Parses request bodies to a {@link Form}. A body of another content type is refused with 415. */
function takeForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      parseForm(body, request.headers['content-type'] ?? ''),
    )
  }
}

/** @throws Error with the status 400 if the form cannot be read */
async function parseForm(body: Buffer, type: string): Promise<Form> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    return new Map([...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  } catch (cause) {
    throw Object.assign(new Error('the form cannot be read', { cause }), { statusCode: 400 })
  }
}

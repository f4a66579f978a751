/**
 * Decides who may use the dashboard, and signs users in and out. If a token is set, only users who know it
 * may look and act. If no token is set, nobody may act, and users may look only if the dashboard cannot be
 * reached from outside.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { DashboardPages, ErrorPage, FlashStore, SendErrorPage, SignedInUser } from '../server/frame.ts'
import { bareFrame, createFlashStore, wantsPage } from '../server/frame.ts'
import { type AllowedHosts, DASHBOARD_HEADERS, safeRedirect, signOfProxy } from '../server/headers.ts'
import { type AddRoutes, type Form, type Guard, sendPage, statusOf } from '../server/server.ts'
import type { EndedSessions, Sessions, TokenCheck } from './session.ts'
import { createSessions, createTokenCheck, LOCKED_SECONDS, shortOf } from './session.ts'

const SIGN_OUT = '/sign-out'

interface SignInDeps {
  readonly guard: SignInGuard
  readonly hosts: AllowedHosts
  readonly pages: DashboardPages
  readonly sendErrorPage: SendErrorPage
  readonly log: Log
}

/** Adds the routes for signing in and out. Users need no session to reach them. */
export function signInRoutes({ guard, hosts, pages, sendErrorPage, log }: SignInDeps): AddRoutes {
  const page = pages.page('sign-in')
  const show = (reply: FastifyReply, status: number, view: { to: string; mistake: string | null }) =>
    sendPage(reply.code(status), page(view, bareFrame('Sign in')))
  return (app) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.headers(DASHBOARD_HEADERS)
      const session = (await guard.signIn?.sessions.find(request, hosts.isSecure(request))) ?? null
      if (session !== null) request.user = { session, formToken: null, flash: null }
    })
    app.setErrorHandler(guard.answerError)
    app.get<{ readonly Querystring: { readonly to?: unknown } }>(SIGN_IN, async (request, reply) => {
      const { to: wanted } = request.query
      const to = safeRedirect(typeof wanted === 'string' ? wanted : undefined)
      return guard.signIn === null || request.user !== null
        ? reply.redirect(to, 303)
        : show(reply, 200, { to, mistake: null })
    })
    app.post<{ readonly Body: Form | undefined }>(SIGN_IN, async (request, reply) => {
      const to = safeRedirect(request.body?.get('to'))
      if (guard.signIn === null) return reply.redirect(to, 303)
      if (!hosts.isFromOwnPage(request)) return sendErrorPage(request, reply, 403, FOREIGN_FORM)
      const { tokens, sessions } = guard.signIn
      const network = request.ip
      const verdict = await tokens.judge(request.body?.get('token')?.trim() ?? '', network)
      if (verdict === 'right') {
        const session = sessions.begin(reply, hosts.isSecure(request))
        log.info({ session: shortOf(session), network }, 'signed in to the dashboard')
        return reply.redirect(to, 303)
      }
      if (verdict === 'wrong') {
        log.warn({ network }, 'a wrong token was given to sign in to the dashboard')
        return show(reply, 401, { to, mistake: 'That is not the token.' })
      }
      const mistake = `Too many wrong tokens came from your network. Try again in ${LOCKED_SECONDS / 60} minutes.`
      return show(reply.header('Retry-After', LOCKED_SECONDS), 429, { to, mistake })
    })
    app.register(async (signOut) => {
      checkForms(signOut, hosts)
      signOut.post(SIGN_OUT, async (request, reply) => {
        const session = request.user?.session ?? null
        if (session !== null) {
          await guard.signIn?.sessions.end(session, reply, hosts.isSecure(request))
          log.info({ session: shortOf(session), network: request.ip }, 'signed out of the dashboard')
        }
        return reply.redirect(SIGN_IN, 303)
      })
    })
  }
}

interface GuardOptions {
  /** The token that operators sign in with; null if none is set. */
  readonly token: string | null
  readonly ended: EndedSessions
  /** True if users may look although no token is set. */
  readonly isOpen: boolean
  /** A sentence for the user that says how to set a token. */
  readonly remedy: string
  readonly hosts: AllowedHosts
  readonly sendErrorPage: SendErrorPage
  readonly log: Log
  readonly now: () => Date
}

export interface SignInGuard extends Guard {
  /** The checks of tokens and sessions; null if no token is set, because then nobody can sign in. */
  readonly signIn: SignIn | null
  readonly flashes: FlashStore
}

interface SignIn {
  readonly tokens: TokenCheck
  readonly sessions: Sessions
}

const SIGN_IN = '/sign-in'

// The codes of errors that are answered with status 404.
const UNKNOWN: readonly string[] = ['report_unknown', 'report_not_kept']

export function createSignInGuard(options: GuardOptions): SignInGuard {
  const { token, ended, hosts, sendErrorPage, log, now } = options
  const flashes = createFlashStore()
  const signIn =
    token === null
      ? null
      : { tokens: createTokenCheck(token, now), sessions: createSessions(token, ended, now) }
  const find = async (request: FastifyRequest): Promise<SignedInUser | Refused> => {
    if (signIn === null) return meetLooker(request, options)
    const given = bearerIn(request)
    if (given !== null) return meetMachine(request, signIn.tokens, given)
    const session = await signIn.sessions.find(request, hosts.isSecure(request))
    if (session === null) return NOT_SIGNED_IN
    const flash = request.method === 'GET' ? flashes.take(session.id, request.url) : null
    return { session, formToken: null, flash }
  }
  return {
    signIn,
    flashes,
    check: async (request, reply) => {
      const met = await find(request)
      if (!('status' in met)) {
        request.user = met
        if (met.session !== null) request.user = { ...met, formToken: reply.generateCsrf() }
        return
      }
      if (met === WRONG) log.warn({ network: request.ip }, 'the dashboard was asked for with a wrong token')
      if (met !== NOT_SIGNED_IN || !isLook(request) || !wantsPage(request))
        return sendErrorPage(request, reply.headers(met.headers ?? {}), met.status, met)
      // A browser does not send the session cookie when a user follows a link in a mail. The answer is
      // therefore a page that reloads itself at once, and the reload sends the cookie.
      const next = safeRedirect(request.url)
      return request.headers['sec-fetch-site'] === 'cross-site'
        ? sendErrorPage(request, reply.header('Refresh', `0; url=${next}`), 200, { ...ONWARD, next })
        : reply.redirect(signInPath(next), 303)
    },
    answerError: (thrown, request, reply) => {
      const known = statusOf(thrown)
      if (known < 500) {
        return sendErrorPage(request, reply, known, isForeignForm(thrown) ? FOREIGN_FORM : NOT_UNDERSTOOD)
      }
      if (thrown instanceof LeadsheetError) {
        const status = UNKNOWN.includes(thrown.code) ? 404 : 500
        if (status === 500) log.error({ code: thrown.code, route: request.routeOptions.url }, thrown.message)
        return sendErrorPage(request, reply, status, { title: thrown.message, text: thrown.hint ?? '' })
      }
      log.error({ err: thrown, route: request.routeOptions.url }, `a page failed: ${errorText(thrown)}`)
      return sendErrorPage(request, reply, 500, FAILED)
    },
  }
}

/** Returns the path of the sign-in page. After the sign-in, the browser goes on to the wanted page. */
export function signInPath(wanted: string): string {
  const to = safeRedirect(wanted)
  return to === '/' ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ to })}`
}

// All error codes of the CSRF plugin begin with this text.
const FOREIGN = 'FST_CSRF'

const FOREIGN_FORM: ErrorPage = {
  title: 'This form is not from here',
  text: 'Nothing was done. It was sent by another site, or stood on a page from before you signed in: go back, load the page anew and try again.',
}

/**
 * Accepts a form of a signed-in user only under two conditions: the browser's headers say that this site sent
 * the form, and the form contains a CSRF token of the session. Both conditions are needed, because attackers
 * have found ways around each alone.
 */
export function checkForms(app: FastifyInstance, hosts: AllowedHosts): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (request.user?.session == null || isLook(request)) return done()
    if (hosts.isFromOwnPage(request)) return app.csrfProtection(request, reply, done)
    done(Object.assign(new Error('the form is from another page'), { statusCode: 403, code: FOREIGN }))
  })
}

function isForeignForm(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith(FOREIGN)
}

interface Refused extends ErrorPage {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number>>
}

const TOO_MANY: Refused = {
  status: 429,
  headers: { 'Retry-After': LOCKED_SECONDS },
  title: 'Too many wrong tokens',
  text: `They came from your network. Try again in ${LOCKED_SECONDS / 60} minutes.`,
}
const ASKS_FOR_TOKEN = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } } as const
const WRONG: Refused = {
  ...ASKS_FOR_TOKEN,
  title: 'That is not the token',
  text: 'It stands in web.token or web.token_file.',
}
const NOT_SIGNED_IN: Refused = {
  ...ASKS_FOR_TOKEN,
  title: 'Sign in first',
  text: 'Nothing was done. Machines send the token as `Authorization: Bearer`.',
  next: SIGN_IN,
}
const ONWARD: ErrorPage = {
  title: 'One moment',
  text: 'Load the page again where your browser does not by itself.',
}
const NOT_UNDERSTOOD: ErrorPage = { title: 'This was not understood', text: 'Nothing was done.' }
const FAILED: ErrorPage = { title: 'Something went wrong here', text: 'The log of the daemon says more.' }

/** Decides whether a user may look if no token is set. */
function meetLooker(request: FastifyRequest, { isOpen, remedy }: GuardOptions): SignedInUser | Refused {
  const sign = signOfProxy(request)
  if (!isOpen || sign !== null) {
    const why = isOpen
      ? `Without a token it is only for this machine, and this request may have come through a proxy, because it ${sign}. Ask without that, or with a token.`
      : 'It can be reached from outside.'
    return { status: 403, title: 'The dashboard is closed', text: `${why} ${remedy}` }
  }
  return isLook(request)
    ? { session: null, formToken: null, flash: null }
    : { status: 403, title: 'Nothing can be done here', text: remedy }
}

async function meetMachine(
  request: FastifyRequest,
  tokens: TokenCheck,
  given: string,
): Promise<SignedInUser | Refused> {
  const verdict = await tokens.judge(given, request.ip)
  if (verdict === 'right') return { session: null, formToken: null, flash: null }
  return verdict === 'wrong' ? WRONG : TOO_MANY
}

function isLook({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns the bearer token of the request without checking it; null if the request has none. */
function bearerIn({ headers }: FastifyRequest): string | null {
  const [, given] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return given ?? null
}

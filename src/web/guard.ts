/**
 * Who may see the window: whoever can use this machine, or whoever knows the token. Where it could be reached from
 * outside and there is no token, nobody may. Only who knows the token may do anything.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { OwnNames } from './own-names.ts'
import { signInPath } from './own-path.ts'
import { type Refuse, wantsPage } from './refusal.ts'
import { createSessions, type Sessions } from './session.ts'
import { createTokenCheck, LOCKED_SECONDS, type TokenCheck } from './token-check.ts'
import { createTold, type ToldOnce } from './told.ts'

export interface GuardOptions {
  /** What operators sign in with; null where they cannot. */
  readonly token: string | null
  /** Whether everybody who reaches it may look, where there is no token. */
  readonly isOpen: boolean
  /** What to do where a token is missing, as a sentence. */
  readonly remedy: string
  readonly names: OwnNames
  readonly refuse: Refuse
  readonly log: Log
  readonly now: () => Date
  /** Before a wrong token is answered. */
  readonly wait?: (ms: number) => Promise<unknown>
}

export interface Guard {
  /** Lets in who may see what is asked for, and notes who that is; answers everybody else. */
  check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>
  /** Answers what a page threw. */
  tellError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply
  /** Null where nobody can sign in. */
  readonly desk: SignInDesk | null
  readonly told: ToldOnce
}

/** What signing in takes. */
export interface SignInDesk {
  readonly tokens: TokenCheck
  readonly sessions: Sessions
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'via'] as const

/** Of the codes, those that say that there is no such page. */
const UNKNOWN: readonly string[] = ['report_unknown', 'report_not_kept']

export function createGuard(options: GuardOptions): Guard {
  const { token, names, refuse, log } = options
  const told = createTold()
  const desk = token === null ? null : openDesk(token, options)
  const closed = { title: 'The window is closed', text: `It can be reached from outside. ${options.remedy}` }
  const check: Guard['check'] = async (request, reply) => {
    if (desk === null) {
      if (!options.isOpen || FORWARDED.some((name) => request.headers[name] !== undefined))
        return refuse(request, reply, 403, closed)
      if (isLook(request)) {
        request.visitor = { session: null, mayAct: false, told: null }
        return
      }
      return refuse(request, reply, 403, { title: 'Nothing can be done here', text: options.remedy })
    }
    const given = bearerIn(request)
    if (given !== null) {
      const verdict = await desk.tokens.judge(given, request.ip)
      if (verdict === 'too_many')
        return refuse(request, reply.header('Retry-After', LOCKED_SECONDS), 429, TOO_MANY)
      if (verdict === 'wrong') {
        log.warn({ network: request.ip }, 'the window was asked for with a wrong token')
        return refuse(request, reply.header('WWW-Authenticate', 'Bearer'), 401, WRONG)
      }
      request.visitor = { session: null, mayAct: true, told: null }
      return
    }
    const session = desk.sessions.find(request, names.isSecure(request))
    if (session !== null) {
      const path = request.method === 'GET' ? request.url : ''
      request.visitor = { session, mayAct: true, told: told.take(session.id, path) }
      return
    }
    if (isLook(request) && wantsPage(request)) return reply.redirect(signInPath(request.url), 303)
    return refuse(request, reply.header('WWW-Authenticate', 'Bearer'), 401, NOT_SIGNED_IN)
  }
  return {
    ...{ check, desk, told },
    tellError: (thrown, request, reply) => {
      if (thrown instanceof LeadsheetError) {
        const status = UNKNOWN.includes(thrown.code) ? 404 : 500
        if (status === 500) log.error({ code: thrown.code, route: request.routeOptions.url }, thrown.message)
        return refuse(request, reply, status, { title: thrown.message, text: thrown.hint ?? '' })
      }
      log.error({ err: thrown, route: request.routeOptions.url }, `a page failed: ${errorText(thrown)}`)
      return refuse(request, reply, 500, FAILED)
    },
  }
}

const TOO_MANY = {
  title: 'Too many wrong tokens',
  text: `They came from your network. Try again in ${LOCKED_SECONDS / 60} minutes.`,
}
const WRONG = { title: 'That is not the token', text: 'It stands in web.token or web.token_file.' }
const NOT_SIGNED_IN = {
  title: 'Sign in first',
  text: 'Browsers do at /sign-in; machines send the token as `Authorization: Bearer`.',
}
const FAILED = { title: 'Something went wrong here', text: 'The log of the daemon says more.' }

function openDesk(token: string, { now, wait }: GuardOptions): SignInDesk {
  return { tokens: createTokenCheck(token, now, wait), sessions: createSessions(token, now) }
}

function isLook({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** What stands in the header, right or wrong; null where there is none. */
function bearerIn({ headers }: FastifyRequest): string | null {
  const [, given] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return given ?? null
}

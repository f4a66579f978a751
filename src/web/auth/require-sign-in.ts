/**
 * Who may see the dashboard: whoever can use this machine, or whoever knows the token. Where it could be reached from
 * outside and there is no token, nobody may. Only who knows the token may do anything.
 */
import type { FastifyRequest } from 'fastify'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { OwnNames } from '../server/allowed-hosts.ts'
import { ownPath, SIGN_IN, signInPath } from '../server/allowed-hosts.ts'
import { type Refusal, type Refuse, wantsPage } from '../server/error-page.ts'
import { type Guard, statusOf } from '../server/server.ts'
import type { Visitor } from '../server/signed-in-user.ts'
import { createTold, type ToldOnce } from '../server/signed-in-user.ts'
import { createSessions, type Sessions } from './session.ts'
import { createTokenCheck, LOCKED_SECONDS, type TokenCheck } from './token-check.ts'

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

export interface SignInGuard extends Guard {
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

export function createGuard(options: GuardOptions): SignInGuard {
  const { token, names, refuse, log } = options
  const told = createTold()
  const desk = token === null ? null : openDesk(token, options)
  const find = async (request: FastifyRequest): Promise<Visitor | Turned> => {
    if (desk === null) return meetLooker(request, options)
    const given = bearerIn(request)
    if (given !== null) return meetMachine(request, desk.tokens, given)
    const session = desk.sessions.find(request, names.isSecure(request))
    if (session === null) return NOT_SIGNED_IN
    return {
      session,
      mayAct: true,
      told: request.method === 'GET' ? told.take(session.id, request.url) : null,
    }
  }
  return {
    ...{ desk, told },
    check: async (request, reply) => {
      const met = await find(request)
      if ('mayAct' in met) {
        request.visitor = met
        return
      }
      if (met === WRONG) log.warn({ network: request.ip }, 'the dashboard was asked for with a wrong token')
      if (met !== NOT_SIGNED_IN || !isLook(request) || !wantsPage(request))
        return refuse(request, reply.headers(met.headers ?? {}), met.status, met)
      // Browsers send the cookie only from a page of ours, and not to where a link in a mail leads.
      const next = ownPath(request.url)
      return request.headers['sec-fetch-site'] === 'cross-site'
        ? refuse(request, reply.header('Refresh', `0; url=${next}`), 200, { ...ONWARD, next })
        : reply.redirect(signInPath(next), 303)
    },
    tellError: (thrown, request, reply) => {
      const known = statusOf(thrown)
      if (known < 500) return refuse(request, reply, known, NOT_UNDERSTOOD)
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

/** Who does not come in, and is told why. */
interface Turned extends Refusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number>>
}

const TOO_MANY: Turned = {
  ...{ status: 429, headers: { 'Retry-After': LOCKED_SECONDS } },
  title: 'Too many wrong tokens',
  text: `They came from your network. Try again in ${LOCKED_SECONDS / 60} minutes.`,
}
const ASKS_FOR_TOKEN = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } } as const
const WRONG: Turned = {
  ...ASKS_FOR_TOKEN,
  title: 'That is not the token',
  text: 'It stands in web.token or web.token_file.',
}
const NOT_SIGNED_IN: Turned = {
  ...ASKS_FOR_TOKEN,
  title: 'Sign in first',
  text: 'Nothing was done. Machines send the token as `Authorization: Bearer`.',
  next: SIGN_IN,
}
const ONWARD: Refusal = {
  title: 'One moment',
  text: 'Load the page again where your browser does not by itself.',
}
const NOT_UNDERSTOOD: Refusal = { title: 'This was not understood', text: 'Nothing was done.' }
const FAILED: Refusal = { title: 'Something went wrong here', text: 'The log of the daemon says more.' }

/** Where there is no token. */
function meetLooker(request: FastifyRequest, { isOpen, remedy }: GuardOptions): Visitor | Turned {
  // Somebody has put something before it, of which the settings know nothing.
  const isForwarded = FORWARDED.some((name) => request.headers[name] !== undefined)
  if (!isOpen || isForwarded) {
    return {
      status: 403,
      title: 'The dashboard is closed',
      text: `It can be reached from outside. ${remedy}`,
    }
  }
  return isLook(request)
    ? { session: null, mayAct: false, told: null }
    : { status: 403, title: 'Nothing can be done here', text: remedy }
}

async function meetMachine(
  request: FastifyRequest,
  tokens: TokenCheck,
  given: string,
): Promise<Visitor | Turned> {
  const verdict = await tokens.judge(given, request.ip)
  if (verdict === 'right') return { session: null, mayAct: true, told: null }
  return verdict === 'wrong' ? WRONG : TOO_MANY
}

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

/**
 * The routes to sign in and out. A user who sends the right token gets a session, and the browser opens the
 * page that the user wanted.
 */
import type { FastifyReply } from 'fastify'
import type { Log } from '../../log.ts'
import { type AllowedHosts, safeRedirect } from '../server/allowed-hosts.ts'
import type { SendErrorPage } from '../server/frame.ts'
import { bareFrame, type DashboardPages } from '../server/frame.ts'
import { DASHBOARD_HEADERS } from '../server/headers.ts'
import { type AddRoutes, type Form, sendPage } from '../server/server.ts'
import { checkForms, FOREIGN_FORM, SIGN_IN, type SignInGuard } from './require-sign-in.ts'
import { LOCKED_SECONDS, shortOf } from './session.ts'

const SIGN_OUT = '/sign-out'

interface SignInDeps {
  readonly guard: SignInGuard
  readonly hosts: AllowedHosts
  readonly pages: DashboardPages
  readonly sendErrorPage: SendErrorPage
  readonly log: Log
}

interface SignInView {
  /** The path to go to after signing in. */
  readonly to: string
  /** The error message; null on the first visit. */
  readonly mistake: string | null
}

/** Adds the routes. Everybody can reach them without a session. */
export function signInRoutes({ guard, hosts, pages, sendErrorPage, log }: SignInDeps): AddRoutes {
  const page = pages.page<SignInView>('sign-in')
  const show = (reply: FastifyReply, status: number, view: SignInView) =>
    sendPage(reply.code(status), page(view, bareFrame('Sign in')))
  return (app) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.headers(DASHBOARD_HEADERS)
      const session = guard.signIn?.sessions.find(request, hosts.isSecure(request)) ?? null
      if (session !== null) request.user = { session, formToken: null, mayAct: true, flash: null }
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
          guard.signIn?.sessions.end(reply, hosts.isSecure(request))
          log.info({ session: shortOf(session), network: request.ip }, 'signed out of the dashboard')
        }
        return reply.redirect(SIGN_IN, 303)
      })
    })
  }
}

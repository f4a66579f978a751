/** Signing in and out: the token against a session of the browser, and back to where one wanted to go. */
import type { FastifyReply } from 'fastify'
import type { Log } from '../../log.ts'
import type { OwnNames } from '../server/allowed-hosts.ts'
import { ownPath, SIGN_IN } from '../server/allowed-hosts.ts'
import type { Refuse } from '../server/error-page.ts'
import type { DashboardPages } from '../server/frame.ts'
import { bareFrame } from '../server/frame.ts'
import { DASHBOARD_HEADERS } from '../server/headers.ts'
import type { Form } from '../server/server.ts'
import { type AddRoutes, sendPage } from '../server/server.ts'
import { FOREIGN_FORM, isOwnForm } from './csrf.ts'
import type { SignInGuard } from './require-sign-in.ts'
import { shortOf } from './session.ts'
import { LOCKED_SECONDS } from './token-check.ts'

const SIGN_OUT = '/sign-out'

export interface SignInDeps {
  readonly guard: SignInGuard
  readonly names: OwnNames
  readonly pages: DashboardPages
  readonly refuse: Refuse
  readonly log: Log
}

interface SignInView {
  /** Where one goes on to. */
  readonly to: string
  /** Null at first. */
  readonly mistake: string | null
}

/** For everybody: who comes is told here that they may come in. */
export function signInRoutes({ guard, names, pages, refuse, log }: SignInDeps): AddRoutes {
  const page = pages.page<SignInView>('sign-in')
  const show = (reply: FastifyReply, status: number, view: SignInView) =>
    sendPage(reply.code(status), page(view, bareFrame('Sign in')))
  return (app) => {
    app.addHook('onRequest', async (_, reply) => void reply.headers(DASHBOARD_HEADERS))
    app.get<{ readonly Querystring: { readonly to?: unknown } }>(SIGN_IN, async (request, reply) => {
      const { to: wanted } = request.query
      const to = ownPath(typeof wanted === 'string' ? wanted : undefined)
      const isIn = guard.desk?.sessions.find(request, names.isSecure(request)) ?? null
      return guard.desk === null || isIn !== null
        ? reply.redirect(to, 303)
        : show(reply, 200, { to, mistake: null })
    })
    app.post<{ readonly Body: Form | undefined }>(SIGN_IN, async (request, reply) => {
      const to = ownPath(request.body?.get('to'))
      if (guard.desk === null) return reply.redirect(to, 303)
      if (!names.isFromOwnPage(request)) return refuse(request, reply, 403, FOREIGN_FORM)
      const { tokens, sessions } = guard.desk
      const network = request.ip
      const verdict = await tokens.judge(request.body?.get('token')?.trim() ?? '', network)
      if (verdict === 'right') {
        const session = sessions.begin(reply, names.isSecure(request))
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
    app.post<{ readonly Body: Form | undefined }>(SIGN_OUT, async (request, reply) => {
      const isSecure = names.isSecure(request)
      const session = guard.desk?.sessions.find(request, isSecure) ?? null
      if (session !== null) {
        if (!isOwnForm(request, names, session.formToken)) return refuse(request, reply, 403, FOREIGN_FORM)
        guard.desk?.sessions.end(reply, isSecure)
        log.info({ session: shortOf(session), network: request.ip }, 'signed out of the dashboard')
      }
      return reply.redirect(SIGN_IN, 303)
    })
  }
}

/** Checks that the dashboard can be served, and that it is not open to others without a token. */

import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import { dashboardAccess, TOKEN_REMEDY } from '../../config/schema-web.ts'
import { findListenFault } from './listen-fault.ts'

const WHO = {
  look: 'for whoever uses this machine, to look at; with web.token things can be done there, too',
  token: 'for who knows the token',
} as const

/** @param isRunning whether a daemon runs, which then already listens on the port */
export async function checkDashboard({ web }: Pick<Config, 'web'>, isRunning: boolean): Promise<CheckResult> {
  const { listen, token } = web
  if (listen === null) return ok('dashboard', 'no pages are served: web.listen is none')
  const access = dashboardAccess({ ...web, listen, hasToken: token !== null })
  const place = `${listen.host}:${listen.port}`
  const fault = isRunning || listen.port === 0 ? null : await findListenFault(listen)
  if (fault !== null) {
    return fail(
      'dashboard',
      `${place} cannot be listened on: ${fault}`,
      'choose another web.listen (LEADSHEET_WEB_LISTEN), or end the program that has it',
    )
  }
  return access === 'closed'
    ? warn(
        'dashboard',
        `${place} can be reached from outside without a token, so that it stays closed`,
        TOKEN_REMEDY,
      )
    : ok('dashboard', `${place}, ${WHO[access]}`)
}

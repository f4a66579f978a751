/**
 * Checks that the dashboard can be served, and that a dashboard without a token cannot be reached from other
 * machines.
 */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { CheckResult } from '../../checks/check.ts'
import { fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'
import type { ListenAddress } from '../../config/schema-web.ts'
import { dashboardAccess, TOKEN_REMEDY } from '../../config/schema-web.ts'
import { errorText } from '../../errors.ts'

const WHO = {
  look: 'for whoever uses this machine, to look at; with web.token things can be done there, too',
  token: 'for who knows the token',
} as const

/**
 * @param isRunning whether a daemon runs. A running daemon already listens on the port, so the port is not
 * tried.
 */
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

/* Finds out whether a port is free, by listening on it for a moment. */

const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not',
}

/** Returns why no program can listen on the address, or null if the address is free. */
export async function findListenFault(address: ListenAddress): Promise<string | null> {
  const server = createServer()
  try {
    server.listen({ ...address, exclusive: true })
    await once(server, 'listening')
    return null
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    return WORDS[code] ?? errorText(thrown)
  } finally {
    server.close()
  }
}

/** Who may see the dashboard, by what the settings say; all that ask agree on it. */
import { LOOPBACK } from './rules.ts'
import type { ListenAddress } from './web-settings.ts'

export interface Doors {
  readonly listen: ListenAddress
  /** Under which it is reached from outside; null where it is not. */
  readonly publicUrl: string | null
  /** Further names that it answers to. */
  readonly allowedHosts: readonly string[]
  readonly hasToken: boolean
}

/**
 * `look`: everybody on this machine may, and nothing can be done. `token`: who signs in may do all. `closed`: it can be
 * reached from elsewhere, so that a token is needed, and there is none.
 */
export type DashboardAccess = 'look' | 'token' | 'closed'

export const TOKEN_REMEDY =
  'Set web.token_file (LEADSHEET_WEB_TOKEN_FILE) to a file that holds a token, such as `openssl rand -hex 24` makes.'

/** Whether it matters to those commands alone that serve the pages, or look at how they will be. */
export function isAboutDashboard(warning: string): boolean {
  return warning.includes(TOKEN_REMEDY)
}

export function dashboardAccess({ listen, publicUrl, allowedHosts, hasToken }: Doors): DashboardAccess {
  if (hasToken) return 'token'
  const outside = publicUrl === null ? [] : [new URL(publicUrl).hostname]
  return [listen.host, ...allowedHosts, ...outside].every(isThisMachine) ? 'look' : 'closed'
}

function isThisMachine(host: string): boolean {
  return host === '::1' || LOOPBACK.test(host)
}

/** The options of a mail server that lets in by access tokens alone, and the tokens of its clients. */
import { join } from 'node:path'
import type { SMTPServerOptions } from 'smtp-server'
import { openOAuthKeys } from '../../../src/login/oauth-keys.ts'
import { folderWith } from '../folder.ts'
import { refusal } from '../mail-server.ts'
import { loginOf, type TokenServer } from '../network/token-server.ts'
import { SILENT } from '../syncing.ts'

export const USER = 'reports@example.com'

/** Returns the options of a server that looks at the token at the login and again at each message. */
export function onlyTokens({ takes }: Pick<TokenServer, 'takes'>): SMTPServerOptions {
  return {
    authMethods: ['XOAUTH2'],
    authOptional: false,
    allowInsecureAuth: true,
    onAuth({ username, accessToken = '' }, _session, done) {
      const isGood = username === USER && takes(accessToken)
      const data = { status: '401', schemes: 'Bearer', scope: 'mail' }
      done(null, isGood ? { user: accessToken } : { data })
    },
    onMailFrom(_address, { user }, done) {
      done(takes(String(user)) ? null : refusal(530, '5.7.57 Client not authenticated to send mail'))
    },
  }
}

/** Returns the tokens of a client of this server, in a file of their own. */
export function tokensOf(
  { url }: Pick<TokenServer, 'url'>,
  options: Partial<Parameters<typeof openOAuthKeys>[1]> = {},
) {
  return openOAuthKeys(loginOf(url, { settings: 'mail.oauth' }), {
    file: join(folderWith(), 'tokens.db'),
    log: SILENT,
    now: () => new Date(),
    maxWaitMs: 0,
    backoff: { attempts: 1, baseMs: 0, maxMs: 0 },
    ...options,
  })
}

/** Returns the address of a mail server with the user of the login. */
export const withUser = (url: string): string => url.replace('//', `//${encodeURIComponent(USER)}@`)

/** Access tokens of OAuth 2.0 as the keys of requests. */
import { addAbortListener } from 'node:events'
import { LeadsheetError } from '../errors.ts'
import type { KeySource } from '../upstream/client/key-source.ts'
import { shareToken } from './token-file.ts'
import type { Login, Token, TokenDeps } from './token-request.ts'
import { hintOf, requestToken } from './token-request.ts'

/** The longest time before the end of a token at which another one is fetched. */
const MARGIN_MS = 60_000
/** Short tokens are fetched anew after three quarters of their time. */
const MARGIN_SHARE = 1 / 4
/** An upstream could quote older tokens, which have expired. */
const KNOWN_MAX = 50

interface OAuthOptions extends Omit<TokenDeps, 'stop'> {
  /** The path of the file with the tokens, see `token-file.ts`. */
  readonly file: string
}

/** A token is fetched before it expires, and once after a 401, for all requests and processes together. */
export function openOAuthKeys(login: Login, options: OAuthOptions): KeySource {
  const closing = new AbortController()
  const deps = { ...options, stop: closing.signal }
  let token: Token | null = null
  let known: readonly string[] = []
  let renewal: Promise<Token> | null = null
  /** A refused token that the service gave again. */
  let hopeless: string | null = null

  const isFresh = ({ expiresAt, fetchedAt }: Token): boolean =>
    expiresAt === null ||
    options.now().getTime() < expiresAt - Math.min(MARGIN_MS, (expiresAt - fetchedAt) * MARGIN_SHARE)

  function renew(refused: string | null): Promise<Token> {
    renewal ??= fetchToken(refused).finally(() => {
      renewal = null
    })
    return renewal
  }

  async function fetchToken(refused: string | null): Promise<Token> {
    const fetched = await shareToken(
      options.file,
      closing.signal,
      login,
      (stored) => stored.accessToken !== refused && isFresh(stored),
      (stored) => requestToken(login, stored?.refreshToken ?? login.refreshToken, deps),
    )
    if (fetched.accessToken === refused) hopeless = refused
    if (!known.includes(fetched.accessToken)) known = [...known, fetched.accessToken].slice(-KNOWN_MAX)
    token = fetched
    return fetched
  }

  return {
    what: 'the access token',
    hint: hintOf(
      login,
      'The token is new, and came from api.oauth.token_url. Check what api.oauth.scope and the user of the login may read, and how the profile sends it (auth).',
    ),
    async current(signal) {
      if (token !== null && isFresh(token)) return token.accessToken
      // A new token is used as it is, even if its answer took longer than it lasts.
      return (await unlessAborted(renew(null), signal)).accessToken
    },
    async hasOther(refused, signal) {
      if (renewal !== null) await unlessAborted(renewal, signal)
      if (token?.accessToken === refused && hopeless !== refused) await unlessAborted(renew(refused), signal)
      return token?.accessToken !== refused
    },
    known: () => known,
    about() {
      const { origin, pathname } = new URL(login.tokenUrl)
      const end = token?.expiresAt ?? null
      const lasts =
        end === null ? 'until it is refused' : `until ${new Date(end).toISOString().slice(0, 19)}Z`
      return `${login.grant} at ${origin}${pathname}, token lasts ${lasts}`
    },
    async close() {
      closing.abort(new LeadsheetError('run_interrupted', 'the login was closed'))
      await renewal?.catch(() => undefined)
    },
  }
}

/** Ends the wait with the signal, and lets the work go on: its answer may hold a new refresh token. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined)
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  using _listener = addAbortListener(signal, () => reject(signal.reason))
  return await Promise.race([work, aborted])
}

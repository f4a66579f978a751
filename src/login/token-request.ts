/**
 * Asks a token URL for an access token (RFC 6749, 7523). Answers of vendors differ from the standard: some are
 * forms in place of JSON, some report an error with status 200, and some do not say how long a token lasts.
 */
import { createPrivateKey, sign } from 'node:crypto'
import { LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ProxySettings } from '../proxy.ts'
import { learnSecret, redactor, withoutLearnedSecrets } from '../redaction.ts'
import { type Backoff, wait } from '../retry.ts'
import { quote, saidIn } from '../upstream/client/answer.ts'
import { createClient } from '../upstream/client/retrying-client.ts'

/** A login by OAuth 2.0, from the settings in clear. */
export interface Login {
  /** The path of its settings, for hints: `api.oauth` or another. */
  readonly settings: string
  readonly tokenUrl: string
  readonly grant: 'client_credentials' | 'refresh_token' | 'jwt_bearer'
  readonly clientId: string | null
  readonly clientSecret: string | null
  /** The place of the client's id and secret: an HTTP Basic header, or the body. */
  readonly clientAuth: 'basic' | 'body'
  readonly scope: string | null
  readonly audience: string | null
  /** The first refresh token. A rotated one replaces it. */
  readonly refreshToken: string | null
  /** In PEM: RSA, or EC on the curve P-256. */
  readonly privateKey: string | null
  readonly issuer: string | null
  readonly subject: string | null
  /** Further parameters of the request. */
  readonly params: Readonly<Record<string, string>> | null
}

export interface Token {
  readonly accessToken: string
  /** The refresh token of the next request; null if there is none. */
  readonly refreshToken: string | null
  /** In milliseconds since 1970; null if the answer does not say it. */
  readonly expiresAt: number | null
  readonly fetchedAt: number
}

export interface TokenDeps {
  readonly log: Log
  readonly proxy?: ProxySettings | undefined
  readonly now: () => Date
  readonly backoff?: Backoff | undefined
  /** If the service asks for a longer wait, the request fails as deferred. */
  readonly maxWaitMs: number
  /** Ends the waits between attempts. An attempt itself is not cut, because its answer may hold a new refresh token. */
  readonly stop: AbortSignal
}

/** Short, because other processes wait for the token. */
const DEADLINES = { headersMs: 15_000, attemptMs: 20_000 } as const

/**
 * A failure that may pass is tried again. This holds for a refresh token too: if its answer was lost, only
 * trying again shows whether the service still takes it.
 * @param refreshToken the refresh token to use, for the grant `refresh_token`
 * @throws LeadsheetError api_unauthorized if the service refuses the login, api_unreachable, api_deferred,
 * api_unexpected
 */
export async function requestToken(
  login: Login,
  refreshToken: string | null,
  deps: TokenDeps,
): Promise<Token> {
  const url = new URL(login.tokenUrl)
  // The time before the request, so that the token expires here no later than at the service.
  const fetchedAt = deps.now().getTime()
  const form = formOf(login, refreshToken, fetchedAt)
  const secrets = [login.clientSecret, login.privateKey, refreshToken, form.get('assertion')]
  const redact = redactor(secrets.filter((secret) => secret !== null))
  const { stop, ...options } = deps
  const client = createClient({
    ...options,
    // No secret is hidden from the answers, because a service may answer with the same refresh token again.
    apiKey: '',
    authorize: (_url, headers) => {
      if (isInHeader(login)) headers.authorization = `Basic ${clientBasic(login)}`
    },
    userAgent: 'leadsheet',
    deadlines: DEADLINES,
    timer: { now: () => performance.now(), wait: (ms) => wait(ms, stop) },
  })
  try {
    const { status, body } = await client.call({
      method: 'POST',
      url,
      form,
      isRead: true,
      takesAny: true,
    })
    return tokenIn(login, status, parametersIn(body), { refreshToken, fetchedAt })
  } catch (thrown) {
    throw thrown instanceof LeadsheetError ? ofLogin(login, thrown, redact) : thrown
  } finally {
    // Without waiting for it, because the token must be stored first.
    void client.close()
  }
}

const GRANT_TYPES = {
  client_credentials: 'client_credentials',
  refresh_token: 'refresh_token',
  jwt_bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
} as const

function formOf(login: Login, refreshToken: string | null, nowMs: number): URLSearchParams {
  const { grant, clientId, clientSecret, scope, audience, params } = login
  const isSigned = grant === 'jwt_bearer'
  const fields = {
    grant_type: GRANT_TYPES[grant],
    refresh_token: grant === 'refresh_token' ? refreshToken : null,
    assertion: isSigned ? assertionOf(login, nowMs) : null,
    // A signed assertion has these in its claims.
    scope: isSigned ? null : scope,
    audience: isSigned ? null : audience,
    client_id: isInHeader(login) ? null : clientId,
    client_secret: isInHeader(login) ? null : clientSecret,
    ...params,
  }
  return new URLSearchParams(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== null),
  )
}

/** A client without a secret gives its id in the body (RFC 6749, 3.2.1). */
function isInHeader({ clientAuth, clientSecret }: Login): boolean {
  return clientAuth === 'basic' && clientSecret !== null
}

/** Id and secret are encoded as in a form first (RFC 6749, 2.3.1). */
function clientBasic({ clientId, clientSecret }: Login): string {
  const [id, secret] = [clientId, clientSecret].map((text) =>
    new URLSearchParams([['', text ?? '']]).toString().slice(1),
  )
  return Buffer.from(`${id}:${secret}`).toString('base64')
}

/** Salesforce takes no assertion that is valid for longer than five minutes. */
const ASSERTION_S = 180

/** Signs the claims (RFC 7523, 3; RFC 7518, 3.3 and 3.4). */
function assertionOf(
  { issuer, subject, audience, scope, tokenUrl, privateKey }: Login,
  nowMs: number,
): string {
  const key = createPrivateKey(privateKey ?? '')
  const iat = Math.floor(nowMs / 1000)
  const claims = {
    iss: issuer ?? undefined,
    sub: subject ?? undefined,
    aud: audience ?? tokenUrl,
    scope: scope ?? undefined,
    iat,
    exp: iat + ASSERTION_S,
  }
  const alg = key.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256'
  const [head, payload] = [{ alg, typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = sign('sha256', Buffer.from(`${head}.${payload}`), { key, dsaEncoding: 'ieee-p1363' })
  return `${head}.${payload}.${signature.toString('base64url')}`
}

type Parameters = Readonly<Record<string, unknown>>

/** Reads an answer that is a JSON object, or a form. */
function parametersIn(body: unknown): Parameters {
  if (typeof body === 'object' && body !== null) return body as Parameters
  const text = String(body ?? '')
  try {
    return parametersIn(JSON.parse(text) ?? '')
  } catch {
    return Object.fromEntries(new URLSearchParams(text))
  }
}

function tokenIn(
  login: Login,
  status: number,
  answer: Parameters,
  { refreshToken, fetchedAt }: Pick<Token, 'refreshToken' | 'fetchedAt'>,
): Token {
  const { access_token: accessToken, refresh_token: rotated } = answer
  const isRefused = status > 299 || (answer.error !== undefined && answer.error !== null)
  // Its type (`token_type`) is not looked at, because the profile says how it is sent.
  if (isRefused || typeof accessToken !== 'string' || !/^[\x20-\x7e]+$/.test(accessToken))
    throw isRefused ? refusal(login, status, answer) : withoutToken(login, status, answer)
  const seconds = Number.parseFloat(String(answer.expires_in_sec ?? answer.expires_in))
  learnSecret(accessToken)
  return {
    accessToken,
    refreshToken: typeof rotated === 'string' && rotated !== '' ? learnSecret(rotated) : refreshToken,
    expiresAt: seconds > 0 ? fetchedAt + seconds * 1000 : null,
    fetchedAt,
  }
}

const OF_CLIENT =
  'Check api.oauth.client_id and api.oauth.client_secret (LEADSHEET_API_OAUTH_CLIENT_SECRET), and whether api.oauth.client_auth must be body or basic.'
const OF_GRANT: Readonly<Record<Login['grant'], string>> = {
  client_credentials: OF_CLIENT,
  refresh_token:
    'The refresh token was revoked, has expired, or was used by another program. Get a new one as "Any service" in docs/how-to/log-in-to-your-crm.md says, put it into api.oauth.refresh_token (LEADSHEET_API_OAUTH_REFRESH_TOKEN), and restart the daemon.',
  jwt_bearer:
    'Check api.oauth.issuer, subject and audience, that the service has the public key of api.oauth.private_key_file and lets the subject in, and the clock of this machine.',
}
const LATER = 'It may have been asked for too many tokens. Wait some minutes, and try again.'
/** The hints for errors (RFC 6749, 5.2; RFC 8707) that do not depend on the grant. All others have that of the grant. */
const HINTS: Readonly<Record<string, string>> = {
  invalid_client: OF_CLIENT,
  unauthorized_client: 'Let the client use this grant at the service, or set another api.oauth.grant.',
  unsupported_grant_type: 'Set another api.oauth.grant, or check api.oauth.token_url.',
  invalid_scope: 'Check api.oauth.scope, and which scopes the client may ask for.',
  invalid_target: 'Check api.oauth.audience.',
  access_denied: LATER,
  temporarily_unavailable: LATER,
  server_error: LATER,
}

/** Quotes the error and its description, and nothing else, because another field could hold a secret. */
function refusal(login: Login, status: number, answer: Parameters): LeadsheetError {
  const { error, error_description: description } = answer
  const name = typeof error === 'string' ? error : ''
  const hint = HINTS[name.toLowerCase().replaceAll(' ', '_')]
  const isNone = name === '' && saidIn(answer) === null
  const said = [name, quote(saidIn(description ?? (name === '' ? answer : null)) ?? '')].filter(Boolean)
  return new LeadsheetError(
    hint === LATER ? 'api_unreachable' : isNone ? 'api_unexpected' : 'api_unauthorized',
    `${placeOf(login)} answered ${status}${said.length > 0 ? `: ${said.join(': ')}` : ''}`,
    { hint: hint ?? (isNone ? ADDRESS_HINT : OF_GRANT[login.grant]) },
  )
}

/** Names the fields of the answer without their values. */
function withoutToken(login: Login, status: number, answer: Parameters): LeadsheetError {
  const names = Object.keys(answer).filter((name) => /^\w{1,40}$/.test(name))
  const found = names.length === 0 ? 'another page' : names.join(', ')
  return new LeadsheetError(
    'api_unexpected',
    `${placeOf(login)} answered ${status}: found ${found}, expected access_token with a text that a header can carry`,
    { hint: ADDRESS_HINT },
  )
}

const ADDRESS_HINT =
  'Check api.oauth.token_url, that the service is up, and the proxy if HTTPS_PROXY or HTTP_PROXY names one.'

function placeOf({ tokenUrl }: Login): string {
  const { origin, pathname } = new URL(tokenUrl)
  return origin + pathname
}

/** The hints of the client are about the list of leads. */
function ofLogin(
  login: Login,
  { code, message, hint, notBefore, cause }: LeadsheetError,
  redact: (text: string) => string,
) {
  const isOurs = hint !== undefined && Object.values({ ...OF_GRANT, ...HINTS }).includes(hint)
  return new LeadsheetError(code, `no access token: ${withoutLearnedSecrets(redact(message))}`, {
    hint: hintOf(login, isOurs || code === 'api_deferred' ? (hint ?? '') : ADDRESS_HINT),
    cause,
    ...(notBefore !== undefined && { notBefore }),
  })
}

/** The tables of hints name the settings and the variables of `api.oauth`. */
export function hintOf({ settings }: Pick<Login, 'settings'>, hint: string): string {
  const variables = settings.toUpperCase().replaceAll('.', '_')
  return hint.replaceAll('api.oauth', settings).replaceAll('API_OAUTH', variables)
}

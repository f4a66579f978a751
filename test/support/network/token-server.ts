/**
 * A token URL on 127.0.0.1 with one client. It rotates refresh tokens as RFC 9700 (4.14.2) wants it: each may be used
 * once.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Login } from '../../../src/login/token-request.ts'
import { openHttpServer } from './http-server.ts'

export const CLIENT = { id: 'leadsheet', secret: 'client-secret-4711' }

/** Returns the settings of a login of that client. */
export function loginOf(tokenUrl: string, more: Partial<Login> = {}): Login {
  return {
    settings: 'api.oauth',
    tokenUrl,
    grant: 'client_credentials',
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    clientAuth: 'basic',
    scope: null,
    audience: null,
    refreshToken: null,
    privateKey: null,
    issuer: null,
    subject: null,
    params: null,
    ...more,
  }
}

interface Asked {
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, string>>
}

/** Answers a request for a token in place of the server. If it returns `false`, the server answers. */
export type TokenAnswer = (asked: Asked, response: ServerResponse) => boolean | undefined | Promise<boolean>

export type TokenServer = Awaited<ReturnType<typeof startTokenServer>>

export async function startTokenServer(lifetime = 3600) {
  /** The refresh tokens that may be used, each once. */
  const usable = new Set<string>()
  const newToken = (kind: string): string => `${kind}-${randomBytes(12).toString('base64url')}`
  const newRefreshToken = (): string => {
    const token = newToken('refresh')
    usable.add(token)
    return token
  }

  function answer({ headers, body }: Asked): { status: number; json: object } {
    const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`
    const isKnown = headers.authorization === basic || body['client_secret'] === CLIENT.secret
    if (!isKnown && body['assertion'] === undefined) return { status: 401, json: { error: 'invalid_client' } }
    let refresh = {}
    if (body['grant_type'] === 'refresh_token') {
      if (!usable.delete(body['refresh_token'] ?? ''))
        return {
          status: 400,
          json: { error: 'invalid_grant', error_description: 'grant request is invalid' },
        }
      refresh = { refresh_token: newRefreshToken() }
    }
    const access = newToken('access')
    server.good.add(access)
    const ends = setTimeout(() => server.good.delete(access), server.lifetime * 1000)
    ends.unref()
    return {
      status: 200,
      json: { access_token: access, token_type: 'Bearer', expires_in: server.lifetime, ...refresh },
    }
  }

  const http = await openHttpServer(async (request, response) => {
    const asked = {
      headers: request.headers,
      body: Object.fromEntries(new URLSearchParams(await text(request))),
    }
    server.asked.push(asked)
    if (await server.answers.shift()?.(asked, response)) return
    const { status, json } = answer(asked)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  const server = {
    url: `${http.url}/token`,
    asked: [] as Asked[],
    /** The answers to the next requests. Each request takes the first one. */
    answers: [] as TokenAnswer[],
    /** The lifetime of tokens in seconds. */
    lifetime,
    /** The access tokens that are good now. */
    good: new Set<string>(),
    /** Returns a refresh token, as the consent of a person does. */
    consent: newRefreshToken,
    /** Revokes all tokens. */
    revoke(): void {
      usable.clear()
      server.good.clear()
    },
    /** How often a token was shown that is not good. */
    refusals: 0,
    /** Returns whether a token is good. */
    takes(token: string): boolean {
      const isGood = server.good.has(token)
      if (!isGood) server.refusals++
      return isGood
    },
    /** Returns whether a request carries a good token. */
    allows: ({ authorization = '' }: IncomingHttpHeaders): boolean =>
      server.takes(authorization.replace(/^Bearer /, '')),
    /** Never answers the next request. Resolves when it has come. */
    hang: (): Promise<void> =>
      new Promise((resolve) => {
        server.answers.push(() => {
          resolve()
          return true
        })
      }),
    [Symbol.asyncDispose]: http[Symbol.asyncDispose],
  }
  return server
}

/** Returns an answer with a status and a body. */
export function tokenAnswer(
  status: number,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
): TokenAnswer {
  return (_asked, response) => {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json'
    response.writeHead(status, { 'content-type': type, ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
    return true
  }
}

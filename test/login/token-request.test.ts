/** The requests to a token URL, and the meaning of its answers. */
import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { type Login, requestToken } from '../../src/login/token-request.ts'
import { startProxy } from '../support/network/forward-proxy.ts'
import {
  CLIENT,
  loginOf,
  startTokenServer,
  type TokenServer,
  tokenAnswer,
} from '../support/network/token-server.ts'
import { checkExamples } from '../support/process/transcript.ts'
import { SILENT } from '../support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const REFRESH = 'refresh-token-4712'

const DEPS = {
  log: SILENT,
  now: () => NOW,
  maxWaitMs: 1000,
  backoff: { attempts: 3, baseMs: 0, maxMs: 0 },
  stop: new AbortController().signal,
}

const request = (server: TokenServer, more: Partial<Login> = {}) =>
  requestToken(loginOf(server.url, more), REFRESH, DEPS)

describe('a request for a token', () => {
  const LOGINS: Readonly<Record<string, Partial<Login>>> = {
    'a client in a header': {},
    'a client whose secret has signs of a form': { clientSecret: 'a+b c:%' },
    'a client in the body, with all that can be asked for': {
      clientAuth: 'body',
      scope: 'a b',
      audience: 'https://crm',
      params: { resource: 'x' },
    },
    'a refresh token of a client without a secret': { grant: 'refresh_token', clientSecret: null },
  }
  it('has the fields of its login', async () => {
    await using server = await startTokenServer()
    const lines: string[] = []
    for (const [name, login] of Object.entries(LOGINS)) {
      server.answers.push(tokenAnswer(200, { access_token: 'an-access-token' }))
      await request(server, login)
      const { body, headers } = server.asked.at(-1) ?? { body: {}, headers: {} }
      const basic = headers.authorization?.replace(/(?<=^Basic )\S+$/, (text) => atob(text)) ?? 'none'
      lines.push(name, `  authorization: ${basic}`)
      lines.push(...Object.entries(body).map(([field, value]) => `  ${field}: ${value}`))
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/requests.txt')
  })

  it.each([
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ])('is signed with %s', async (alg, { privateKey, publicKey }) => {
    await using server = await startTokenServer()
    const signed = { privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), issuer: 'me' }
    const noClient = { grant: 'jwt_bearer', clientId: null, clientSecret: null } as const
    await request(server, { ...noClient, ...signed })
    await request(server, { ...noClient, ...signed, subject: 'ana', audience: 'https://aud', scope: 'read' })
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const claims = server.asked.map(({ body: { assertion = '', ...body } }) => {
      expect(body).toEqual({ grant_type: grant })
      return claimsOf(assertion, alg, publicKey)
    })
    const iat = NOW.getTime() / 1000
    expect(claims).toEqual([
      { iss: 'me', aud: server.url, iat, exp: iat + 180 },
      { iss: 'me', sub: 'ana', aud: 'https://aud', scope: 'read', iat, exp: iat + 180 },
    ])
  })

  it('goes through the proxy', async () => {
    await using server = await startTokenServer()
    await using proxy = await startProxy()
    const url = server.url.replace('127.0.0.1', 'login.internal')
    const settings = { http: proxy.url, https: proxy.url, except: [] }
    await requestToken(loginOf(url), null, { ...DEPS, proxy: settings })
    expect(proxy.asked.map(({ what }) => what)).toEqual([`POST ${url}`])
  })

  it('is sent again after a failure that may pass, also with a refresh token', async () => {
    await using server = await startTokenServer()
    const first = server.consent()
    server.answers.push(tokenAnswer(503, 'away'), (_asked, response) => Boolean(response.destroy()))
    const token = await requestToken(loginOf(server.url, { grant: 'refresh_token' }), first, DEPS)
    expect(server.good.has(token.accessToken)).toBe(true)
    expect(server.asked.map(({ body }) => body['refresh_token'])).toEqual([first, first, first])
  })

  it('is put off if the service asks for a longer wait than a run allows', async () => {
    await using server = await startTokenServer()
    server.answers.push(tokenAnswer(429, 'slowly', { 'retry-after': '600' }))
    await expect(request(server)).rejects.toMatchObject({
      code: 'api_deferred',
      message: `no access token: ${new URL(server.url).origin} asks to wait until 2026-11-21T06:10:00.000Z`,
      notBefore: '2026-11-21T06:10:00.000Z',
    })
    expect(server.asked).toHaveLength(1)
  })
})

const GRANTS: Readonly<Record<string, Partial<Login>>> = {
  client_credentials: {},
  refresh_token: { grant: 'refresh_token' },
  jwt_bearer: {
    grant: 'jwt_bearer',
    issuer: 'me',
    privateKey: String(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ),
  },
}

test.each([
  ['what a service grants is read in the forms of many', 'grants'],
  ['what a service refuses is told with its remedy, and without a secret', 'refusals'],
])('%s', (_what, golden) =>
  checkExamples(join(import.meta.dirname, `golden/${golden}.txt`), async (input) => {
    const [, grant = '', status = '', body = ''] = /^(\w+) (\d+) ?(.*)$/.exec(input) ?? []
    await using server = await startTokenServer()
    const quoted = body.replaceAll('SECRET', CLIENT.secret).replaceAll('REFRESH', REFRESH)
    const answer = tokenAnswer(Number(status), quoted, status === '302' ? { location: '/login' } : {})
    server.answers.push(answer, answer, answer)
    return await request(server, GRANTS[grant]).then(
      ({ accessToken, refreshToken, expiresAt }) => {
        const lasts = expiresAt === null ? 'for an unknown time' : `${(expiresAt - NOW.getTime()) / 1000} s`
        return [`${accessToken} ${lasts}, then ${refreshToken === REFRESH ? 'REFRESH' : refreshToken}`]
      },
      ({ code, message, hint }) => [`${code}: ${message.replace(/:\d{4,5}\//, ':PORT/')}`, hint],
    )
  }),
)

function claimsOf(assertion: string, alg: string, key: KeyObject): unknown {
  const [head = '', payload = '', signature = ''] = assertion.split('.')
  const isGood = verify(
    'sha256',
    Buffer.from(`${head}.${payload}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  expect(isGood).toBe(true)
  const [header, claims] = [head, payload].map((part) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()),
  )
  expect(header).toEqual({ alg, typ: 'JWT' })
  return claims
}

/**
 * oidc-provider from npm, with a list of leads behind it. Access tokens last 20 s, and each use of a refresh token
 * rotates it. The test steers it below /admin. It prints its port.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Provider } from 'oidc-provider'

const [id, secret] = process.argv.slice(2)
const LIFETIME_S = 20
const PAGE_MAX = 50

const server = createServer()
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address()

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: id,
      client_secret: secret,
      grant_types: ['client_credentials', 'refresh_token', 'authorization_code'],
      redirect_uris: ['https://leadsheet.example.com/callback'],
    },
  ],
  scopes: ['openid', 'offline_access', 'leads'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    introspection: { enabled: true },
  },
  // A mail server asks whose mailbox a token is for.
  extraTokenClaims: () => ({ email: 'reports@example.com' }),
  findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
  rotateRefreshToken: true,
  ttl: {
    AccessToken: LIFETIME_S,
    ClientCredentials: LIFETIME_S,
    RefreshToken: 86_400,
    Grant: 86_400,
    IdToken: 60,
  },
})

const state = { pages: 0, refused: 0, tokens: 0, failures: 0, pauseMs: 0 }
let leads = []
let grantId = ''
const issued = new Set()
for (const kind of ['access_token', 'client_credentials'])
  provider.on(`${kind}.saved`, (token) => {
    state.tokens++
    issued.add(token)
  })
provider.on('grant.error', () => state.failures++)

/** Allows the client to read, as a person does once in a browser, and gets a refresh token. */
async function consent() {
  const grant = new provider.Grant({ accountId: 'ana', clientId: id })
  grant.addOIDCScope('openid offline_access leads')
  grantId = await grant.save()
  const client = await provider.Client.find(id)
  const token = new provider.RefreshToken({
    accountId: 'ana',
    client,
    grantId,
    gty: 'authorization_code',
    scope: 'openid offline_access leads',
    iiat: Math.floor(Date.now() / 1000),
  })
  return token.save()
}

async function isAllowed({ headers }) {
  const value = (headers.authorization ?? '').replace(/^Bearer /, '')
  return Boolean((await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value)))
}

const ADMIN = {
  consent: async () => ({ refreshToken: await consent() }),
  leads: async (body) => {
    leads = body
  },
  pause: async ({ ms }) => {
    state.pauseMs = ms
  },
  state: async () => ({ ...state }),
  async 'revoke-access'() {
    for (const token of issued) await token.destroy()
  },
  async 'revoke-grant'() {
    for (const token of issued) await token.destroy()
    await provider.RefreshToken.revokeByGrantId(grantId)
    await (await provider.Grant.find(grantId))?.destroy()
  },
}

server.on('request', async (request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1')
  const json = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  }
  const [, area, name] = url.pathname.split('/')
  if (area === 'admin') return json(200, await ADMIN[name](JSON.parse((await text(request)) || 'null')))
  if (area !== 'crm') return provider.callback()(request, response)
  if (!(await isAllowed(request))) {
    state.refused++
    return json(401, { error: 'invalid_token' })
  }
  if (name !== 'contacts' || request.method !== 'GET') return json(404, { error: 'not found' })
  const size = Math.min(Number(url.searchParams.get('limit') ?? PAGE_MAX), PAGE_MAX)
  const from = Number(url.searchParams.get('cursor') ?? 0)
  const next = from + size < leads.length ? String(from + size) : null
  state.pages++
  await sleep(state.pauseMs)
  json(200, { data: leads.slice(from, from + size), next_cursor: next, total: leads.length })
})
process.stdout.write(`${port}\n`)

/** Tests over real HTTP who may see the dashboard and act in it. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { random } from '../../support/random.ts'
import {
  AS_BROWSER,
  type Asked,
  act,
  ask,
  openDashboard,
  post,
  signIn,
  TOKEN,
} from '../../support/web/dashboard.ts'

const SEED = Number(process.env.SEED ?? 1)
const BEARER = { authorization: `Bearer ${TOKEN}` }
const LOOPBACK = ''
const SIGNED = `token: ${TOKEN}`
const OUTSIDE = 'listen: 0.0.0.0:0'
const PUBLIC = 'public_url: https://reports.example.com'
const FURTHER = 'allowed_hosts: [leadsheet]'
const BY_PROXY = 'trusted_proxies: [loopback]'
const asSaid = (host: string) => ({ 'x-forwarded-host': host })

/** The headers of requests that come through a proxy of this machine of which the settings say nothing. */
const THROUGH_PROXIES: readonly Readonly<Record<string, string>>[] = [
  { 'x-forwarded-for': '203.0.113.1' },
  { 'x-forwarded-proto': 'https' },
  { 'x-request-id': 'a' },
  { forwarded: 'for=203.0.113.1' },
  { via: '1.1 proxy' },
  { 'cf-connecting-ip': '203.0.113.1' },
  { host: 'reports.example.com' },
  { host: '192.0.2.1' },
  { connection: 'close' },
]

type Look = readonly [
  web: string,
  who: string,
  path: string,
  headers: NonNullable<Asked['headers']>,
  status: number,
]

/** The people who may look, by the settings, and by the name under which the dashboard is asked for. */
const LOOKS: readonly Look[] = [
  [LOOPBACK, 'a person', '/', {}, 200],
  [LOOPBACK, 'a machine', '/metrics', {}, 200],
  [LOOPBACK, 'a machine that keeps no name', '/', { host: 'localhost:8080' }, 200],
  [LOOPBACK, 'a machine of six', '/', { host: '[::1]:8080' }, 200],
  ...THROUGH_PROXIES.map((headers): Look => [LOOPBACK, JSON.stringify(headers), '/', headers, 403]),
  ['public_url: http://localhost:8080', 'a person on this machine', '/', {}, 200],
  [OUTSIDE, 'a person', '/', {}, 403],
  [OUTSIDE, 'a machine', '/metrics', {}, 403],
  [OUTSIDE, 'who has any token', '/', BEARER, 403],
  [PUBLIC, 'a person', '/', {}, 403],
  [FURTHER, 'a person', '/', {}, 403],
  [SIGNED, 'a person', '/', {}, 401],
  [SIGNED, 'a machine', '/metrics', {}, 401],
  [SIGNED, 'a machine that has it', '/metrics', BEARER, 200],
  [SIGNED, 'one that would act by looking', '/actions/sync', BEARER, 404],
  [SIGNED, 'one that writes the word small', '/', { authorization: `bearer ${TOKEN}` }, 200],
  [SIGNED, 'with it as a password', '/', { authorization: `Basic ${btoa(`:${TOKEN}`)}` }, 401],
  [SIGNED, 'with it as a cookie', '/', { cookie: `leadsheet=${TOKEN}` }, 401],
  [SIGNED, 'with it in the address', `/?token=${TOKEN}`, {}, 401],
  [SIGNED, 'with another', '/', { authorization: `Bearer ${TOKEN}x` }, 401],
  [SIGNED, 'with one that is cut', '/', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401],
  [`${OUTSIDE}\n${SIGNED}`, 'a machine that has it', '/', BEARER, 200],
  [`${OUTSIDE}\n${SIGNED}`, 'a person', '/', {}, 401],
  [SIGNED, 'by an address', '/', { ...BEARER, host: '192.0.2.7:8080' }, 200],
  [SIGNED, 'by an address of IPv6', '/', { ...BEARER, host: '[2001:db8::1]:8080' }, 200],
  [SIGNED, 'by this machine', '/', { ...BEARER, host: 'localhost' }, 200],
  [SIGNED, 'by a name that points here', '/', { ...BEARER, host: 'evil.example.com' }, 403],
  [SIGNED, 'by one that begins as ours', '/', { ...BEARER, host: 'localhost.evil.com' }, 403],
  [SIGNED, 'by one with ours before it', '/', { ...BEARER, host: 'localhost@evil.com' }, 403],
  [SIGNED, 'by ours, said by nobody', '/', { ...BEARER, host: 'evil.com', ...asSaid('localhost') }, 403],
  [SIGNED, 'by ours, whatever such a proxy says', '/', { ...BEARER, ...asSaid('e.com') }, 200],
  [`${SIGNED}\n${BY_PROXY}`, 'by a strange name of a proxy', '/', { ...BEARER, ...asSaid('evil.com') }, 403],
  [`${SIGNED}\n${PUBLIC}`, 'by the public name', '/', { ...BEARER, host: 'reports.example.com' }, 200],
  [`${SIGNED}\n${PUBLIC}`, 'by its like', '/', { ...BEARER, host: 'reports.example.com.evil.com' }, 403],
  [`${SIGNED}\n${FURTHER}`, 'by a further name', '/', { ...BEARER, host: 'leadsheet:8080' }, 200],
]

describe('the dashboard', () => {
  it.each([...Map.groupBy(LOOKS, ([web]) => web)])(
    'is shown to those who may see it and to nobody else, with %j',
    async (web, looks) => {
      const { url } = await openDashboard(web)
      const seen = looks.map(async ([, who, path, headers]) => [
        who,
        (await ask(`${url}${path}`, { headers })).status,
      ])
      expect(await Promise.all(seen)).toEqual(looks.map(([, who, , , status]) => [who, status]))
    },
  )

  it('leads to sign in where a page is asked for, and back, and to no other place than ours', async () => {
    const { url } = await openDashboard()
    const first = await ask(`${url}/?x=1`, { headers: AS_BROWSER })
    expect([first.status, first.headers.location]).toEqual([303, '/sign-in?to=%2F%3Fx%3D1'])
    const page = await ask(`${url}/sign-in?to=%2F%3Fx%3D1`)
    expect(page.text).toContain('name="to" value="/?x&#x3D;1"')
    const signed = await post(url, '/sign-in', { token: TOKEN, to: '/?x=1' })
    expect([signed.status, signed.headers.location]).toEqual([303, '/?x=1'])
    const astray = await post(url, '/sign-in', { token: TOKEN, to: '//evil.example.com' })
    expect(astray.headers.location).toBe('/')
    expect(signed.headers['set-cookie']).toEqual([
      expect.stringMatching(/^leadsheet=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/),
    ])
  })

  it('says what to set where it is closed, and leaves what is for everybody open', async () => {
    const { url, config } = await openDashboard(`${OUTSIDE}\n${PUBLIC}`)
    const page = await ask(url, { headers: AS_BROWSER })
    expect(page.text).toContain('<h1>The dashboard is closed</h1>')
    expect(page.text).toContain('<code>openssl rand -hex 24</code>')
    expect(page.text).toContain('Set web.token_file (LEADSHEET_WEB_TOKEN_FILE)')
    expect(config.warnings.join()).toContain(
      'the dashboard can be reached from outside, and is closed. Set web',
    )
    const open = ['/healthz', '/web.css', '/dashboard.css', '/preferences/x', '/sign-in']
    const statuses = await Promise.all(open.map(async (path) => (await ask(`${url}${path}`)).status))
    expect(statuses).toEqual([200, 200, 200, 404, 303])
  })
})

it('a request that seems to come through a proxy is told by what', async () => {
  const { url } = await openDashboard(LOOPBACK)
  const { text } = await ask(url, { headers: { 'x-request-id': 'a' } })
  expect(text).toContain('x-request-id')
  expect(text).toContain('Set web.token_file')
  expect(text).not.toContain('can be reached from outside')
})

it('a request by HTTP/1.0 without a token, as nginx sends it, is no look of this machine', async () => {
  const { url } = await openDashboard(LOOPBACK)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end('GET / HTTP/1.0\r\nHost: 127.0.0.1:8080\r\n\r\n')
  expect((await text(socket)).slice(0, 12)).toBe('HTTP/1.1 403')
})

describe('a session', () => {
  it('is kept to TLS where there is TLS, as the public name or a trusted proxy says', async () => {
    const { url } = await openDashboard(`${PUBLIC}\n${SIGNED}\n${BY_PROXY}`)
    const bySite = { host: 'reports.example.com', origin: 'https://reports.example.com' }
    for (const headers of [bySite, { 'x-forwarded-proto': 'https' }]) {
      const signed = await post(url, '/sign-in', { token: TOKEN }, headers)
      expect(String(signed.headers['set-cookie'])).toMatch(/^__Host-leadsheet=.*; Path=\/;.*; Secure$/)
      const [cookie = ''] = String(signed.headers['set-cookie']).split(';')
      expect((await ask(url, { headers: { ...headers, cookie } })).status).toBe(200)
      // A sender that can use this without TLS could have read it there.
      expect((await ask(url, { headers: { cookie } })).status).toBe(401)
    }
  })

  it(`is none of ours once a character of it is another (SEED=${SEED})`, async () => {
    const { url } = await openDashboard()
    const { cookie } = await signIn(url)
    expect((await ask(url, { headers: { cookie } })).status).toBe(200)
    const value = cookie.slice('leadsheet='.length)
    const next = random(SEED)
    const messages = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    const forged = Array.from({ length: 60 }, () => {
      const at = Math.floor(next() * value.length)
      const message = messages[Math.floor(next() * messages.length)] ?? 'A'
      return next() < 0.2 ? value.slice(0, at) : `${value.slice(0, at)}${message}${value.slice(at + 1)}`
    }).filter((each) => each !== value)
    expect(forged.length).toBeGreaterThan(50)
    const taken: string[] = []
    for (const each of forged) {
      const { status } = await ask(url, { headers: { cookie: `leadsheet=${each}` } })
      if (status !== 401) taken.push(`${status} ${each}`)
    }
    expect(taken).toEqual([])
  })

  it('of another token is none', async () => {
    const [mine, other] = [await openDashboard(), await openDashboard('token: another-token-of-others')]
    const { cookie } = await signIn(mine.url)
    expect((await ask(mine.url, { headers: { cookie } })).status).toBe(200)
    expect((await ask(other.url, { headers: { cookie } })).status).toBe(401)
  })

  it('ends by the button, and opens nothing then for who has a copy of its cookie, and leaves others alone', async () => {
    const { url } = await openDashboard()
    const [session, other] = [await signIn(url), await signIn(url)]
    const out = await act(url, '/sign-out', session, {})
    expect([out.status, out.headers.location]).toEqual([303, '/sign-in'])
    expect(String(out.headers['set-cookie'])).toMatch(/^leadsheet=; Path=\/; Max-Age=0; HttpOnly/)
    const statusOf = async (cookie: string) => (await ask(url, { headers: { cookie } })).status
    expect([await statusOf(session.cookie), await statusOf(other.cookie)]).toEqual([401, 200])
    const again = await ask(`${url}/sign-in`, { headers: { cookie: session.cookie } })
    expect([again.status, again.text.includes('token')]).toEqual([200, true])
    expect((await act(url, '/sign-out', session, {})).status).not.toBe(200)
  })
})

it('signing in tells a wrong token, later than a right one, and logs who gave it and not what', async () => {
  const { url, lines } = await openDashboard()
  const began = performance.now()
  const wrong = await post(url, '/sign-in', { token: 'wrong-horse-battery', to: '/' })
  expect(performance.now() - began).toBeGreaterThan(200)
  expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined])
  expect(wrong.text).toContain('role="alert"><p>That is not the token.</p>')
  expect(lines.join()).toContain(
    '"network":"127.0.0.1","msg":"a wrong token was given to sign in to the dashboard"',
  )
  expect(lines.join()).not.toContain('horse')
})
describe('a form', () => {
  const SITE = 'http://evil.example.com'

  it('of a page of ours is taken, as it or the browser says', async () => {
    const { url, wakes } = await openDashboard()
    const { cookie, formToken } = await signIn(url)
    const { origin } = new URL(url)
    for (const from of [{ origin }, { 'sec-fetch-site': 'same-origin' }]) {
      const headers = { cookie, ...from }
      const form = { form_token: formToken, back: '/' }
      expect((await ask(`${url}/actions/sync`, { method: 'POST', headers, form })).status).toBe(303)
    }
    expect(wakes()).toBe(2)
  })

  it('of another one is not, whatever it knows', async () => {
    const { url, lines, wakes } = await openDashboard()
    const { cookie, formToken } = await signIn(url)
    const { origin } = new URL(url)
    const others: readonly (readonly [string, Asked['headers'], string])[] = [
      ['of another site', { origin: SITE }, formToken],
      ['of another port of this machine', { origin: 'http://127.0.0.1:1' }, formToken],
      ['of another site, as the browser says', { origin, 'sec-fetch-site': 'cross-site' }, formToken],
      ['of a neighbour of the same site', { origin, 'sec-fetch-site': 'same-site' }, formToken],
      ['of nobody', {}, formToken],
      ['of a frame that is shut in', { origin: 'null' }, formToken],
      ['of ours without the token of its session', { origin }, ''],
    ]
    for (const [who, from, token] of others) {
      const headers = { cookie, ...from }
      const form = { ...(token === '' ? {} : { form_token: token }), back: '/' }
      const { status } = await ask(`${url}/actions/sync`, { method: 'POST', headers, form })
      expect([who, status]).toEqual([who, 403])
    }
    expect([wakes(), lines.filter((line) => line.includes('"action":"sync"'))]).toEqual([0, []])
  })

  it('of another session is not taken', async () => {
    const { url } = await openDashboard()
    const [mine, theirs] = [await signIn(url), await signIn(url)]
    expect(theirs.formToken).not.toBe(mine.formToken)
    const mixed = { cookie: mine.cookie, formToken: theirs.formToken }
    expect((await act(url, '/actions/sync', mixed, {})).status).toBe(403)
    expect((await act(url, '/sign-out', mixed, {})).status).toBe(403)
  })

  it('of a session that is over is told to sign in, and that nothing was done', async () => {
    const { url, wakes } = await openDashboard()
    const answer = await act(url, '/actions/sync', { cookie: 'leadsheet=over', formToken: 'x' }, {})
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining('Nothing was done.')])
    expect(answer.text).toContain('<a class="button" href="/sign-in">Go on</a>')
    expect(wakes()).toBe(0)
  })

  it('does nothing where one may only look, and says what to set', async () => {
    const { url, wakes } = await openDashboard(LOOPBACK)
    const answer = await post(url, '/actions/sync', {})
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Set web.token_file')])
    expect((await ask(`${url}/actions/sync`)).status).toBe(404)
    expect((await ask(url)).text).not.toContain('form_token')
    expect(wakes()).toBe(0)
  })
})

describe('who asks, by what a proxy says', () => {
  it.each([
    ['is believed where the proxy is trusted', 'trusted_proxies: [127.0.0.0/8]', '203.0.113.9'],
    ['and otherwise not', 'trusted_proxies: [192.0.2.1]', '127.0.0.1'],
    ['and of a process of this machine only where it is named', '', '127.0.0.1'],
  ])('%s', async (_, proxies, network) => {
    const { url, lines } = await openDashboard(`${SIGNED}\n${proxies}`)
    await post(url, '/sign-in', { token: TOKEN }, { 'x-forwarded-for': '203.0.113.9' })
    expect(lines.join()).toContain(`"network":"${network}","msg":"signed in to the dashboard"`)
  })
})

describe('every answer of the dashboard', () => {
  it('forbids what is not its own, and is kept by nobody', async () => {
    const { url } = await openDashboard()
    const { headers } = await ask(url, { headers: BEARER })
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    })
  })

  it('comes as often as an operator looks, while everybody else has to wait', async () => {
    const { url } = await openDashboard()
    const statuses = new Set<number>()
    for (let count = 0; count < 130; count += 1)
      statuses.add((await ask(`${url}/archive/none`, { headers: BEARER })).status)
    expect([...statuses]).toEqual([404])
    const askAfterMany = async (): Promise<number[]> => {
      for (let count = 0; count < 130; count += 1) await ask(`${url}/preferences/x`)
      const after = ['/preferences/x', '/sign-in', '/healthz', '/'].map((path) =>
        ask(`${url}${path}`, { headers: BEARER }),
      )
      return (await Promise.all(after)).map(({ status }) => status)
    }
    // The minute may change during the requests, and then the count begins anew.
    await expect.poll(askAfterMany).toEqual([429, 200, 200, 200])
  })
})

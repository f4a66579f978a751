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
  signIn,
  TOKEN,
} from '../../support/web/dashboard.ts'

const SEED = Number(process.env.SEED ?? 1)
const BEARER = { authorization: `Bearer ${TOKEN}` }
const LOOPBACK = ''
const SIGNED = `token: ${TOKEN}`
const OUTSIDE = 'listen: 0.0.0.0:0'
const PUBLIC = 'public_url: https://reports.example.com'

/** What requests are like that come through a proxy of this machine of which the settings say nothing. */
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

/** Requests each case, and returns those with another answer than expected. */
async function findUnexpected(url: string, cases: readonly Case[]): Promise<string[]> {
  const statuses = await Promise.all(
    cases.map(async ([, path, headers]) => (await ask(`${url}${path}`, { headers })).status),
  )
  return cases.flatMap(([who, , , expected], index) =>
    statuses[index] === expected ? [] : [`${who}: ${statuses[index]}`],
  )
}

type Case = readonly [who: string, path: string, headers: NonNullable<Asked['headers']>, status: number]

describe('who may see the dashboard', () => {
  it.each<[string, string, ...Case[]]>([
    [
      'on this machine without a token, everybody',
      LOOPBACK,
      ['a person', '/', {}, 200],
      ['a machine', '/metrics', {}, 200],
      ['a machine that keeps no name', '/', { host: 'localhost:8080' }, 200],
      ['a machine of six', '/', { host: '[::1]:8080' }, 200],
      ...THROUGH_PROXIES.map((headers): Case => [JSON.stringify(headers), '/', headers, 403]),
    ],
    [
      'under a public name of this machine, everybody',
      'public_url: http://localhost:8080',
      ['a person', '/', {}, 200],
    ],
    [
      'on every address without a token, nobody',
      OUTSIDE,
      ['a person', '/', {}, 403],
      ['a machine', '/metrics', {}, 403],
      ['who has any token', '/', BEARER, 403],
    ],
    ['behind a public name without a token, nobody', PUBLIC, ['a person', '/', {}, 403]],
    [
      'under a further name without a token, nobody',
      'allowed_hosts: [leadsheet]',
      ['a person', '/', {}, 403],
    ],
    [
      'with a token, who has it',
      SIGNED,
      ['a person', '/', {}, 401],
      ['a machine', '/metrics', {}, 401],
      ['a machine that has it', '/metrics', BEARER, 200],
      ['one that would act by looking', '/actions/sync', BEARER, 404],
      ['one that writes the word small', '/', { authorization: `bearer ${TOKEN}` }, 200],
      ['with it as a password', '/', { authorization: `Basic ${btoa(`:${TOKEN}`)}` }, 401],
      ['with it as a cookie', '/', { cookie: `leadsheet=${TOKEN}` }, 401],
      ['with it in the address', `/?token=${TOKEN}`, {}, 401],
      ['with another', '/', { authorization: `Bearer ${TOKEN}x` }, 401],
      ['with one that is cut', '/', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401],
    ],
    [
      'on every address with a token, who has it',
      `${OUTSIDE}\n${SIGNED}`,
      ['a machine that has it', '/', BEARER, 200],
      ['a person', '/', {}, 401],
    ],
  ])('is, %s', async (_, web, ...cases) => {
    const { url } = await openDashboard(web)
    expect(await findUnexpected(url, cases)).toEqual([])
  })

  it('is led to sign in where a page is asked for, and back', async () => {
    const { url } = await openDashboard()
    const first = await ask(`${url}/?x=1`, { headers: AS_BROWSER })
    expect([first.status, first.headers.location]).toEqual([303, '/sign-in?to=%2F%3Fx%3D1'])
    const page = await ask(`${url}/sign-in?to=%2F%3Fx%3D1`)
    expect(page.text).toContain('name="to" value="/?x&#x3D;1"')
    const { origin } = new URL(url)
    const form = { token: TOKEN, to: '/?x=1' }
    const signed = await ask(`${url}/sign-in`, { method: 'POST', headers: { origin }, form })
    expect([signed.status, signed.headers.location]).toEqual([303, '/?x=1'])
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
    const { url } = await openDashboard(`${PUBLIC}\n${SIGNED}\ntrusted_proxies: [loopback]`)
    const bySite = { host: 'reports.example.com', origin: 'https://reports.example.com' }
    const { origin } = new URL(url)
    const byProxy = { origin, 'x-forwarded-proto': 'https' }
    for (const headers of [bySite, byProxy]) {
      const signed = await ask(`${url}/sign-in`, { method: 'POST', headers, form: { token: TOKEN } })
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

describe('signing in', () => {
  it('tells a wrong token, later than a right one, and logs who gave it and not what', async () => {
    const { url, lines } = await openDashboard()
    const { origin } = new URL(url)
    const began = performance.now()
    const form = { token: 'wrong-horse-battery', to: '/' }
    const wrong = await ask(`${url}/sign-in`, { method: 'POST', headers: { origin }, form })
    expect(performance.now() - began).toBeGreaterThan(200)
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined])
    expect(wrong.text).toContain('role="alert"><p>That is not the token.</p>')
    expect(lines.join()).toContain(
      '"network":"127.0.0.1","msg":"a wrong token was given to sign in to the dashboard"',
    )
    expect(lines.join()).not.toContain('horse')
  })

  it('leads to no other place than ours', async () => {
    const { url } = await openDashboard()
    const { origin } = new URL(url)
    const form = { token: TOKEN, to: '//evil.example.com' }
    const signed = await ask(`${url}/sign-in`, { method: 'POST', headers: { origin }, form })
    expect(signed.headers.location).toBe('/')
  })
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
    const { origin } = new URL(url)
    const answer = await ask(`${url}/actions/sync`, { method: 'POST', headers: { origin }, form: {} })
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Set web.token_file')])
    expect((await ask(`${url}/actions/sync`)).status).toBe(404)
    expect((await ask(url)).text).not.toContain('form_token')
    expect(wakes()).toBe(0)
  })
})

describe('the name under which it is asked for', () => {
  const named = (who: string, headers: NonNullable<Asked['headers']>, status: number): Case => [
    ...([who, '/', { ...BEARER, ...headers }, status] as const),
  ]

  it.each<[string, string, ...Case[]]>([
    [
      'this machine, or an address',
      SIGNED,
      named('an address', { host: '192.0.2.7:8080' }, 200),
      named('an address of IPv6', { host: '[2001:db8::1]:8080' }, 200),
      named('this machine', { host: 'localhost' }, 200),
      named('a name that points here', { host: 'evil.example.com' }, 403),
      named('one that begins as ours', { host: 'localhost.evil.com' }, 403),
      named('one with ours before it', { host: 'localhost@evil.com' }, 403),
      named('ours, said by nobody', { host: 'evil.com', 'x-forwarded-host': 'localhost' }, 403),
    ],
    [
      'that which a trusted proxy says',
      `${SIGNED}\ntrusted_proxies: [loopback]`,
      named('a strange one', { 'x-forwarded-host': 'evil.com' }, 403),
    ],
    [
      'the public one',
      `${SIGNED}\n${PUBLIC}`,
      named('the public name', { host: 'reports.example.com' }, 200),
      named('one that ends as ours', { host: 'reports.example.com.evil.com' }, 403),
    ],
    [
      'a further one',
      `${SIGNED}\nallowed_hosts: [leadsheet]`,
      named('a further name', { host: 'leadsheet:8080' }, 200),
    ],
    [
      'also where a proxy that nobody trusts tells another',
      SIGNED,
      named('that of such a proxy', { 'x-forwarded-host': 'e.com' }, 200),
    ],
  ])('may be %s', async (_, web, ...cases) => {
    const { url } = await openDashboard(web)
    expect(await findUnexpected(url, cases)).toEqual([])
  })
})

describe('who asks, by what a proxy says', () => {
  it.each([
    ['is believed where the proxy is trusted', 'trusted_proxies: [127.0.0.0/8]', '203.0.113.9'],
    ['and otherwise not', 'trusted_proxies: [192.0.2.1]', '127.0.0.1'],
    ['and of a process of this machine only where it is named', '', '127.0.0.1'],
  ])('%s', async (_, proxies, network) => {
    const { url, lines } = await openDashboard(`${SIGNED}\n${proxies}`)
    const headers = { origin: new URL(url).origin, 'x-forwarded-for': '203.0.113.9' }
    await ask(`${url}/sign-in`, { method: 'POST', headers, form: { token: TOKEN } })
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

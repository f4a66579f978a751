/** The page of a recipient, requested by mail programs, scanners and a browser. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { random } from '../support/random.ts'
import { wordsOf } from '../support/report.ts'
import { ask } from '../support/web/dashboard.ts'
import { openReadLog, openTestWeb } from '../support/web/server.ts'
import { shownText } from '../support/web/shown-text.ts'
import { clickOnce, openPages, wishFor } from '../support/web/web.ts'

const SEED = Number(process.env.SEED ?? 1)

async function wordsAt(url: string): Promise<string> {
  return wordsOf(await (await fetch(url)).text())
}

const statusFor = async (url: string, headers: Readonly<Record<string, string>>) =>
  (await ask(url, { headers })).status

describe('the page of a recipient', () => {
  it.each(['ana', 'dana', 'zoe'])(
    'says what they get, when, and what of it, in their language: %s',
    async (name) => {
      const { pageOf } = await openPages()
      const page = await (await fetch(pageOf(`${name}@example.com`))).text()
      const shown = `${/<html[^>]*>/.exec(page)}\n${shownText(page)}\n`
      await expect(shown).toMatchFileSnapshot(`golden/preferences-${name}.txt`)
    },
  )

  it.each([
    ['0 7 * * *', 'When every day at 07:00 (Europe/Berlin)'],
    ['0 7,19 * * 1,4', 'When on Mondays and Thursdays at 07:00 and 19:00 (Europe/Berlin)'],
    ['0 */2 * * *', 'When every day, 12 times (Europe/Berlin)'],
    ['every sunday at 18:30', 'When on Sundays at 18:30 (Europe/Berlin)'],
    // A schedule that is another from week to week.
    ['0 7 1 * *', 'You get this report. Next Tue 1 Dec, 07:00'],
  ])('tells %s in words', async (expression, words) => {
    const { pageOf } = await openPages({ timing: { expression, timeZone: 'Europe/Berlin', holidays: [] } })
    expect(await wordsAt(pageOf('ana@example.com'))).toContain(words)
  })

  it('changes nothing by being looked at, however often, and does what is chosen, one after the other, and says so', async () => {
    const { pageOf, standingOf } = await openPages()
    const ana = pageOf('ana@example.com')
    for (const method of ['GET', 'GET', 'HEAD']) await fetch(ana, { method })
    expect(await standingOf('ana@example.com')).toBeNull()
    const does = async (choice: string, standing: string, said: string) => {
      const answer = await wishFor(ana, choice)
      expect([choice, answer.status]).toEqual([choice, 200])
      expect(wordsOf(await answer.text())).toContain(said)
      expect([choice, await standingOf('ana@example.com')]).toEqual([choice, standing])
    }
    await does('pause', 'paused', 'Paused since Fri 20 Nov, 10:00.')
    await does('resume', 'active', 'Resumed. You get this report. When Monday to Friday')
    await does('stop', 'unsubscribed', 'Unsubscribed since Fri 20 Nov, 10:00.')
    // The page was opened before the change.
    await does('pause', 'unsubscribed', 'ana@example.com Unsubscribed since Fri 20 Nov, 10:00.')
    await does('start', 'active', 'Welcome back. You get this report.')
    expect(await standingOf('ben@example.com')).toBeNull()
    // However an address is written.
    await clickOnce(pageOf('Ben@Example.com'))
    expect(await standingOf('ben@example.com')).toBe('unsubscribed')
  })

  it('of one whom the settings do not name any more says so, and lets them only see to it that it stays so', async () => {
    const { pageOf, standingOf } = await openPages()
    const zoe = pageOf('zoe@example.com')
    for (const choice of ['start', 'resume', 'pause']) await wishFor(zoe, choice)
    expect(await standingOf('zoe@example.com')).toBeNull()
    expect((await clickOnce(zoe)).status).toBe(200)
    expect(await standingOf('zoe@example.com')).toBe('unsubscribed')
    expect((await clickOnce(pageOf('ana@example.com', 'gone'))).status).toBe(200)
  })
})

describe('one click of a mail program', () => {
  it.each([URLSearchParams, FormData])('ends it with 200 and nothing to follow (%o)', async (Form) => {
    const { pageOf, standingOf } = await openPages()
    const body = new Form()
    body.set('List-Unsubscribe', 'One-Click')
    const post = { method: 'POST', body, redirect: 'manual' } as const
    const answer = await fetch(pageOf('ana@example.com'), post)
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
    expect(await standingOf('ana@example.com')).toBe('unsubscribed')
    expect((await clickOnce(pageOf('ana@example.com'))).status).toBe(200)
  })

  it.each([
    ['an empty form', 'application/x-www-form-urlencoded', '', 400],
    ['another choice', 'application/x-www-form-urlencoded', 'choice=everything', 400],
    ['a broken form', 'multipart/form-data; boundary=x', '--y', 400],
    ['JSON', 'application/json', '{"choice":"stop"}', 415],
    ['too much', 'application/x-www-form-urlencoded', `choice=stop&x=${'x'.repeat(20_000)}`, 413],
  ])('of %s changes nothing', async (_, type, body, status) => {
    const { pageOf, standingOf } = await openPages()
    const answer = await fetch(pageOf('ana@example.com'), {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(status)
    expect(await answer.text()).toContain('Nothing was changed.')
    expect(await standingOf('ana@example.com')).toBeNull()
  })
})

describe('a link that is not ours', () => {
  it(`is told the same, whatever is wrong with it (SEED=${SEED})`, async () => {
    const { pageOf, server, store } = await openPages({ limits: { perMinute: 10_000 } })
    const foreign = await openPages()
    const token = pageOf('ana@example.com').split('/').at(-1) ?? ''
    const next = random(SEED)
    const cut = () => token.slice(0, Math.floor(next() * token.length))
    const turned = () => {
      const at = Math.floor(next() * token.length)
      return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    }
    const tokens = [
      ...['x', `${token}x`, token.replace('.', '%2e%2e'), '%zz', 'a'.repeat(7_000)],
      foreign.pageOf('ana@example.com').split('/').at(-1) ?? '',
      ...Array.from({ length: 15 }, cut),
      ...Array.from({ length: 25 }, turned),
    ]
    const answers = new Set<string>()
    for (const each of tokens) {
      const url = `${server.url}/preferences/${each}`
      for (const answer of [await fetch(url), await clickOnce(url)]) {
        answers.add(`${answer.status} ${wordsOf(await answer.text())}`)
      }
    }
    expect([...answers]).toEqual([expect.stringMatching(/^404 This link leads nowhere/)])
    expect(await store.db.selectFrom('preference').selectAll().execute()).toEqual([])
  })

  it('is told so in the language of the browser', async () => {
    const { server } = await openPages()
    const headers = { 'accept-language': 'fr-FR, de;q=0.8, en;q=0.5' }
    const answer = await fetch(`${server.url}/nowhere`, { headers })
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('<html lang="de">')])
  })
})

describe('the server of the pages', () => {
  it('says nothing of a failure but that there was one, and logs no token', async () => {
    const { log, lines } = await openReadLog()
    const server = await openTestWeb({ log }, [
      (app) => app.get('/preferences/:token', () => Promise.reject(new Error('the disk is gone'))),
    ])
    const answer = await fetch(`${server.url}/preferences/a-token`)
    expect([answer.status, wordsOf(await answer.text())]).toEqual([
      500,
      expect.stringMatching(/^Something went wrong here Nothing was changed\. [^:]*$/),
    ])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(lines.join()).toContain('the disk is gone')
    expect(lines.join()).not.toContain('a-token')
  })

  it('says so where another program has its port', async () => {
    const { server } = await openPages()
    const port = Number(new URL(server.url).port)
    const message = expect.stringContaining(`127.0.0.1:${port}`)
    await expect(openTestWeb({ port }, [])).rejects.toMatchObject({ code: 'web_port', message })
  })

  it('forbids scripts, frames, caches and referrers on every answer', async () => {
    const { server, pageOf } = await openPages()
    for (const path of [pageOf('ana@example.com'), `${server.url}/nowhere`, `${server.url}/web.css`]) {
      const { headers } = await fetch(path)
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect([...headers]).toEqual(
        expect.arrayContaining([
          ['cache-control', 'no-store'],
          ['referrer-policy', 'no-referrer'],
          ['x-content-type-options', 'nosniff'],
        ]),
      )
    }
  })

  it('answers under its own names alone', async () => {
    const { pageOf } = await openPages()
    const ana = pageOf('ana@example.com')
    expect(await statusFor(ana, { host: 'reports.example.com' })).toBe(200)
    expect(await statusFor(ana, { host: 'localhost:1234' })).toBe(200)
    expect(await statusFor(ana, { host: 'evil.example.com' })).toBe(403)
    expect(await statusFor(ana, { host: 'evil.example.com', 'x-forwarded-host': 'localhost' })).toBe(403)
  })

  it('lets one network ask only so often, told by what stands before it', async () => {
    const { pageOf } = await openPages({ limits: { perMinute: 3 } })
    const ana = pageOf('ana@example.com')
    const askAs = (from: string) => statusFor(ana, { 'x-forwarded-for': from })
    const asked = async (from: readonly string[]) => {
      const statuses: number[] = []
      for (const each of from) statuses.push(await askAs(each))
      return statuses
    }
    // The minute may change during the requests, and then the count begins anew. So the requests are
    // repeated.
    let time = 0
    await expect
      .poll(() => {
        const one = `203.0.113.${++time}`
        return asked([one, one, one, one, `198.51.100.${time}`])
      })
      .toEqual([200, 200, 200, 429, 200])
    // A /64 counts as one network, because one customer has all of it.
    await expect
      .poll(() => {
        const network = `2001:db8:0:${(++time).toString(16)}`
        return asked([`${network}::1`, `${network}:1::`, `${network}::2`, `${network}::3`])
      })
      .toEqual([200, 200, 200, 429])
    expect(await askAs('2001:db8:1:1::1')).toBe(200)
  })

  it.each([
    ['a request', ''],
    ['a head', 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
    [
      'a body',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data\r\nContent-Length: 9\r\n\r\nx',
    ],
  ])('does not wait for %s that never comes whole', async (_, begun) => {
    const { server } = await openPages({ limits: { headersMs: 200, requestMs: 400 } })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(begun)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d /)
  })
})

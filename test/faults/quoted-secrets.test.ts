/** Servers with secrets, and the resulting texts for a person, the log and the database. */
import { describe, expect, it, test } from 'vitest'
import { errorText, LeadsheetError } from '../../src/errors.ts'
import { openLog } from '../../src/log.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { CANARIES, canariesBelow, canariesIn, QUOTED, smtpUrl } from '../support/mail/canaries.ts'
import { MESSAGE } from '../support/mail/message.ts'
import { openScriptedServer, type Step } from '../support/mail-server.ts'
import { openTestSource, profileWith } from '../support/source/test-source.ts'
import { openSyncing } from '../support/syncing.ts'
import { body, bytes, type Fault, startUpstream, status } from '../support/upstream.ts'

const { key, password } = CANARIES
const JSON_TYPE = 'application/json'
/** A profile with a field that reports errors in answers. */
const PROFILE = { ...REFERENCE_PROFILE, envelope: { ...REFERENCE_PROFILE.envelope, error: ['error'] } }

const OF_UPSTREAM: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries(
    [400, 401, 503].map((code) => [
      code,
      body(JSON.stringify({ detail: `not a key: ${QUOTED.key}` }), JSON_TYPE, code),
    ]),
  ),
  'a text with 500': body(QUOTED.key, 'text/plain', 500),
  'a long text, cut in the midst': body(`${'x'.repeat(192)} ${QUOTED.key}`, 'text/plain', 400),
  'a page of HTML with 200': body(`<p>${QUOTED.key}</p>`, 'text/html'),
  'JSON that is broken': body(`{"data":["${key}`),
  'JSON of another shape': body(JSON.stringify({ [key]: QUOTED.key })),
  'an error with 200': body(JSON.stringify({ error: { said: QUOTED.key } })),
  'a redirect elsewhere': status(301, { location: `https://evil.example/${encodeURIComponent(key)}` }),
  'no HTTP': bytes(`HTTP/9 ${key}\r\n\r\n`),
  'a cut answer': bytes(`HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${key}`, 'reset'),
  'no answer': () => true,
}

const OF_MAIL: Readonly<Record<string, Partial<Record<Step, string>>>> = {
  'a greeting': { greeting: `554 ${QUOTED.password}` },
  'a login with 535': { AUTH: `535 5.7.8 ${QUOTED.password}` },
  'a login, with a long answer': { AUTH: `535 ${'x'.repeat(285)} ${QUOTED.password}` },
  'a recipient': { RCPT: `550 ${QUOTED.password}` },
  'a body': { body: `554 ${QUOTED.password}` },
}

/** Collects the texts for a person or the database, and the logged errors with all causes. */
async function listen(secrets: readonly string[]) {
  const said: string[] = []
  const log = await openLog({
    level: 'debug',
    pretty: false,
    color: false,
    secrets,
    write: (line) => said.push(line),
  })
  const hear = async (kind: string, deed: () => Promise<unknown>): Promise<void> => {
    const thrown = await deed().then(
      () => null,
      (error: unknown) => error,
    )
    expect(thrown, kind).toBeInstanceOf(LeadsheetError)
    said.push(errorText(thrown), (thrown as LeadsheetError).hint ?? '')
    log.error({ err: thrown, kind }, errorText(thrown))
  }
  return { said, log, hear }
}

const PHP = (text: string) => JSON.stringify(text).replaceAll('/', '\\/')
const DOT_NET = (text: string) =>
  JSON.stringify(text).replace(/[<>&'+]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16).toUpperCase()}`)
const inQuery = { auth: { query: 'access_token' } }
const basic = Buffer.from(`${key}:`).toString('base64')

/**
 * The ways in which an upstream echoes the key on each page. `next` is the URL of the next page without the
 * echo, and the upstream wants the key on every page.
 */
const ECHOES: Readonly<Record<string, Echo>> = {
  'in the next link, as PHP writes it': {
    ...inQuery,
    next: (next) => PHP(`${next}&access_token=${encodeURIComponent(key)}`),
  },
  'in another parameter than the one that we send': {
    auth: { value: 'Bearer {key}' },
    next: (next) => JSON.stringify(`${next}&sig=${encodeURIComponent(key)}`),
    isEchoNeeded: true,
  },
  'in a Link header': {
    ...inQuery,
    link: (next) => `<${next}&access_token=${encodeURIComponent(key)}>; rel="next"`,
  },
  'in each lead and beside the list': {
    auth: { value: 'Basic {basic}' },
    next: (next) => JSON.stringify(next),
    more: `"php": ${PHP(key)}, "net": ${DOT_NET(key)}, "basic": "${basic}", "self": "/1?key=${encodeURIComponent(key)}"`,
  },
}

interface Echo {
  readonly auth: Record<string, unknown>
  readonly next?: (next: string) => string
  readonly link?: (next: string) => string
  readonly more?: string
  readonly isEchoNeeded?: boolean
}

/** Serves 30 leads on pages of 10. Each lead has `more`. The page after `failsAt` is refused. */
function echoing({ next, link, more, isEchoNeeded }: Echo, failsAt: number): Fault {
  return (request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    const sent = `${decodeURIComponent(url.href)} ${request.headers.authorization}`
    const from = Number(url.searchParams.get('after') ?? 0)
    const isKnown = isEchoNeeded && from > 0 ? url.searchParams.get('sig') === key : true
    const status =
      from === failsAt ? 400 : isKnown && (sent.includes(key) || sent.includes(basic)) ? 200 : 401
    const after = `/leads?limit=10&after=${from + 10}`
    const head = link !== undefined && from < 20 ? { link: link(after) } : {}
    const leads = Array.from({ length: 10 }, (_, index) => `{"id": "L${from + index}", ${more ?? '"a": 1'}}`)
    response.writeHead(status, { 'content-type': JSON_TYPE, ...head })
    response.end(
      `{"message": "no", ${more ?? '"b": 2'}, "next": ${(from < 20 && next?.(after)) || null}, "data": [${leads}]}`,
    )
    return true
  }
}

it.each(Object.entries(ECHOES))(
  'a key that the upstream echoes %s is sent again and stored nowhere',
  async (_kind, echo) => {
    const profile = profileWith({
      auth: echo.auth,
      endpoints: { leads: '/leads', lead: 'none', stats: 'none', agents: 'none', webhooks: 'none' },
      paging: echo.link ? { kind: 'link' } : { kind: 'next_url', next: 'next' },
      envelope: { leads: 'data' },
    })
    await using upstream = await startUpstream(0)
    upstream.answer = () => null
    const { said, log } = await listen([])
    const answers = (failsAt: number) =>
      upstream.faults.splice(0, Number.POSITIVE_INFINITY, ...Array<Fault>(9).fill(echoing(echo, failsAt)))
    await using syncing = await openSyncing(upstream.url, key, { source: { profile, log } })
    answers(20)
    const cut = await syncing.sync({ parts: ['leads'] })
    expect(cut.problems).toMatchObject([{ code: 'api_rejected' }])
    answers(-1)
    const whole = await syncing.sync({ parts: ['leads'] })
    expect(whole).toMatchObject({ complete: true, leads: { inserted: 10 } })
    said.push(JSON.stringify([cut, whole]))
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
    expect(canariesBelow(syncing.folder)).toEqual([])
  },
)

test.each(['key', '12345678'])(
  'a key too short to be searched in data, %s, is not in a stored link',
  async (short) => {
    await using upstream = await startUpstream(0)
    const links = { next_page: `/leads?a=1&api_key=${short}&b=2` }
    upstream.answer = () => JSON.stringify({ data: [{ id: 'a' }], ...links })
    const profile = profileWith({
      auth: { query: 'api_key' },
      paging: { kind: 'next_url', next: 'next_page' },
      envelope: { leads: 'data' },
    })
    const source = openTestSource({ profile, baseUrl: `${upstream.url}/api/v1`, apiKey: short })
    const { next } = await source.listLeads({}, null, 10)
    expect(next).toBe(`${upstream.url}/api/v1/leads?a=1&api_key=[redacted]&b=2`)
    await source.listLeads({}, next, 10).catch(() => undefined)
    expect(upstream.requests[1]?.path).toBe(`/api/v1/leads?a=1&api_key=${short}&b=2`)
  },
)

describe('no secret is in what is told and logged', () => {
  it('of an upstream that quotes the key', async () => {
    const { said, log, hear } = await listen([key])
    await using upstream = await startUpstream(0)
    for (const [kind, fault] of Object.entries(OF_UPSTREAM)) {
      upstream.faults.splice(0, Number.POSITIVE_INFINITY, fault, fault, fault)
      const deadlines = { attemptMs: 300 }
      const source = openTestSource({ profile: PROFILE, baseUrl: upstream.url, apiKey: key, log, deadlines })
      await hear(kind, () => source.listLeads({}, null, 10))
    }
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
  })

  it('of a mail server that quotes the password', async () => {
    const { said, log, hear } = await listen([password])
    for (const [kind, script] of Object.entries(OF_MAIL)) {
      await using server = await openScriptedServer(script)
      const url = smtpUrl(server.port)
      await using transport = openTransport(url, { log })
      await hear(kind, () => transport.send(MESSAGE, { signal: new AbortController().signal }))
    }
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
  })
})

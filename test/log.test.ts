/** Secrets are removed from texts in every form that the texts may have. */
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openLog } from '../src/log.ts'
import { redactor, withoutNamedSecrets } from '../src/redaction.ts'

const SECRET = 'p@ss "w<o>rd"/+ü%41\\&=x'
const redact = redactor([SECRET])
const base64 = (text: string) => Buffer.from(text).toString('base64')
const json = (value: unknown) => JSON.stringify(value)

const FORMS: readonly { readonly written: string; readonly text: string }[] = [
  { written: 'as it is', text: SECRET },
  { written: 'in JSON', text: json(SECRET) },
  { written: 'in JSON inside of JSON', text: json(json({ said: SECRET })) },
  { written: 'in a query', text: `?key=${encodeURIComponent(SECRET)}` },
  { written: 'in a query, with small digits', text: encodeURIComponent(SECRET).toLowerCase() },
  { written: 'in a form', text: new URLSearchParams({ given: SECRET }).toString() },
  {
    written: 'in a URL',
    text: Object.assign(new URL('smtp://user@mail.example.com'), { password: SECRET }).href,
  },
  { written: 'in HTML', text: 'p@ss &quot;w&lt;o&gt;rd&quot;/+ü%41\\&amp;&#x3D;x' },
  { written: 'in base64', text: base64(SECRET) },
  { written: 'in base64 for URLs', text: Buffer.from(SECRET).toString('base64url') },
]

describe('a secret', () => {
  it.each(FORMS)('is taken out $written', ({ text }) => {
    const left = redact(`before ${text} after`)
    expect(left).toContain('[redacted]')
    expect(left.replaceAll('[redacted]', '')).not.toMatch(/w(<|&lt;|%3[Cc])o|d28/)
    expect(left).toMatch(/^before .* after$/)
  })

  it.each(['', 'a', 'ab', 'abc', 'a longer user'])(
    'is taken out of the login of a mail server and of HTTP, with the user %j before it',
    (user) => {
      for (const login of [`\0${user}\0${SECRET}`, `${user}:${SECRET}`]) {
        const [, left = ''] = redact(`AUTH ${base64(login)}`).split(' ')
        expect(left).toContain('[redacted]')
        expect(Buffer.from(left.replace('[redacted]', ''), 'base64').toString()).not.toMatch(/w<o>|ss "/)
      }
    },
  )

  it('of several lines is taken out line by line', () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    const lines = privateKey.split('\n').filter((line) => /^[^-]{16}/.test(line))
    const hide = redactor([privateKey])
    for (const line of lines) expect(hide(`cannot read "${line}"`)).toBe('cannot read "[redacted]"')
  })

  it('leaves other texts as they are', () => {
    const text = 'Synced 5,706 leads of https://leads.example.com/api/v1?limit=100 in 3 s'
    expect(redactor([SECRET, 'abc'])(`abc ${text}`)).toBe(`abc ${text}`)
    expect(withoutNamedSecrets(text)).toBe(text)
  })
})

describe('what is called a secret', () => {
  it.each([
    '{"authorization":"CANARY-4711-hunter2"}',
    '{"headers":{"x-api-key":"CANARY-4711\\"-hunter2"}}',
    '{"body":"{\\"client_secret\\":\\"CANARY-4711-hunter2\\"}"}',
    'it said: Authorization: Bearer CANARY-4711-hunter2',
    'Authorization: CANARY-4711-hunter2',
    'Cookie: leadsheet=CANARY-4711-hunter2; other=CANARY',
    'POST /hook?token=CANARY-4711-hunter2&x=1',
    'smtp://user:CANARY-4711-hunter2@mail.example.com',
    'whsec_CANARY4711hunter2==',
    '{"pass":"CANARY-4711-hunter2","user":"ana"}',
  ])('is taken out of %s', (text) => {
    const left = withoutNamedSecrets(text)
    expect(left).toContain('[redacted]')
    expect(left).not.toMatch(/CANARY|hunter2/)
  })

  it('leaves JSON as JSON', () => {
    const line = json({
      msg: 'said "no"',
      pass: 'a"b\\',
      err: { cookie: 'x=1', note: json({ secret: 'b' }) },
    })
    expect(JSON.parse(withoutNamedSecrets(line))).toEqual({
      msg: 'said "no"',
      pass: '[redacted]',
      err: { cookie: '[redacted]', note: json({ secret: '[redacted]' }) },
    })
  })
})

it.each([false, true])('the log has no secret in any field, error or cause (pretty: %s)', async (pretty) => {
  const lines: string[] = []
  const log = await openLog({
    level: 'debug',
    pretty,
    color: false,
    secrets: [SECRET],
    write: (line) => lines.push(line),
  })
  const cause = Object.assign(new Error(`refused ${SECRET}`), {
    response: `535 ${base64(`\0a\0${SECRET}`)}`,
  })
  log.error({ err: new Error('no login', { cause }), headers: { authorization: 'unknown-4711' } }, SECRET)
  log.info({ nested: { list: [SECRET], pass: 'unknown-4711' } }, 'done')
  expect(lines).toHaveLength(2)
  for (const line of lines) {
    expect(line).toContain('[redacted]')
    expect(line).not.toMatch(/w<o>|ss \\*"w|unknown-4711/)
  }
})

/** Reads notifications in the forms of many servers, and anything else without harm. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readNotifications } from '../../../src/mail/bounce/read-notification.ts'
import { buildMessage } from '../../../src/mail/message.ts'
import { MESSAGE } from '../../support/mail/message.ts'
import { countCases, pick, random, SEED_OF_TODAY } from '../../support/random.ts'

const ID = '0123456789abcdef0123456789abcdef01234567'
const RETURN_ADDRESS = 'bounces+{id}@example.com'
const FOLDER = join(import.meta.dirname, 'notifications')

/** A message of ours, as it comes back. */
const RETURNED = (await buildMessage({ ...MESSAGE, messageId: `<${ID}@example.com>` }))
  .toString()
  .replaceAll('\r\n', '\n')
const [HEADERS = ''] = RETURNED.split('\n\n', 1)
/** The words that the files write in place of what is the same in many mails. */
const PLACES: Readonly<Record<string, string>> = {
  '{id}': ID,
  '{ID}': ID.toUpperCase(),
  '{id:20}': ID.slice(0, 20),
  '{id:20:}': ID.slice(20),
  '{headers}': HEADERS,
  '{message}': RETURNED,
  '{quoted}': RETURNED.replace(/^/gm, '> '),
  '{base64}': Buffer.from(RETURNED).toString('base64').replace(/.{76}/g, '$&\n'),
  '{mixed}': 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b',
}

/**
 * Reads the examples of a file: a line `=== NAME | MEANING`, the source behind `#`, and the mail. The meaning is the
 * kind, the ids, the recipients, the reason, the status and perhaps the report.
 */
function examplesIn(file: string) {
  const [, ...parts] = readFileSync(join(FOLDER, file), 'utf8').split(/^=== /m)
  return parts.map((part) => {
    const [title = '', , ...lines] = part.split('\n')
    const [name = '', ...meaning] = title.split(' | ')
    const mail = lines
      .join('\n')
      .replace(/\{report(?::([\w-]+))?\}/g, (_, type = 'delivery-status') =>
        [`MIME-Version: 1.0`, `Content-Type: multipart/report; report-type=${type}; boundary=b`].join('\n'),
      )
      .replace(/\{[\w:]+\}/g, (place) => PLACES[place] ?? place)
    return { name, meaning: meaning.join(' | '), raw: Buffer.from(mail.trimStart().replaceAll('\n', '\r\n')) }
  })
}

const FILES = globSync('*.txt', { cwd: FOLDER }).toSorted()
const EXAMPLES = FILES.flatMap(examplesIn)

async function readFirst(raw: Uint8Array) {
  const [first] = await readNotifications(raw, { returnAddress: RETURN_ADDRESS })
  if (first === undefined) throw new Error('there is one')
  return first
}

async function meaningOf(raw: Uint8Array) {
  const { kind, ids, recipients, reason, status, report, said } = await readFirst(raw)
  const shown = ids.map((id) => (id === ID ? 'own' : id)).join(',')
  const facts = [kind, shown, recipients.join(','), reason, status].map((fact) => fact || '-')
  return { meaning: [...facts, ...(kind === 'unsubscribe' ? [report ?? '-'] : [])].join(' | '), said }
}

it.each(FILES)('each notification of %s is read as its first line says', async (file) => {
  const examples = examplesIn(file)
  const read = await Promise.all(
    examples.map(async ({ name, raw }) => [name, (await meaningOf(raw)).meaning]),
  )
  expect(Object.fromEntries(read)).toEqual(
    Object.fromEntries(examples.map(({ name, meaning }) => [name, meaning])),
  )
})

it('the words about each are those of the server', async () => {
  const told = await Promise.all(
    EXAMPLES.map(async ({ name, raw }) => {
      const { meaning, said } = await meaningOf(raw)
      return `${name}\n  ${meaning}\n  ${said}\n`
    }),
  )
  await expect(told.join('\n')).toMatchFileSnapshot('golden/notifications.txt')
})

/** The time of the processor, since the machine may do other things too. */
const LIMIT_MICROSECONDS = 3_000_000
/** Mails that nobody sends in good faith, of some MB each. */
const HOSTILE: Readonly<Record<string, () => string | Uint8Array>> = {
  'nothing at all': () => '',
  'only NULs': () => new Uint8Array(5_000_000),
  'a million fields': () => `${'a: b\r\n'.repeat(1_000_000)}\r\nhello`,
  'a million line ends': () => `From: a@example.org\r\n${'\r\n'.repeat(1_000_000)}`,
  'multiparts in multiparts': () =>
    Array.from(
      { length: 20_000 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    ).join(''),
  'messages in messages': () => 'From: a@example.org\r\nContent-Type: message/rfc822\r\n\r\n'.repeat(80_000),
  'a million parts': () =>
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(600_000)}`,
  'a report of a million recipients': () =>
    `Content-Type: message/delivery-status\r\n\r\n${'Final-Recipient: rfc822;a@example.org\r\nAction: failed\r\n\r\n'.repeat(80_000)}`,
  'one field of 5 MB': () => `Subject: ${'re: '.repeat(1_200_000)}\r\n\r\nhello`,
  'one address of 5 MB': () => `From: ${'a.'.repeat(200_000)}\r\nTo: <${'@'.repeat(200_000)}\r\n\r\n`,
  'one line of 5 MB': () => `From: mailer-daemon@example.org\r\n\r\n${'550 user unknown a@'.repeat(260_000)}`,
  'an id of 5 MB': () => `From: mailer-daemon@example.org\r\n\r\n${'0123456789abcdef'.repeat(300_000)}@`,
  'tags that do not end': () => `Content-Type: text/html\r\n\r\n${'<p <br '.repeat(700_000)}`,
  'an unknown charset': () => 'Content-Type: text/plain; charset=x-none\r\n\r\nundelivered: 550 \u00ff\u0000',
  'base64 that breaks off': () =>
    'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nVW5kZWxpdmVyYWJsZS=\u0000*VW5',
  'a status part that breaks off': () =>
    'Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nFinal-Rec',
}

it.each(Object.entries(HOSTILE))('%s ends soon', async (_, make) => {
  const raw = Buffer.from(make())
  const began = process.cpuUsage()
  const { kind } = await readFirst(raw)
  expect(['other', 'bounced']).toContain(kind)
  expect(process.cpuUsage(began).user).toBeLessThan(LIMIT_MICROSECONDS)
})

/** Pieces that readers look for. */
const PIECES = [
  '\0',
  '\r\n\r\n',
  '--b',
  '<',
  '"',
  ': ',
  '550 5.1.1 ',
  'Final-Recipient: ',
  '@',
  ID,
  '=\r\n',
  '>',
  ' ',
  ';',
]

it(`a mail that was damaged anywhere is read without harm, SEED=${SEED_OF_TODAY}`, async () => {
  const next = random(SEED_OF_TODAY)
  for (let turn = 0; turn < countCases(250, 6_000); turn++) {
    let raw = pick(next, EXAMPLES).raw.toString('latin1')
    for (let cuts = 0; cuts < 4; cuts++) {
      const at = Math.floor(next() * raw.length)
      const piece = pick(next, PIECES).repeat(1 + Math.floor(next() ** 8 * 5_000))
      const rest = pick(next, [raw.slice(at), raw.slice(at + 40), raw, ''])
      raw = raw.slice(0, at) + piece + rest
    }
    const began = process.cpuUsage()
    const read = await readFirst(Buffer.from(raw, 'latin1'))
    expect(read.said.length).toBeLessThanOrEqual(300)
    expect(read.reason === null).toBe(read.kind !== 'bounced')
    expect(process.cpuUsage(began).user).toBeLessThan(LIMIT_MICROSECONDS)
  }
})

/** Reads notifications in the forms of many servers, and anything else without harm. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readNotification } from '../../../src/mail/bounce/read-notification.ts'
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
/** What the files write in place of what is the same in many mails. */
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

interface Example {
  readonly name: string
  /** What it says: the kind, the ids, the recipients, the reason, the status and perhaps the report. */
  readonly meaning: string
  readonly raw: Buffer
}

/** Reads the examples of a file: a line `=== NAME | MEANING`, the source behind `#`, and the mail. */
function examplesIn(file: string): Example[] {
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

async function meaningOf(raw: Uint8Array) {
  const { kind, ids, recipients, reason, status, report, said } = await readNotification(raw, RETURN_ADDRESS)
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

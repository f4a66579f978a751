import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AnswerOptions, completeAnswers, readGiven } from '../../../src/cli/init/answers.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { LeadsheetError } from '../../../src/errors.ts'
import { folderWith } from '../../support/folder.ts'

const given = (options: AnswerOptions, env: Readonly<Record<string, string>> = {}) =>
  readGiven(options, loadConfig({ file: null, env }))

const completed = (from: ReturnType<typeof readGiven>) => completeAnswers(from, null)

async function told(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'nothing'
  } catch (thrown) {
    return thrown instanceof LeadsheetError ? `${thrown.code} ${thrown.message}` : String(thrown)
  }
}

test('what nobody can know is named, all of it', async () => {
  expect(await told(() => completed(given({ from: 'reports@example.com' })))).toBe(
    `usage_invalid answers are missing, and nobody is asked here:
  --api-url (or LEADSHEET_API_URL)
  --key-file (or LEADSHEET_API_KEY)
  --smtp-url or --smtp-url-file (or LEADSHEET_SMTP_URL)
  --recipients (or LEADSHEET_RECIPIENTS)`,
  )
})

test.each([
  [{ apiUrl: 'ftp://leads.example.com' }, '--api-url: expected a URL with http:// or https://'],
  [{ smtpUrl: 'smtp://ana:s3cr3t@mail.example.com' }, '--smtp-url: others can see a password there'],
  [{ keyFile: '/nowhere/key' }, '--key-file: cannot read /nowhere/key'],
  [{ recipients: 'ana@example.com,ben' }, '--recipients: ben: expected an e-mail address'],
])('%j is refused with what is wrong, and no password of it', async (options, wrong) => {
  const message = await told(() => given(options))
  expect(message).toContain(`usage_invalid ${wrong}`)
  expect(message).not.toContain('s3cr3t')
})

test.each([
  ['Europe/Berlin', 'DE'],
  ['America/Chicago', 'US'],
  ['Europe/London', 'GB'],
  // Node has this zone by its older name.
  ['Asia/Kolkata', 'IN'],
  ['UTC', 'none'],
])('the time zone %s proposes the holidays of %s', async (timeZone, country) => {
  const { holidays } = await completed(
    given({
      apiUrl: 'https://leads.example.com',
      keyFile: join(folderWith({ key: 'k-123456' }), 'key'),
      smtpUrl: 'file:./outbox',
      from: 'reports@example.com',
      recipients: 'ana@example.com',
      timeZone,
    }),
  )
  expect(holidays).toEqual({ value: country, variable: null, file: null })
})

test('the rest is as a person would leave it', async () => {
  const key = join(folderWith({ key: 'k-123456\n' }), 'key')
  const options = {
    apiUrl: 'https://leads.example.com',
    keyFile: key,
    smtpUrl: 'file:./outbox',
    from: 'reports@example.com',
    recipients: 'ana@example.com, ben@example.com',
  }
  const { alertRecipients, schedule, listen, token, ...answers } = await completed(given(options))
  expect(answers.key).toEqual({ value: 'k-123456', variable: null, file: key })
  expect([alertRecipients.value, schedule.value, listen.value]).toEqual([
    'ana@example.com',
    'every working day at 07:00',
    '127.0.0.1:8080',
  ])
  expect(token.value).toMatch(/^[\w-]{32}$/)
  expect(await completed(given({ ...options, listen: 'none', alertRecipients: 'none' }))).toMatchObject({
    alertRecipients: { value: 'none' },
    token: { value: '' },
  })
})

test('what the environment gives is known by its variable', () => {
  const env = {
    LEADSHEET_API_KEY: 'k-123456',
    LEADSHEET_WEB_LISTEN: '[::1]:80',
    LEADSHEET_WEB_TOKEN: 'x'.repeat(20),
  }
  const known = given({}, env)
  expect(known.apiUrl).toBeUndefined()
  expect(known).toMatchObject({
    key: { value: 'k-123456', variable: 'LEADSHEET_API_KEY' },
    listen: { value: '[::1]:80', variable: 'LEADSHEET_WEB_LISTEN' },
    token: { variable: 'LEADSHEET_WEB_TOKEN' },
  })
})

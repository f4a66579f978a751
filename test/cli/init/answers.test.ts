import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AnswerOptions, completeAnswers, readGiven } from '../../../src/cli/init/answers.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { folderWith } from '../../support/folder.ts'

const given = (options: AnswerOptions, env: Readonly<Record<string, string>> = {}) =>
  readGiven(options, loadConfig({ file: null, env }))

const completed = (from: ReturnType<typeof readGiven>) =>
  completeAnswers(from, null, { access: () => expect.unreachable(), mail: () => expect.unreachable() })

/** The answers that a person must give. The file `key` is in the folder. */
const optionsIn = (folder: string): AnswerOptions => ({
  apiUrl: 'https://leads.example.com',
  keyFile: join(folder, 'key'),
  mailUrl: 'file:./outbox',
  from: 'reports@example.com',
  recipients: 'ana@example.com, ben@example.com',
})

test.each([
  ['Europe/Berlin', 'DE'],
  ['America/Chicago', 'US'],
  ['Europe/London', 'GB'],
  // Node has this zone by its older name.
  ['Asia/Kolkata', 'IN'],
  ['UTC', 'none'],
])('the time zone %s proposes the holidays of %s', async (timeZone, country) => {
  const options = optionsIn(folderWith({ key: 'k-123456' }))
  const { holidays } = await completed(given({ ...options, timeZone }))
  expect(holidays).toEqual({ value: country, variable: null, file: null })
})

test('the rest is as a person would leave it', async () => {
  const options = optionsIn(folderWith({ key: 'k-123456\n' }))
  const { alertRecipients, schedule, listen, token, ...answers } = await completed(given(options))
  expect(answers.key).toEqual({ value: 'k-123456', variable: null, file: options.keyFile })
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

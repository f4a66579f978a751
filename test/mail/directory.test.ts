import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import PostalMime from 'postal-mime'
import { expect, it, onTestFinished } from 'vitest'
import { failedSendOf } from '../../src/mail/sending.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { folderWith } from '../support/folder.ts'
import { MESSAGE } from '../support/mail/message.ts'
import { SILENT } from '../support/syncing.ts'

const { signal } = new AbortController()
const outbox = (folder: string) => openTransport(pathToFileURL(folder).href, { log: SILENT })

it('writes a message as a file that any mail program opens, the same into the same, and another into another', async () => {
  const folder = join(folderWith(), 'data', 'outbox')
  const { response } = await outbox(folder).send(MESSAGE, { signal })
  const [file] = readdirSync(folder)
  expect(file).toMatch(/^2026-11-21-daily-dana-example\.org-[0-9a-f]{8}\.eml$/)
  expect(response).toBe(`written to ${join(folder, file ?? '')}`)
  const mail = await PostalMime.parse(readFileSync(join(folder, file ?? '')))
  expect(mail.subject).toBe(MESSAGE.subject)
  await outbox(folder).send(MESSAGE, { signal })
  expect(readdirSync(folder)).toEqual([file])
  await outbox(folder).send({ ...MESSAGE, messageId: '<other@example.com>' }, { signal })
  expect(readdirSync(folder)).toHaveLength(2)
})

it('lets no other user read the messages, whatever the umask', async () => {
  const before = process.umask(0o022)
  onTestFinished(() => void process.umask(before))
  const folder = join(folderWith(), 'outbox')
  await outbox(folder).send(MESSAGE, { signal })
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  expect([modeOf(folder), ...readdirSync(folder).map((file) => modeOf(join(folder, file)))]).toEqual([
    '700',
    '600',
  ])
})

it('keeps a strange recipient or report within the folder', async () => {
  const folder = folderWith()
  await outbox(folder).send({ ...MESSAGE, to: '/a/b@example.org', report: '../../etc' }, { signal })
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^2026-11-21-etc-a-b-example\.org-\w+\.eml$/)])
})

it('writes nothing when what must come first fails, and lets that error through', async () => {
  const folder = folderWith()
  const onData = () => {
    throw new Error('the ledger is locked')
  }
  await expect(outbox(folder).send(MESSAGE, { signal, onData })).rejects.toThrow('the ledger is locked')
  expect(readdirSync(folder)).toEqual([])
})

it('names a folder that cannot be written as a matter of settings', async () => {
  const folder = folderWith({ outbox: 'a file where the folder should be' })
  const failure = await outbox(join(folder, 'outbox', 'mail'))
    .send(MESSAGE, { signal })
    .catch((thrown: unknown) => thrown)
  expect(failure).toMatchObject({ code: 'mail_unreachable' })
  expect(String(failure)).toMatch(/outbox.mail cannot be written: ENOTDIR/)
  expect(failedSendOf(failure)?.kind).toBe('configuration')
  await expect(outbox('/proc/none/outbox').verify(signal)).rejects.toThrow('cannot be written')
})

it('leaves no unfinished file behind', async () => {
  const folder = folderWith()
  const transport = outbox(folder)
  await transport.send(MESSAGE, { signal })
  const [file] = readdirSync(folder)
  const blocked = folderWith()
  // A folder has the name of the message, so the last step must fail.
  mkdirSync(join(blocked, file ?? ''))
  writeFileSync(join(blocked, file ?? '', 'x'), '')
  await expect(outbox(blocked).send(MESSAGE, { signal })).rejects.toThrow()
  expect(readdirSync(blocked)).toEqual([file])
})

it.each([
  'http://mail.example.com',
  'smtp://',
  'mail.example.com',
  '',
  'smpt://dana:hunter22@mail.example.com',
])('refuses %j as a mail URL, without repeating a password', (url) => {
  const message = expect.not.stringContaining('hunter22')
  const error = expect.objectContaining({ code: 'config_invalid', message })
  expect(() => openTransport(url, { log: SILENT })).toThrow(error)
})

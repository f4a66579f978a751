/** The daemon learns the secrets of webhooks that another process registers while it runs. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTerminal } from '../../src/cli/terminal/terminal.ts'
import {
  type Registration,
  registrationFile,
  saveRegistration,
} from '../../src/jobs/events/webhook-registration.ts'
import { folderWith } from '../support/folder.ts'
import { REGISTERED } from '../support/network/webhook-receiver.ts'

it('are taken out of what is logged and shown from the moment at which they are kept, and stay so', async () => {
  const cwd = folderWith({ 'leadsheet.yaml': 'data_dir: data' })
  const config = join(cwd, 'leadsheet.yaml')
  const terminal = openTerminal(() => ({ color: false, config }), new AbortController().signal)
  const { dataDir } = await terminal.config()
  const keep = (registration: Registration | null) =>
    saveRegistration(registrationFile(dataDir), registration)
  const text = 'canary-first, canary-second'
  expect(terminal.redact(text)).toBe(text)
  await keep({ ...REGISTERED, secret: 'canary-first' })
  expect(terminal.redact(text)).toBe('[redacted], canary-second')
  await keep({ ...REGISTERED, secret: 'canary-second' })
  expect(terminal.redact(text)).toBe('[redacted], [redacted]')
  await keep(null)
  expect(terminal.redact(text)).toBe('[redacted], [redacted]')
})

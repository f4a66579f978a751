/** The answers of the program to commands that cannot be right. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkTranscript } from '../support/process/transcript.ts'
import { folderWithDatabase } from '../support/store.ts'

const SETTINGS = `
api: { url: "http://127.0.0.1:9", key: k-123456 }
mail: { url: "file:./outbox", from: reports@example.com }
recipients: [ana@example.com]
reports: [{ name: daily }, { name: weekly, recipients: [dana@example.com] }]
`

it('commands that cannot be right are refused with what is wrong and what to do', async () => {
  const files = {
    'leadsheet.yaml': SETTINGS,
    'bad.yaml': 'x: 1\n'.repeat(300),
    'folder/x': '',
    'dayly.yaml': 'reports: [{ name: dayly }]',
  }
  const cwd = await folderWithDatabase(files)
  const text = await checkTranscript(join(import.meta.dirname, 'golden/refused.txt'), { cwd })
  expect(text).not.toMatch(/-wal|^(?!\$).*hunter2/m)
  expect(text.match(/^\[exit status [12]\]$/gm)?.length).toBe(text.match(/^\$ /gm)?.length)
})

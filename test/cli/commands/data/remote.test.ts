/** The commands that call the upstream directly, run by the real program against the reference service. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Service } from '../../../../src/service/open.ts'
import { folderWith } from '../../../support/folder.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'

const NOW = new Date('2026-11-20T09:00:00Z')
const folder = mkdtempSync(join(tmpdir(), 'leadsheet-service-'))
let service: Service
let env: Record<string, string>

beforeAll(async () => {
  service = await startService(folder, NOW, 20)
  env = {
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: await service.createKey({ name: 'test', scope: 'write' }),
  }
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

function run(line: string) {
  return runWarm(line.split(' '), { cwd: folderWith(), env })
}

async function json(line: string) {
  const { stdout, stderr } = await run(`${line} --json`)
  expect(stderr.split('\n').filter((each) => each.includes('error'))).toEqual([])
  return JSON.parse(stdout)
}

test('leads are listed by every filter of the service, and shown; pipelines are created, and have statistics', async () => {
  const { data: leads } = await json('leads list --remote --status contacted --limit 1')
  const file = join(import.meta.dirname, 'golden/remote.txt')
  await checkTranscript(file, { cwd: folderWith(), env }, { LEAD: leads[0].id })
})

test('a list with --cursor goes on where the page before ended, and with --all to the end', async () => {
  const whole = await json('leads list --remote --all')
  expect(whole.meta.page).toEqual({ next_cursor: null, has_more: false, total: whole.data.length })
  const first = await json('leads list --remote --limit 2')
  const rest = await json(`leads list --remote --all --cursor ${first.meta.page.next_cursor}`)
  expect([...first.data, ...rest.data]).toEqual(whole.data)
})

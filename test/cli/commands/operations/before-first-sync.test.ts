import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withProgress } from '../../../../src/cli/commands/data/sync.ts'
import type { Progress, Terminal } from '../../../../src/cli/terminal/terminal.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

describe('looking before the first sync', () => {
  it('shows that there is nothing yet, and makes no data directory', async () => {
    const cwd = folderWith()
    const env = { LEADSHEET_DATA_DIR: 'mistyped', LEADSHEET_API_URL: 'http://127.0.0.1:9/' }
    const status = await runWarm(['status', '--json'], { cwd, env })
    expect(status.status).toBe(1)
    expect(JSON.parse(status.stdout).data).toMatchObject({
      status: 'fail',
      sentence: 'No sync has read all leads yet.',
      leads: 0,
      data_as_of: null,
      runs: [],
      deliveries: {},
      events: { last_24_hours: {}, waiting: 0, waiting_since: null, last: [] },
    })
    const report = await runWarm(['report', 'preview', 'daily'], {
      cwd,
      env: { LEADSHEET_DATA_DIR: 'mistyped' },
    })
    expect([report.status, report.stderr]).toEqual([
      1,
      expect.stringContaining('no sync has read all leads yet'),
    ])
    expect(existsSync(join(cwd, 'mistyped'))).toBe(false)
  })

  it.each([
    'alerts ack 1',
    'annotate 2026-11-20 fair',
    'db backup copy.db',
    'doctor',
    'recipients link ana@example.com',
    'recipients set unsubscribed ana@example.com',
    'report approve daily',
    'snapshot',
  ])('%s begins no database, neither where none is nor in an empty file', async (command) => {
    const settings =
      'data_dir: data\napi: { url: "http://127.0.0.1:9/", key: k }\nrecipients: [ana@example.com]\n'
    const cwd = folderWith({ 'leadsheet.yaml': settings, 'data/.keep': '' })
    const file = join(cwd, 'data/leadsheet.db')
    const { stdout, stderr } = await runWarm(command.split(' '), { cwd })
    expect(`${stdout}${stderr}`).not.toContain('bug in leadsheet')
    expect(readdirSync(join(cwd, 'data'))).toEqual(['.keep'])
    writeFileSync(file, '')
    await runWarm(command.split(' '), { cwd })
    expect(statSync(file).size).toBe(0)
  })
})

describe('where nothing is configured', () => {
  it.each(['config check', 'status', 'doctor'])(
    '%s says what is missing, and makes nothing',
    async (command) => {
      const cwd = folderWith()
      const { status, stdout, stderr } = await runWarm(command.split(' '), { cwd })
      expect([status, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(
        /^error: there is no leadsheet\.yaml in \S+, and api\.url \(LEADSHEET_API_URL\), api\.key .* and recipients .* are not set\nhint: `npx leadsheet init` /,
      )
      expect(readdirSync(cwd)).toEqual([])
    },
  )

  it('config check names what the daemon would lack', async () => {
    const cwd = folderWith({ 'leadsheet.yaml': 'api: { url: "http://127.0.0.1:9/" }\nreports: []\n' })
    const lack =
      '`npx leadsheet run` needs more: api.key (LEADSHEET_API_KEY or LEADSHEET_API_KEY_FILE) is not set'
    const shown = await runWarm(['config', 'check'], { cwd })
    expect([shown.status, shown.stderr]).toEqual([2, `warning: ${lack}\n`])
    expect(shown.stdout).toMatch(/^api\.url +http:\/\/127\.0\.0\.1:9\/ +leadsheet\.yaml:1:13$/m)
    const { status, stdout } = await runWarm(['config', 'check', '--json'], { cwd })
    expect([status, JSON.parse(stdout).data.warnings]).toEqual([2, [lack]])
  })

  it('config check and doctor name a group that does not exist, with its line', async () => {
    const settings =
      'api: { url: "http://127.0.0.1:9/", key: k }\nreports: []\nsnapshot: { group: nobodys-group }\n'
    const cwd = folderWith({ 'leadsheet.yaml': settings })
    const found = 'leadsheet.yaml:3:20  snapshot.group: there is no group nobodys-group'
    const check = await runWarm(['config', 'check'], { cwd })
    expect([check.status, check.stderr]).toEqual([
      2,
      `error: ${found}\nhint: Make it with: groupadd nobodys-group. Or set snapshot.group to its number.\n`,
    ])
    const { stdout } = await runWarm(['doctor', '--json'], { cwd })
    expect(JSON.parse(stdout).data.checks).toContainEqual(
      expect.objectContaining({ what: 'snapshot.group', status: 'fail', found }),
    )
  })
})

describe('the progress of a sync', () => {
  it('is shown until the work is done', async () => {
    const events: string[] = []
    const progress: Progress = {
      update: (done) => void events.push(`${done}`),
      [Symbol.dispose]: () => void events.push('gone'),
    }
    const terminal: Pick<Terminal, 'progress'> = { progress: async () => progress }
    await withProgress(terminal, async (onProgress) => {
      await new Promise(setImmediate)
      onProgress({ part: 'leads', pages: 1, done: 10, total: 20 })
    })
    expect(events).toEqual(['10', 'gone'])
  })
})

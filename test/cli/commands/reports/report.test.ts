/** `leadsheet report`: previewing a report as its recipients see it, and sending it. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { clockAt } from '../../../support/process/shifted-clock.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'

const SETTINGS = `
enrichment: { policy: none }
snapshot: { when: never }
smtp: { url: file:./outbox }
mail: { from: reports@example.com }
recipients:
  - ana@example.com
  - address: dana@example.com
    name: Dana Lopes
    locale: de-DE
    filter: { pipelines: [pl_emea] }
    blocks: [headline, freshness, kpis, trend]
    attachments: [top_leads.csv]
reports:
  - name: daily
`

const NOW = '2026-11-24T12:00:00Z'

const runIn =
  (cwd: string, env: Readonly<Record<string, string>> = {}) =>
  (...args: string[]) =>
    runWarm(args, { cwd, env: { ...env, ...clockAt(NOW) } })

/** An installation with a database of a service's last days. */
const synced = mkdtempSync(join(tmpdir(), 'leadsheet-'))
afterAll(() => rmSync(synced, { recursive: true }))
const env = { LEADSHEET_API_URL: '', LEADSHEET_API_KEY: '', LEADSHEET_LOG_LEVEL: 'error' }

beforeAll(async () => {
  writeFileSync(join(synced, 'leadsheet.yaml'), SETTINGS)
  await using service = await startService(synced, new Date(NOW), 16)
  env.LEADSHEET_API_URL = service.url
  env.LEADSHEET_API_KEY = await service.createKey({ name: 'test', scope: 'read' })
  expect(await runIn(synced, env)('sync')).toMatchObject({ status: 0 })
})

/** Copies that installation. Its service no longer runs. */
function openInstallation() {
  const cwd = folderWith()
  cpSync(synced, cwd, { recursive: true })
  return { cwd, run: runIn(cwd, env) }
}

/** Changes a row to a state that only a fault can cause. */
function change(cwd: string, sql: string): void {
  const database = new Database(join(cwd, 'data', 'leadsheet.db'))
  database.exec(sql)
  database.close()
}

describe('looking at a report', () => {
  it('shows it as a recipient gets it, and in any language, with its pictures inside', async () => {
    const { cwd, run } = openInstallation()
    const dana = await run('report', 'preview', 'daily', '--for', 'dana@example.com', '-o', 'dana.html')
    expect(dana).toMatchObject({ status: 0 })
    expect(dana.stdout).toMatch(/^Leads +pipelines pl_emea$/m)
    expect(dana.stdout).toMatch(/^Subject +Leads am Tag, Mo\., 23\. Nov\.: /m)
    const html = readFileSync(join(cwd, 'dana.html'), 'utf8')
    expect(html).toContain('lang="de-DE"')
    expect(html).toContain('dana@example.com')
    expect(html).toContain('="data:image/png;base64,')
    expect(html).not.toContain('cid:')

    const english = await run(
      'report',
      'preview',
      'daily',
      '--for',
      'dana@example.com',
      '--locale',
      'en-US',
      '--json',
    )
    expect(JSON.parse(english.stdout).data).toMatchObject({
      report: 'daily',
      issues: [
        { leads: 'pipelines pl_emea', subject: expect.stringMatching(/^Daily leads, /), not_sent: null },
      ],
      deliveries: [],
    })
    expect(readdirSync(join(cwd, 'data'))).not.toContain('outbox')
  })
})

describe('sending a report', () => {
  it('gives each recipient their own, of an issue for each choice of leads', async () => {
    const { cwd, run } = openInstallation()
    const sent = JSON.parse((await run('report', 'send', 'daily', '--json')).stdout).data
    expect(sent.issues.map((issue: { leads: string | null }) => issue.leads)).toEqual([
      null,
      'pipelines pl_emea',
    ])
    expect(sent.deliveries).toMatchObject([
      { recipient: 'ana@example.com', state: 'sent', is_new: true },
      { recipient: 'dana@example.com', state: 'sent', is_new: true },
    ])
    expect(readdirSync(join(cwd, 'data', 'outbox'))).toHaveLength(2)
  })

  it('sends none that the settings would hold, unless it is forced to, and then says why they would', async () => {
    const { cwd, run } = openInstallation()
    const holding = SETTINGS.replace('name: daily', 'name: daily\n    on_stale_data: hold')
    writeFileSync(join(cwd, 'leadsheet.yaml'), holding)
    change(cwd, "UPDATE sync_run SET leads_as_of = '2026-01-01T00:00:00.000Z'")
    const held = await run('report', 'send', 'daily')
    expect(held).toMatchObject({ status: 1, stdout: '' })
    expect(held.stderr).toMatch(
      /The report daily is held as its settings say: the leads are of 2026-01-01 00:00 UTC, the report ends /,
    )
    expect(held.stderr).toContain('--force')
    const sent = await run('report', 'send', 'daily', '--force')
    expect(sent).toMatchObject({ status: 0 })
    expect(sent.stdout).toMatch(/^Subject +Daily leads, .*: (?:no data|data ends|only a part read)/m)
    expect(await run('report', 'preview', 'daily', '--force')).toMatchObject({ status: 2 })
  })

  it('says of each part that could not be made why, and leaves as done in part', async () => {
    const { cwd, run } = openInstallation()
    change(cwd, "UPDATE sync_scan_result SET drift = '{', ended_at = '2026-11-23T12:00:00.000Z'")
    const looked = await run('report', 'preview', 'daily')
    expect(looked).toMatchObject({ status: 3 })
    expect(looked.stderr).toContain('warning: data_quality could not be made: malformed JSON')
    const sent = await run('report', 'send', 'daily', '--json')
    expect(sent).toMatchObject({ status: 3 })
    expect(JSON.parse(sent.stdout).data.issues[0].failed).toEqual([
      { block: 'data_quality', query: null, message: 'malformed JSON' },
    ])
  })
})

/** The commands that call the upstream directly, run by the real program against the reference service. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Service } from '../../../../src/service/open.ts'
import { folderWith } from '../../../support/folder.ts'
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

describe('leads list --remote', () => {
  test('shows a page as a table, and beside it how to go on', async () => {
    const { status, stdout, stderr } = await run('leads list --remote --limit 3')
    expect(status).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(4)
    expect(stdout).toMatch(
      /^ID +COMPANY +STATUS +SCORE +UPDATED +VALUE +OWNER +PIPELINE +COUNTRY +CONTACT\nld_/,
    )
    expect(stderr).toMatch(/^3 of \d+ leads; more with --cursor \S+, or --all\n$/)
  })

  test('hands every filter to the service', async () => {
    const { data } = await json(
      'leads list --remote --status qualified --status contacted --min-score 60 --sort=-score --limit 5 --created-since 2026-11-01 --updated-since 2026-11-02',
    )
    expect(data.length).toBeGreaterThan(1)
    const scores = data.map((lead: { score: number }) => lead.score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    for (const lead of data) {
      expect(['qualified', 'contacted']).toContain(lead.status)
      expect(lead.score).toBeGreaterThanOrEqual(60)
    }
    const [{ pipeline_id: pipeline, company }] = data
    const [word] = company.name.split(' ')
    const found = await json(`leads list --remote --pipeline ${pipeline} --q ${word}`)
    expect(found.data.map((lead: { company: object }) => lead.company)).toContainEqual(company)
  })

  test('with --cursor goes on where the page before ended, and with --all to the end', async () => {
    const whole = await json('leads list --remote --all')
    expect(whole.meta.page).toEqual({ next_cursor: null, has_more: false, total: whole.data.length })
    const first = await json('leads list --remote --limit 2')
    const rest = await json(`leads list --remote --all --cursor ${first.meta.page.next_cursor}`)
    expect([...first.data, ...rest.data]).toEqual(whole.data)
  })
})

describe('leads show --remote', () => {
  test('shows the lead, its enrichment and its history', async () => {
    const [lead] = (await json('leads list --remote --status contacted --limit 1')).data
    const { stdout } = await run(`leads show --remote ${lead.id}`)
    expect(stdout).toMatch(new RegExp(`^Lead +${lead.id}\nCompany +`))
    expect(stdout).toMatch(/\nENRICHMENT\ntechnologies:\n {2}- /)
    expect(stdout).toMatch(/\nAT +EVENT +CHANGE +AGENT +SUMMARY\n.*discovered/)
    expect(stdout).toContain('qualified → contacted')
    const { data } = await json(`leads show --remote ${lead.id}`)
    expect(data).toMatchObject({ ...lead, activity: expect.any(Array) })
  })
})

describe('pipelines', () => {
  test('are created from options', async () => {
    const { data: created } = await json(
      'pipelines create --name Robots --industry Industrials --industry Healthcare --region Europe --keyword robot --employees-min 10 --limit 9',
    )
    expect(created).toMatchObject({
      name: 'Robots',
      criteria: {
        industries: ['Industrials', 'Healthcare'],
        regions: ['Europe'],
        countries: [],
        keywords: ['robot'],
        employees: { min: 10 },
        limit: 9,
      },
    })
  })

  test('have statistics, whole or of a period', async () => {
    const { stdout } = await run('pipelines stats pl_emea')
    expect(stdout).toMatch(
      /^Pipeline +pl_emea\n[\s\S]*\nSTAGE +NOW +REACHED +CONVERSION +MEDIAN HOURS\ndiscovered/,
    )
    const { data: period } = await json('pipelines stats pl_emea --from 2026-11-05 --to 2026-11-10')
    expect(period).toMatchObject({ from: '2026-11-05T00:00:00.000Z', to: '2026-11-10T00:00:00.000Z' })
  })
})

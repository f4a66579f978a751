import { describe, expect, test } from 'vitest'
import { BLOCKS } from '../../../src/domain/choices.ts'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import { renderPreview, tryReport } from '../../../src/jobs/reports/preview.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { DAILY } from '../../support/mail/reports.ts'
import { TEMPLATES_FOLDER } from '../../support/report.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const { signal } = new AbortController()

function reportNamed(name: string, change: Partial<Report> = {}): Report {
  return {
    name,
    template: name,
    title: 'Mine',
    kind: 'day',
    holidays: [],
    goals: [],
    fiscalYearStarts: 1,
    sendWhen: 'always',
    gate: DAILY.gate,
    locale: 'en-GB',
    timeZone: 'Europe/Berlin',
    filter: { pipelineIds: null, conditions: [] },
    blocks: BLOCKS,
    attachments: [],
    stalledDays: 7,
    topScore: 80,
    queries: [],
    leadUrl: null,
    ...change,
  }
}

const query = (sql: string) => {
  return { name: 'mine', title: 'By country', note: null, sql, place: 'mine/report.yaml:3:10' }
}

async function open(own: Readonly<Record<string, string>> = {}) {
  const templates = await openTemplates(TEMPLATES_FOLDER, {
    own: folderWith({ 'mine/report.yaml': '', ...own }),
  })
  const store = await openEmptyStore()
  const sender = {
    from: 'from@example.com',
    replyTo: null,
    unsubscribe: { mailto: 'stop@example.com', pageOf: null },
  }
  const deps = {
    templates,
    store,
    sender,
    maxBytes: 10_000_000,
    now: () => NOW,
    publishing: publishing(store, folderWith()),
  }
  return { deps, store, [Symbol.asyncDispose]: () => store.close() }
}

describe('a preview', () => {
  test.each<PeriodKind>(['day', 'working_day', 'week', 'month', 'since_last'])(
    'of a %s fills every block with made-up figures, without any lead in the store',
    async (kind) => {
      await using opened = await open()
      const report = reportNamed('mine', {
        kind,
        queries: [query('SELECT id AS country, 1 AS leads FROM lead')],
      })
      const preview = await renderPreview(opened.deps, report, { ...report, address: null }, 'sample', signal)
      for (const said of [
        'Nordwind',
        'Needs attention',
        'By country',
        'Software',
        'Outreach',
        'company\u200b.funding',
      ])
        expect(preview.html).toContain(said)
      expect(preview.files.map(({ name }) => name)).toContain('trend-light.png')
      expect(preview.text).not.toMatch(/undefined|NaN|null/)
    },
  )

  test('of real figures asks the store, and the queries for the leads of its reader', async () => {
    await using opened = await open()
    const created = { createdAt: '2026-11-20T08:00:00.000Z' }
    await save(opened.store, [
      lead('ld_1', { ...created, companyCountry: 'Chile' }),
      lead('ld_2', { ...created, companyCountry: 'Peru', pipelineId: 'p2' }),
    ])
    await saveWholeRun(opened.store, '2026-11-21T05:00:00Z')
    const sql =
      'SELECT company_country AS country, 1 AS leads FROM lead WHERE id IN chosen AND created_at >= :from'
    const report = reportNamed('mine', { queries: [query(sql)] })
    const filter = { pipelineIds: ['p1'], conditions: [] }
    const audience = { ...report, filter, address: 'ana@example.com' }
    const { subject, html, text } = await renderPreview(opened.deps, report, audience, 'real', signal)
    expect(subject).toContain('1 new')
    expect(html).toContain('Chile')
    expect(html).not.toContain('Peru')
    expect(text).toContain('ana@example.com')
    expect((await opened.store.db.selectFrom('report_issue').select('id').execute()).length).toBe(0)
  })

  test('of real figures needs some', async () => {
    await using opened = await open()
    const report = reportNamed('mine')
    const preview = renderPreview(opened.deps, report, { ...report, address: null }, 'real', signal)
    await expect(preview).rejects.toMatchObject({ code: 'report_no_data' })
  })
})

describe('the trial of a report', () => {
  test.each(['daily', 'weekly', 'monthly', 'quarterly'])('finds nothing wrong with %s', async (name) => {
    await using opened = await open()
    await tryReport(opened.deps, reportNamed(name), [], signal)
  })

  test('finds a name that there is not where only much or only little is told', async () => {
    for (const html of [
      '{{#each blocks}}{{#if leads}}\n{{nope}}{{/if}}{{/each}}',
      '{{#each blocks}}{{#unless leads}}\n{{nope}}{{/unless}}{{/each}}',
    ]) {
      await using opened = await open({ 'mine/html.hbs': html })
      const trial = tryReport(opened.deps, reportNamed('mine'), [], signal)
      await expect(trial).rejects.toThrow(/mine\/html\.hbs, line 2: "nope" not defined/)
    }
  })

  test('finds what is wrong in a block that only one recipient has', async () => {
    await using opened = await open({ 'mine/blocks/sources.text.hbs': 'one\n{{nope}}' })
    const report = reportNamed('mine', { blocks: ['headline'] })
    const deps = opened.deps
    await tryReport(deps, report, [], signal)
    const recipient = { ...report, address: 'ana@example.com', blocks: ['sources' as const] }
    const trial = tryReport(deps, report, [recipient], signal)
    await expect(trial).rejects.toThrow(/sources\.text\.hbs, line 2/)
  })

  test('finds SQL that would not run, without running any', async () => {
    await using opened = await open()
    const report = reportNamed('mine', { queries: [query('SELECT contry FROM lead')] })
    const trial = tryReport(opened.deps, report, [], signal)
    await expect(trial).rejects.toThrow('mine/report.yaml:3:10  query mine: no such column: contry')
  })
})

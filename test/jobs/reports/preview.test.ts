import { describe, expect, test } from 'vitest'
import { tryReport } from '../../../src/jobs/reports/preview.ts'
import type { Report } from '../../../src/jobs/reports/report-definition.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { folderWith } from '../../support/folder.ts'
import { DAILY, reportDeps } from '../../support/mail/reports.ts'
import { TEMPLATES_FOLDER } from '../../support/report.ts'
import { openEmptyStore } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const { signal } = new AbortController()

function reportNamed(name: string, change: Partial<Report> = {}): Report {
  return { ...DAILY, name, template: name, title: 'Mine', timeZone: 'Europe/Berlin', ...change }
}

const query = (sql: string) => {
  return { name: 'mine', title: 'By country', note: null, sql, place: 'mine/report.yaml:3:10' }
}

async function open(own: Readonly<Record<string, string>> = {}) {
  const templates = await openTemplates(TEMPLATES_FOLDER, {
    own: folderWith({ 'mine/report.yaml': '', ...own }),
  })
  const store = await openEmptyStore()
  const deps = { ...reportDeps(store, () => NOW), templates }
  return { deps, store, [Symbol.asyncDispose]: () => store.close() }
}

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

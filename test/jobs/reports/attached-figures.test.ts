import { expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import { listFigureFiles, makeFigureFile } from '../../../src/jobs/reports/issue-page.ts'
import type { Issue } from '../../../src/store/reports/issue.ts'
import { busyDay } from '../../support/reports/figures.ts'

const EURO = { amount: 1250.5, currency: 'EUR' }
const EVIL = '=cmd|" /C calc"!A0'

function issueOf(change: Partial<ReportFigures> = {}): Issue {
  const figures = { ...busyDay(), ...change }
  return {
    id: 'e',
    report: 'daily',
    variant: '',
    subject: '',
    text: '',
    isEnqueued: true,
    notSent: null,
    period: figures.period,
    renderedAt: '2026-11-21T07:00:00.000Z',
    programVersion: '1.2.3',
    html: '<html lang="de-DE">',
    figures,
  }
}

const linesOf = async (issue: Issue, name: string) =>
  Buffer.from((await makeFigureFile(issue, name))?.content ?? '')
    .toString()
    .split('\n')

it('every list is a CSV in the language of the issue', async () => {
  const issue = issueOf({ wonValue: { current: [EURO], prior: [{ amount: 90, currency: 'USD' }] } })
  const files = await Promise.all(
    listFigureFiles(issue).map(async ({ name }) => `${name}\n${(await linesOf(issue, name)).join('\n')}`),
  )
  await expect(files.join('\n')).toMatchFileSnapshot('golden/figure-files.txt')
})

it('no cell is a formula, in the language of the issue', async () => {
  const { topLeads } = busyDay()
  const rows = topLeads.rows.slice(0, 1).map((row) => ({ ...row, companyName: EVIL }))
  const issue = issueOf({
    openValue: { current: [{ amount: -5, currency: '=1+1' }], prior: [] },
    topLeads: { ...topLeads, total: 1, rows },
  })
  expect((await linesOf(issue, 'figures')).join('\n')).toContain(";open_value;'=1+1;-5;0;;\n")
  const [head, first] = await linesOf(issue, 'top_leads')
  expect(head).toContain('Unternehmen')
  expect(first).toContain(`"'${EVIL.replaceAll('"', '""')}"`)
})

it('what could not be made is left out, and what there is not is not made', async () => {
  const failed = [{ block: 'stalled', query: null, message: 'no such table' }] as const
  const issue = issueOf({ failed })
  expect(listFigureFiles(issue).map(({ name }) => name)).toEqual([
    ...['figures', 'trend', 'today', 'changes', 'top_leads', 'pipelines', 'sources'],
  ])
  expect(await makeFigureFile(issue, 'stalled')).toBeNull()
  expect(await makeFigureFile(issue, 'constructor')).toBeNull()
  expect(listFigureFiles({ ...issue, programVersion: null })).toEqual([])
})

/** Files of lists that a mail brings along. The golden files have every list as CSV and as Excel. */
import { readSheet } from 'read-excel-file/node'
import { expect, test } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { MessageFile } from '../../../src/domain/message.ts'
import { makeAttachments } from '../../../src/jobs/reports/attachment.ts'
import { listFigureFiles, makeFigureFile } from '../../../src/jobs/reports/issue-page.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import type { Issue } from '../../../src/store/reports/issue.ts'
import { unsavedIssue } from '../../support/mail/message.ts'
import { busyDay } from '../../support/reports/figures.ts'

const BUSY = busyDay()
/** The difficulties of a row of leads: signs of CSV, a line break, dates of the reader's clock. */
const ODD = {
  id: 'lead/1',
  companyName: 'Acme, "the" one',
  companyOneLiner: 'Anvils\nand more',
  companyDomain: 'acme.example',
  companyCountry: 'Germany',
  owner: 'Ana Ferreira',
  expectedCloseAt: '2026-11-21T00:00:00.000Z',
  contactName: 'Zoë Müller',
  value: { amount: 12_500.5, currency: 'EUR' },
  createdAt: '2026-11-20T23:00:00.000Z',
}
const FIGURES: ReportFigures = {
  ...BUSY,
  topLeads: { ...BUSY.topLeads, rows: BUSY.topLeads.rows.map((row) => ({ ...row, ...ODD })).slice(0, 1) },
  stalled: { ...BUSY.stalled, total: 1_234 },
  queries: [
    {
      name: 'by-industry',
      title: 'By industry',
      note: null,
      sql: 'SELECT 1',
      columns: ['industry', 'leads', 'first_at'],
      rows: [
        ['=SUM(A1)', 7, '2026-11-20T08:00:00.000Z'],
        [null, -1, null],
      ],
      isCut: true,
    },
  ],
}
const LISTS = ['today', 'changes', 'top_leads', 'stalled', 'pipelines', 'sources', 'by-industry']

async function attached(
  wanted: string,
  { figures = FIGURES, locale: tag = 'en-GB', leadUrl = null as string | null } = {},
): Promise<MessageFile> {
  const locale = createLocaleContext(tag, 'Europe/Berlin', '2026-11-21T06:00:00.000Z')
  const request = { report: 'daily', figures, charts: [], locale, leadUrl }
  const [made] = await makeAttachments([wanted], request)
  if (!made) throw new Error('no file was made')
  return made.file
}

const textOf = (file: MessageFile) => Buffer.from(file.content).toString()

test.each([
  ['en-GB', 'https://crm.example/{id}/edit'],
  ['de-DE', null],
])('every list is a file with the numbers and dates of its reader (%s)', async (locale, leadUrl) => {
  const lines: string[] = []
  for (const list of LISTS) {
    const csv = await attached(`${list}.csv`, { locale, leadUrl })
    const excel = await attached(`${list}.xlsx`, { locale, leadUrl })
    const rows = await readSheet(Buffer.from(excel.content))
    lines.push(`${csv.name} (${csv.contentType})`, textOf(csv).replace('\ufeff', '<BOM>'))
    lines.push(excel.name, ...rows.map((row) => JSON.stringify(row)), '')
  }
  await expect(lines.join('\n')).toMatchFileSnapshot(`golden/attachments-${locale}.txt`)
})

test('a list is named after all days of its period, and has its headings also where it is empty', async () => {
  const period = { ...FIGURES.period, from: '2026-11-13T23:00:00.000Z' }
  const figures = { ...FIGURES, period, topLeads: { minScore: 80, total: 0, rows: [] } }
  const file = await attached('top_leads.csv', { figures })
  expect(file.name).toBe('daily-top-leads-2026-11-14--2026-11-20.csv')
  expect(textOf(file)).toMatch(/^\ufeffCompany,[^\n]+\n$/)
})

test('the trend goes along as a picture, where there is one', async () => {
  const locale = createLocaleContext('en-GB', 'Europe/Berlin', '2026-11-21T06:00:00.000Z')
  const request = { report: 'daily', figures: FIGURES, locale, leadUrl: null }
  const content = new Uint8Array([137, 80, 78, 71])
  const charts = [{ name: 'trend-light.png', content }]
  expect(await makeAttachments(['charts'], { ...request, charts })).toEqual([
    {
      of: 'charts',
      file: { name: 'daily-trend-2026-11-20.png', contentType: 'image/png', content, cid: null },
    },
  ])
  expect(await makeAttachments(['charts'], { ...request, charts: [] })).toEqual([])
})

test('an attachment of no list is refused, naming those that there are', async () => {
  await expect(attached('by-country.csv')).rejects.toMatchObject({
    code: 'config_invalid',
    message: 'The report has no list for the attachment by-country.csv',
    hint: 'Its lists are today, changes, top_leads, stalled, pipelines, sources, by-industry.',
  })
})

/** The files of figures that the pages of an issue offer. */
function issueOf(change: Partial<ReportFigures> = {}): Issue {
  const figures = { ...busyDay(), ...change }
  const issue = unsavedIssue({ programVersion: '1.2.3', html: '<html lang="de-DE">', figures })
  return { ...issue, id: 'e', isEnqueued: true, notSent: null }
}

test('every list of an issue is a CSV in the language of the issue', async () => {
  const issue = issueOf({
    wonValue: { current: [{ amount: 1250.5, currency: 'EUR' }], prior: [{ amount: 90, currency: 'USD' }] },
  })
  const files = await Promise.all(
    listFigureFiles(issue).map(async ({ name }) => {
      const file = await makeFigureFile(issue, name)
      return `${name}\n${file && textOf(file)}`
    }),
  )
  await expect(files.join('\n')).toMatchFileSnapshot('golden/figure-files.txt')
})

test('what could not be made is left out, and what there is not is not made', async () => {
  const failed = [{ block: 'stalled', query: null, message: 'no such table' }] as const
  const issue = issueOf({ failed })
  const names = listFigureFiles(issue).map(({ name }) => name)
  expect(names.join()).toBe('figures,trend,today,changes,top_leads,pipelines,sources')
  expect(await makeFigureFile(issue, 'stalled')).toBeNull()
  expect(await makeFigureFile(issue, 'constructor')).toBeNull()
  expect(listFigureFiles({ ...issue, programVersion: null })).toEqual([])
})

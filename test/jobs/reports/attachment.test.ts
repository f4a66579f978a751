import { readSheet } from 'read-excel-file/node'
import { describe, expect, test } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { ListedLead } from '../../../src/domain/lists.ts'
import type { MessageFile } from '../../../src/domain/message.ts'
import { makeAttachments } from '../../../src/jobs/reports/attachment.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import { BLANK_LISTED } from '../../support/data/blank-lead.ts'
import { emptyDay } from '../../support/reports/figures.ts'

const BERLIN = { timeZone: 'Europe/Berlin' }
const ACME: ListedLead & { idleDays: number } = {
  ...BLANK_LISTED,
  id: 'lead/1',
  companyName: 'Acme, "the" one',
  companyOneLiner: 'Anvils\nand more',
  companyDomain: 'acme.example',
  companyCountry: 'Germany',
  owner: 'Ana Ferreira',
  expectedCloseAt: '2026-11-21T00:00:00.000Z',
  contactName: 'Zoë Müller',
  pipelineId: 'eu',
  pipelineName: 'EU mid-market',
  status: 'meeting_booked',
  score: 91,
  source: 'web',
  value: { amount: 12_500.5, currency: 'EUR' },
  createdAt: '2026-11-20T23:00:00.000Z',
  changedAt: '2026-07-01T10:00:00.000Z',
  idleDays: 142,
}
const FIGURES: ReportFigures = {
  ...emptyDay(),
  period: { from: '2026-11-19T23:00:00.000Z', to: '2026-11-20T23:00:00.000Z', ...BERLIN },
  prior: { from: '2026-11-12T23:00:00.000Z', to: '2026-11-13T23:00:00.000Z', ...BERLIN },
  topLeads: { minScore: 80, total: 1, rows: [ACME] },
  stalled: { days: 14, coverage: { known: 1, of: 1 }, total: 1, rows: [ACME] },
  insight: null,
  changes: {
    since: '2026-11-19T23:00:00.000Z',
    coverage: { known: 1, of: 1 },
    kinds: [
      {
        kind: 'won',
        total: 1,
        value: [{ amount: 12_500.5, currency: 'EUR' }],
        rows: [
          {
            id: 'lead/1',
            companyName: 'Acme',
            pipelineName: 'EU mid-market',
            fromStatus: null,
            toStatus: 'won',
            at: '2026-11-20T09:00:00.000Z',
            value: { amount: 12_500.5, currency: 'EUR' },
          },
        ],
      },
    ],
  },
  byPipeline: [
    {
      id: 'eu',
      name: 'EU mid-market',
      leads: 120,
      stalled: 14,
      newLeads: 59,
      won: 3,
      winRate: { part: 45, whole: 190 },
      openValue: [{ amount: 1_305_000, currency: 'EUR' }],
    },
    {
      id: 'us',
      name: 'US growth',
      leads: 0,
      stalled: 0,
      newLeads: 0,
      won: 0,
      winRate: { part: 0, whole: 0 },
      openValue: [{ amount: 7, currency: 'USD' }],
    },
  ],
  bySource: [
    {
      source: null,
      newLeads: 5,
      won: 0,
      winRate: { part: 1, whole: 4 },
    },
  ],
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

async function sheetOf(wanted: string, options?: Parameters<typeof attached>[1]) {
  const { content } = await attached(wanted, options)
  return readSheet(Buffer.from(content))
}

const textOf = (file: MessageFile) => Buffer.from(file.content).toString()

describe('an attached list', () => {
  test('is named after report, list and day', async () => {
    expect(await attached('top_leads.csv')).toMatchObject({
      name: 'daily-top-leads-2026-11-20.csv',
      contentType: 'text/csv; charset=utf-8',
      cid: null,
    })
    const week = { ...FIGURES.period, from: '2026-11-13T23:00:00.000Z' }
    const weekly = await attached('stalled.xlsx', { figures: { ...FIGURES, period: week } })
    expect(weekly.name).toBe('daily-stalled-2026-11-14--2026-11-20.xlsx')
  })

  test('has real numbers, and dates by the reader’s clock, in Excel', async () => {
    const [headings = [], row = []] = await sheetOf('stalled.xlsx')
    const cells = Object.fromEntries(headings.map((heading, index) => [String(heading), row[index]]))
    expect(cells).toEqual({
      Company: 'Acme, "the" one',
      Pipeline: 'EU mid-market',
      Stage: 'Meeting booked',
      'Days idle': 142,
      Score: 91,
      Value: 12_500.5,
      Currency: 'EUR',
      Owner: 'Ana Ferreira',
      'Expected close': '2026-11-21',
      Contact: 'Zoë Müller',
      Title: null,
      Country: 'Germany',
      Website: 'acme.example',
      About: 'Anvils and more',
      Source: 'web',
      ID: 'lead/1',
      'Created (Europe/Berlin)': new Date('2026-11-21T00:00:00Z'),
      'Last change (Europe/Berlin)': new Date('2026-07-01T12:00:00Z'),
    })
  })

  test('is a CSV that Excel takes for UTF-8, with times that it takes for times', async () => {
    const [headings, row] = textOf(await attached('changes.csv')).split('\n')
    expect(headings).toBe(
      '\ufeffChange,Company,Pipeline,From stage,To stage,At (Europe/Berlin),Value,Currency,ID',
    )
    expect(row).toBe('Won,Acme,EU mid-market,,Won,2026-11-20 10:00:00,12500.5,EUR,lead/1')
  })

  test('is a CSV that a German Excel splits into its columns', async () => {
    const [headings, row] = textOf(await attached('changes.csv', { locale: 'de-DE' })).split('\n')
    expect(headings).toMatch(/^\ufeffÄnderung;Unternehmen;Pipeline;/)
    expect(row).toMatch(/^Gewonnen;Acme;EU mid-market;;Gewonnen;[^;,]+;12500,5;EUR;lead\/1$/)
  })

  test('speaks the language of its reader', async () => {
    const [headings = [], row = []] = await sheetOf('changes.xlsx', { locale: 'de-DE' })
    expect(headings.slice(0, 3)).toEqual(['Änderung', 'Unternehmen', 'Pipeline'])
    expect(row.slice(0, 5)).toEqual(['Gewonnen', 'Acme', 'EU mid-market', null, 'Gewonnen'])
  })

  test('links to leads where the settings say how', async () => {
    const [headings, row] = await sheetOf('top_leads.xlsx', { leadUrl: 'https://crm.example/{id}/edit' })
    expect(headings?.at(-1)).toBe('Link')
    expect(row?.at(-1)).toBe('https://crm.example/lead%2F1/edit')
  })

  test('says in its last row what it leaves out', async () => {
    const figures = { ...FIGURES, stalled: { ...FIGURES.stalled, total: 1_234 } }
    const rows = await sheetOf('stalled.xlsx', { figures })
    expect(rows).toHaveLength(3)
    expect(rows[2]?.[0]).toBe('and 1,233 more')
  })

  test('has its headings also where it is empty', async () => {
    const figures = { ...FIGURES, topLeads: { minScore: 80, total: 0, rows: [] } }
    expect(textOf(await attached('top_leads.csv', { figures }))).toMatch(/^\ufeffCompany,[^\n]+\n$/)
  })

  test('makes no formula of what leads and queries hold', async () => {
    const figures = {
      ...FIGURES,
      stalled: { ...FIGURES.stalled, rows: [{ ...ACME, companyName: '\u202e=cmd|calc' }] },
    }
    expect((await sheetOf('stalled.xlsx', { figures }))[1]?.[0]).toBe("'=cmd|calc")
    expect(textOf(await attached('stalled.csv', { figures })).split('\n')[1]).toMatch(/^'=cmd\|calc,/)
    expect((await sheetOf('by-industry.xlsx'))[1]?.[0]).toBe("'=SUM(A1)")
  })
})

test('pipelines are compared side by side, a column for each currency', async () => {
  expect(
    textOf(await attached('pipelines.csv'))
      .slice(1)
      .split('\n'),
  ).toEqual([
    'Pipeline,Leads,New,Won,"Win rate, 30 days (%)","Won or lost, 30 days","Open pipeline, EUR","Open pipeline, USD",Stalled for 14 days or more,ID',
    'EU mid-market,120,59,3,23.7,190,1305000,,14,eu',
    'US growth,0,0,0,,0,,7,0,us',
    '',
  ])
})

test('leads without a source stand under one that says so', async () => {
  expect((await sheetOf('sources.xlsx'))[1]).toEqual(['Not told', 5, 0, 25, 4])
})

test('a query keeps its own headings, tells instants from texts, and says that it was cut', async () => {
  expect(await sheetOf('by-industry.xlsx')).toEqual([
    ['industry', 'leads', 'first_at (Europe/Berlin)'],
    ["'=SUM(A1)", 7, new Date('2026-11-20T09:00:00Z')],
    [null, -1, null],
    ['The first 2 rows', null, null],
  ])
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

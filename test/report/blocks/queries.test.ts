import { expect, it } from 'vitest'
import type { QueryTable } from '../../../src/domain/lists.ts'
import { composeQueries, listQuery } from '../../../src/report/blocks/queries/view.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import { folderWith } from '../../support/folder.ts'
import { TEMPLATES_FOLDER } from '../../support/report.ts'

const NOW = '2026-11-21T06:00:00.000Z'

const table = (change: Partial<QueryTable> = {}): QueryTable => ({
  name: 'by-industry',
  title: 'New leads by industry',
  note: null,
  sql: '',
  columns: ['company_industry', 'leads', 'mean_score', 'last_seen'],
  rows: [
    ['Software', 1234, 71.5, '2026-11-20T13:10:00.000Z'],
    [null, 7, 64, null],
  ],
  isCut: false,
  ...change,
})

async function compose(change: Partial<QueryTable> = {}, tag = 'en-GB', file?: string) {
  const locale = createLocaleContext(tag, 'Europe/Berlin', NOW)
  const attached = new Map(file === undefined ? [] : [['by-industry', file]])
  const [view] = composeQueries({ queries: [table(change)], failed: [] }, locale, { attached })
  if (view?.kind !== 'queries') throw new Error('no view')
  const page = {
    lang: 'en',
    dir: 'ltr',
    preheader: '',
    subjectLine: 'Mine, today',
    title: 'Mine',
    footer: { lines: [], unsubscribe: null },
    summary: '',
    period: { long: '', short: '' },
    blocks: [view],
  }
  const own = folderWith({ 'mine/report.yaml': '' })
  const templates = await openTemplates(TEMPLATES_FOLDER, { own })
  const { html, text } = templates.render('mine', page)
  return { view, html, text }
}

it('shows numbers, rates and instants as the reader writes them, and nothing as a dash', async () => {
  expect((await compose()).view.lines).toEqual([
    'Company industry  Leads  Mean score  Last seen        ',
    'Software          1,234        71.5  Fri 20 Nov, 14:10',
    '–                     7        64.0  –                ',
  ])
  expect((await compose({}, 'de-DE')).view.rows[0]?.cells.map(({ text }) => text)).toEqual([
    '1.234',
    '71,5',
    'Fr., 20. Nov., 14:10',
  ])
})

it('shows a text with the form of an instant as text if there is no such time', async () => {
  const texts = ['9999-99-99T99:99:99Z', '2026-02-30T10:00:00Z', '2026-11-20T24:00:00.000Z']
  const change = { columns: ['company', 'day'], rows: texts.map((text) => [text, text]) }
  const { view } = await compose(change)
  expect(view.rows.map(({ first, cells }) => [first, cells[0]?.text])).toEqual(
    texts.map((text) => [text, text]),
  )
  const file = listQuery(table(change), createLocaleContext('en-GB', 'Europe/Berlin', NOW))
  expect(file.columns.map(({ isInstant }) => isInstant)).toEqual([false, false])
})

it('aligns columns of numbers to the right, but the first, which names the row', async () => {
  const rows = [
    [2026, 1],
    [2025, null],
  ]
  const { columns } = (await compose({ columns: ['year', 'won'], rows })).view
  expect(columns.map(({ isNumber }) => isNumber)).toEqual([false, true])
})

it('has at most four columns side by side; the others stand below the first', async () => {
  const columns = ['company', 'a', 'b', 'c', 'd', 'e']
  const { view } = await compose({ columns, rows: [['Acme', 1, 2, 3, 4, null]] })
  expect(view.columns.map(({ label }) => label)).toEqual(['Company', 'A', 'B', 'C'])
  expect(view.rows).toMatchObject([{ first: 'Acme', rest: 'D 4 · E –' }])
})

it('is told in lines where it is too wide for text', async () => {
  const columns = ['company', 'summary', 'next_step']
  const { view } = await compose({ columns, rows: [['Acme', 'x'.repeat(50), 'y'.repeat(20)]] })
  expect(view.lines).toEqual(['- Acme', `  Summary ${'x'.repeat(50)} · Next step ${'y'.repeat(20)}`])
})

it('says that there are no rows, and keeps quiet about columns', async () => {
  const { view, html, text } = await compose({ rows: [], note: 'Nothing yet' })
  expect(view).toMatchObject({ empty: 'No rows.', lines: [], more: '' })
  expect(text).toContain('NEW LEADS BY INDUSTRY\nNothing yet\nNo rows.')
  expect(html).not.toContain('Company industry')
})

it('shows 15 rows and says where it is cut', async () => {
  const rows = Array.from({ length: 16 }, (_, index) => [`Industry ${index + 1}`, index])
  const whole = await compose({ columns: ['industry', 'leads'], rows: rows.slice(1) })
  expect(whole.view).toMatchObject({ more: '' })
  const { view, html, text } = await compose({ columns: ['industry', 'leads'], rows })
  expect(view.rows).toHaveLength(15)
  for (const part of [html, text]) {
    expect(part).toContain('Industry 15')
    expect(part).not.toContain('Industry 16')
    expect(part).toContain('The first 15 rows')
  }
})

it('names the attached file that has the rows which are cut', async () => {
  const rows = Array.from({ length: 57 }, (_, index) => [`Industry ${index}`])
  const cut = { columns: ['industry'], rows }
  expect((await compose(cut, 'en-GB', 'all.xlsx')).view.more).toBe('and 42 more in all.xlsx')
  expect((await compose({ ...cut, isCut: true }, 'en-GB', 'all.xlsx')).view.more).toBe(
    'The first 15 rows · and 42 more in all.xlsx',
  )
  expect((await compose({}, 'en-GB', 'all.xlsx')).view.more).toBe('')
})

it('lets no text out of its cell', async () => {
  const { html, text } = await compose({
    columns: ['<b>', 'x'],
    rows: [['<script>alert(1)</script>\r\nBcc: x', '\u202eabc']],
  })
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; Bcc: x')
  expect(html).not.toMatch(/<script|\u202e/)
  expect(text).not.toMatch(/\r|^Bcc|\u202e/m)
})

import { expect, it } from 'vitest'
import type { QueryTable } from '../../../src/domain/lists.ts'
import { composeQueries, listQuery } from '../../../src/report/blocks/queries/view.ts'
import { openTemplates } from '../../../src/report/render/templates.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import { folderWith } from '../../support/folder.ts'
import { BARE_PAGE, TEMPLATES_FOLDER, wordsOf } from '../../support/report.ts'

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
  const own = folderWith({ 'mine/report.yaml': '' })
  const templates = await openTemplates(TEMPLATES_FOLDER, { own })
  const { html, text } = templates.render('mine', { ...BARE_PAGE, blocks: [view] })
  return { view, html, text }
}

it('shows rows as the reader writes them, in lines where they are too wide, and says what is left out', async () => {
  const six = { columns: ['company', 'a', 'b', 'c', 'd', 'e'], rows: [['Acme', 1, 2, 3, 4, null]] }
  const wide = {
    columns: ['company', 'summary', 'next_step'],
    rows: [['Acme', 'x'.repeat(50), 'y'.repeat(20)]],
  }
  const industries = { columns: ['industry'], rows: Array.from({ length: 57 }, (_, n) => [`Industry ${n}`]) }
  const years = {
    columns: ['year', 'won'],
    rows: [
      [2026, 1],
      [2025, null],
    ],
  }
  const cases: readonly (readonly [string, Parameters<typeof compose>])[] = [
    ['a table', []],
    ['in German', [{}, 'de-DE']],
    ['numbers that name a row', [years]],
    ['more than four columns', [six]],
    ['too wide for text', [wide]],
    ['no rows', [{ rows: [], note: 'Nothing yet' }]],
    ['15 rows', [{ ...industries, rows: industries.rows.slice(42) }]],
    ['more rows', [industries]],
    ['more rows in a file', [industries, 'en-GB', 'all.xlsx']],
    ['more rows in a file that is cut too', [{ ...industries, isCut: true }, 'en-GB', 'all.xlsx']],
  ]
  const told: string[] = []
  for (const [name, given] of cases) {
    const { view, text, html } = await compose(...given)
    expect(wordsOf(html).includes('Industry 15')).toBe(false)
    told.push(`== ${name}`, text.replaceAll('\u00a0', ' '), JSON.stringify(view.columns), wordsOf(html), '')
  }
  await expect(told.join('\n')).toMatchFileSnapshot('golden/queries.txt')
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

it('lets no text out of its cell', async () => {
  const { html, text } = await compose({
    columns: ['<b>', 'x'],
    rows: [['<script>alert(1)</script>\r\nBcc: x', '\u202eabc']],
  })
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; Bcc: x')
  expect(html).not.toMatch(/<script|\u202e/)
  expect(text).not.toMatch(/\r|^Bcc|\u202e/m)
})

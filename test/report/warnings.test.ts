import { describe, expect, it } from 'vitest'
import { BLOCKS, type BlockName } from '../../src/domain/choices.ts'
import type { ReportFigures } from '../../src/domain/figures.ts'
import { checkRendered } from '../../src/report/render/templates.ts'
import { compose, type Making, renderReport, wordsOf } from '../support/report.ts'
import { busyDay, dayWithProblems, QUIET_GENERATED_AT, quietDay } from '../support/reports/figures.ts'

/** Returns what the freshness block says after its first line, which every report has. */
function linesOf(figures: ReportFigures, making?: Making): readonly string[] {
  const freshness = compose(figures, making).blocks.find((each) => each.kind === 'freshness')
  return freshness?.kind === 'freshness' ? freshness.lines.slice(1) : []
}
const failing = (...failed: ReportFigures['failed']): ReportFigures => ({ ...busyDay(), failed })
const without = (...names: BlockName[]): Making => ({
  context: { blocks: BLOCKS.filter((name) => !names.includes(name)) },
})

describe('a part that could not be made', () => {
  const STALLED = { block: 'stalled', query: null, message: 'no such column: x' } as const

  it('stands in its place as a box with the reason, and the others stay as they are', () => {
    const { blocks } = compose(dayWithProblems())
    expect(blocks.filter(({ kind }) => kind === 'failed')).toMatchObject([
      { title: 'Stalled leads', reason: 'Reason: no such column: idle_days' },
      { title: 'Agents', note: expect.stringMatching(/^This part could not be made/) },
      { title: 'New leads by industry', reason: expect.stringContaining('took longer than 30 s') },
    ])
    expect(blocks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['kpis', 'trend', 'funnel']))
    expect(wordsOf(renderReport(dayWithProblems()).html)).toContain(
      '3 parts of this report could not be made: Stalled leads, Agents and New leads by industry.',
    )
  })

  it('is claimed by nothing else: not by the subject, nor by a calm headline', () => {
    const today = { total: 0, value: [], byOwner: [], rows: [] }
    const insight = { expectations: [], lastUnusual: {}, drivers: [], winRates: [], pace: [], notes: [] }
    const quiet = { ...quietDay(), insight: { ...insight, today, oldLeads: null } }
    const kindsOf = (failed: ReportFigures['failed']) =>
      compose({ ...quiet, failed }, { now: QUIET_GENERATED_AT }).blocks.map(({ kind }) => kind)
    expect(kindsOf([])).toContain('today')
    expect(kindsOf([STALLED])).not.toContain('today')
    expect(kindsOf([STALLED])).toContain('failed')
    const { stalled, agents, ...busy } = busyDay()
    const unread = { ...busy, stalled: { ...stalled, total: 0, rows: [] }, failed: [STALLED] }
    expect(compose({ ...unread, agents }).summary).not.toMatch(/stalled|14/)
  })

  it('is named to those who would miss it, and to no others', () => {
    const figures = failing({ block: 'sources', query: null, message: 'x' }, STALLED)
    const only = (...blocks: BlockName[]): Making => ({ context: { blocks } })
    expect(linesOf(figures, only('freshness', 'today'))).toEqual([
      'A part of this report could not be made: Stalled leads.',
    ])
    expect(linesOf(figures, only('freshness', 'trend'))).toEqual([])
  })

  it('is told of one whose words fail too, while a headline that fails ends the report', () => {
    const damaged = { ...busyDay(), bySource: JSON.parse('[null]') }
    const { blocks } = compose(damaged)
    expect(blocks).toContainEqual(expect.objectContaining({ kind: 'failed', title: 'Sources' }))
    expect(() => compose({ ...busyDay(), newLeads: JSON.parse('null') })).toThrow()
  })

  it('leaves out the file that it would have filled, and says so', () => {
    expect(linesOf(busyDay(), { context: { notMade: ['stalled.xlsx', 'by-industry.csv'] } })).toEqual([
      'Not attached, because it could not be made: stalled.xlsx and by-industry.csv.',
    ])
  })
})

describe('what the templates have made', () => {
  const view = compose(busyDay())
  const rendered = renderReport(busyDay())

  it('may be sent where it shows the headline', () => {
    expect(() => checkRendered(rendered, view, 'daily')).not.toThrow()
  })

  it('is refused without it, though the preheader has it, and without a text', () => {
    const headless = { ...rendered, html: rendered.html.replace(/<h1.*?<\/h1>/s, '') }
    expect(() => checkRendered(headless, view, 'daily')).toThrow(
      expect.objectContaining({
        code: 'report_failed',
        message: 'The report daily is not sent: its page lacks the headline',
      }),
    )
    expect(() => checkRendered({ ...rendered, text: '\n' }, view, 'daily')).toThrow('its text part is empty')
  })

  it('may be without it where nobody wants it', () => {
    const { blocks } = compose(busyDay(), without('headline'))
    expect(() =>
      checkRendered({ ...rendered, html: '<body></body>' }, { ...view, blocks }, 'daily'),
    ).not.toThrow()
  })
})

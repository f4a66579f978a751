import { describe, expect, it } from 'vitest'
import { BLOCKS, type BlockName } from '../../src/domain/choices.ts'
import type { ReportFigures } from '../../src/domain/figures.ts'
import { checkRendered } from '../../src/report/render/templates.ts'
import { compose, type Making, renderReport } from '../support/report.ts'
import { busyDay } from '../support/reports/figures.ts'

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

  it('is claimed by nothing else', () => {
    const { stalled, ...busy } = busyDay()
    const unread = { ...busy, stalled: { ...stalled, total: 0, rows: [] }, failed: [STALLED] }
    expect(compose(unread).summary).not.toMatch(/stalled|14/)
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
})

describe('what the templates have made', () => {
  const view = compose(busyDay())
  const rendered = renderReport(busyDay())

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

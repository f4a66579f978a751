import { describe, expect, it } from 'vitest'
import { BLOCKS, type BlockName } from '../../src/domain/choices.ts'
import type { ReportFigures, ReportWarning } from '../../src/domain/figures.ts'
import { checkRendered } from '../../src/report/render/templates.ts'
import { compose, type Making, renderReport, wordsOf } from '../support/report.ts'
import { busyDay, dayWithProblems, QUIET_GENERATED_AT, quietDay } from '../support/reports/figures.ts'

/** Returns what the freshness block says after its first line, which every report has. */
function linesOf(figures: ReportFigures, making?: Making): readonly string[] {
  const freshness = compose(figures, making).blocks.find((each) => each.kind === 'freshness')
  return freshness?.kind === 'freshness' ? freshness.lines.slice(1) : []
}
const warned = (...warnings: ReportWarning[]): ReportFigures => ({ ...busyDay(), warnings })
const failing = (...failed: ReportFigures['failed']): ReportFigures => ({ ...busyDay(), failed })
const without = (...names: BlockName[]): Making => ({
  context: { blocks: BLOCKS.filter((name) => !names.includes(name)) },
})

describe('what the freshness block says', () => {
  it('is one line where there is nothing to warn of', () => {
    expect(linesOf(busyDay())).toEqual([])
  })

  it('names the statistics and the agents that are older than the leads, to those who are shown them', () => {
    const busy = busyDay()
    const at = '2026-11-20T13:10:00.000Z'
    const old = { ...busy, freshness: { ...busy.freshness, statsAsOf: at, agentsAsOf: at } }
    const stats = 'The service’s own statistics are from Fri 20 Nov, 14:10, before this report ends.'
    const agents = 'The agents are shown as they were at Fri 20 Nov, 14:10, before this report ends.'
    expect(linesOf(old)).toEqual([stats, agents])
    expect(linesOf(old, without('funnel', 'service_stats'))).toEqual([agents])
  })

  it('includes why a report is late', () => {
    const from = '2026-11-21T05:55:00.000Z'
    const late = (why: 'down' | 'blocked' | 'clock' | 'waited', to = '2026-11-21T08:10:00.000Z') =>
      linesOf(warned({ kind: 'late', from, to, why }))
    expect(late('down')).toEqual(['Sent late: leadsheet was not running from 06:55 to 09:10.'])
    expect(late('down', '2026-11-23T08:10:00.000Z')[0]).toContain('from 06:55 to Mon 23 Nov, 09:10.')
    expect(late('blocked')[0]).toContain('was busy with something else from 06:55')
    expect(late('clock')[0]).toContain('clock of the computer was changed, from 06:55 to 09:10')
    expect(late('waited')[0]).toContain('it had to wait from 06:55 to 09:10')
  })

  it('names the periods for which there was no report', () => {
    const day = (date: number) => ({
      from: `2026-11-${date - 1}T23:00:00.000Z`,
      to: `2026-11-${date}T23:00:00.000Z`,
      timeZone: 'Europe/Vienna',
    })
    const figures = warned({ kind: 'missed', periods: [day(17), day(18)] })
    expect(linesOf(figures)).toEqual(['No report was made for Tue 17 Nov and Wed 18 Nov.'])
    expect(linesOf(figures, { locale: 'de-DE' })).toEqual([
      'Für Di., 17. Nov. und Mi., 18. Nov. gibt es keinen Bericht.',
    ])
  })

  it('says of a message that it takes the place of another, and why', () => {
    const resend = { at: '2026-11-21T08:30:00.000Z', first: '2026-11-21T06:00:00.000Z' }
    const lines = (reason: string | null) =>
      linesOf(busyDay(), { context: { resend: { ...resend, reason } } })
    expect(lines(null)).toEqual(['Sent again at 09:30, in place of the mail of 07:00.'])
    expect(lines('the filter was\nwrong')).toEqual([
      'Sent again at 09:30, in place of the mail of 07:00: the filter was wrong',
    ])
  })
})

describe('leads that are missing', () => {
  it('are the headline, and stand in the subject', () => {
    const figures = warned({ kind: 'unusual', what: 'scope', was: 3010, is: 0 })
    const textIn = (locale: string) => {
      const headline = compose(figures, { locale }).blocks.find((each) => each.kind === 'headline')
      return headline?.kind === 'headline' ? headline.text : ''
    }
    expect(renderReport(figures).subject).toMatch(/3,010/)
    expect(textIn('en-GB')).toMatch(/^This report covers no leads; the last one covered 3,010\./)
    expect(textIn('de-DE')).toMatch(/^Dieser Bericht umfasst keine Leads, der letzte umfasste 3\.010\./)
  })
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
    const { html, text } = renderReport(dayWithProblems())
    for (const part of [wordsOf(html), text.replace(/\s+/g, ' ')]) {
      expect(part).toContain(
        '3 parts of this report could not be made: Stalled leads, Agents and New leads by industry.',
      )
      expect(part).toContain('Reason: malformed JSON')
    }
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

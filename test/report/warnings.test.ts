import { describe, expect, it } from 'vitest'
import { BLOCKS, type BlockName } from '../../src/domain/choices.ts'
import type { ReportFigures, ReportWarning } from '../../src/domain/figures.ts'
import { checkRendered, openTemplates } from '../../src/report/render/templates.ts'
import { folderWith } from '../support/folder.ts'
import { compose, type Making, renderReport, TEMPLATES_FOLDER, wordsOf } from '../support/report.ts'
import {
  busyDay,
  dayWithProblems,
  QUIET_GENERATED_AT,
  quietDay,
  staleDay,
} from '../support/reports/figures.ts'

const linesOf = (figures: ReportFigures, making?: Making) => compose(figures, making).banner?.lines ?? []
const warned = (...warnings: ReportWarning[]): ReportFigures => ({ ...busyDay(), warnings })
const failing = (...failed: ReportFigures['failed']): ReportFigures => ({ ...busyDay(), failed })
const without = (...names: BlockName[]): Making => ({
  context: { blocks: BLOCKS.filter((name) => !names.includes(name)) },
})

describe('the banner', () => {
  it('is not there where there is nothing to say', () => {
    expect(compose(busyDay())).toMatchObject({ banner: null, mark: '' })
    expect(renderReport(busyDay()).html).not.toContain('Please note')
  })

  it('stands before the headline in page and text, and begins the preheader, whatever blocks there are', () => {
    const { html, text } = renderReport(staleDay(), without('freshness', 'attention'))
    expect(wordsOf(html)).toMatch(
      /^Please note The data ends Fri 20 Nov, 14:10, 15 hours before this report;/,
    )
    expect(text).toMatch(/^PLEASE NOTE\n- The data ends Fri 20 Nov, 14:10/)
    expect(html).toMatch(/<div[^>]*aria-hidden="true"[^>]*>The data ends Fri 20 Nov, 14:10/)
  })

  it('stands in a report with templates of its own too, and its mark before their subject', async () => {
    const own = folderWith({
      'mine/subject.hbs': 'Mine',
      'mine/html.hbs': '<tr><td><h1>{{summary}}</h1></td></tr>',
      'mine/text.hbs': 'Mine: {{summary}}',
    })
    const templates = await openTemplates(TEMPLATES_FOLDER, { own })
    const { subject, html, text } = templates.render('mine', compose(staleDay()))
    expect(subject).toBe('[Stale data] Mine')
    expect(wordsOf(html)).toMatch(/^Please note The data ends .* incomplete data, 31 new/)
    expect(text).toMatch(/^PLEASE NOTE\n- The data ends .*\n\nMine: incomplete data/s)
  })

  it('names the statistics and the agents that are older than the leads, to those who are shown them', () => {
    const busy = busyDay()
    const at = '2026-11-20T13:10:00.000Z'
    const old = { ...busy, freshness: { ...busy.freshness, statsAsOf: at, agentsAsOf: at } }
    expect(linesOf(old)).toEqual([
      'The service’s own statistics are from Fri 20 Nov, 14:10, before this report ends. The agents are shown as they were at Fri 20 Nov, 14:10, before this report ends.',
    ])
    expect(linesOf(old, without('agents', 'attention'))).toEqual([
      'The service’s own statistics are from Fri 20 Nov, 14:10, before this report ends.',
    ])
    expect(linesOf(old, without('agents', 'attention', 'funnel', 'service_stats'))).toEqual([])
    expect(compose(old).mark).toBe('')
  })

  it('says why a report is late, and is no warning then', () => {
    const from = '2026-11-21T05:55:00.000Z'
    const late = (why: 'down' | 'blocked' | 'clock' | 'waited', to = '2026-11-21T08:10:00.000Z') =>
      compose(warned({ kind: 'late', from, to, why })).banner
    expect(late('down')).toEqual({
      isWarning: false,
      title: 'Please note',
      lines: ['Sent late: leadsheet was not running from 06:55 to 09:10.'],
    })
    expect(late('down', '2026-11-23T08:10:00.000Z')?.lines[0]).toContain('from 06:55 to Mon 23 Nov, 09:10.')
    expect(late('blocked')?.lines[0]).toContain('was busy with something else from 06:55')
    expect(late('clock')?.lines[0]).toContain('clock of the computer was changed, from 06:55 to 09:10')
    expect(late('waited')?.lines[0]).toContain('it had to wait from 06:55 to 09:10')
  })

  it('names the periods for which there was no report, and is no warning then', () => {
    const day = (date: number) => ({
      from: `2026-11-${date - 1}T23:00:00.000Z`,
      to: `2026-11-${date}T23:00:00.000Z`,
      timeZone: 'Europe/Vienna',
    })
    const figures = warned({ kind: 'missed', periods: [day(17), day(18)] })
    expect(compose(figures).banner).toMatchObject({
      isWarning: false,
      lines: ['No report was made for Tue 17 Nov and Wed 18 Nov.'],
    })
    expect(linesOf(figures, { locale: 'de-DE' })).toEqual([
      'Für Di., 17. Nov. und Mi., 18. Nov. gibt es keinen Bericht.',
    ])
  })

  it('tells of leads that are missing, in the subject too', () => {
    const figures = warned({ kind: 'unusual', what: 'scope', was: 3010, is: 0 })
    expect(renderReport(figures).subject).toMatch(/^\[Unusual data\] Daily leads: 59 new/)
    expect(linesOf(figures)[0]).toMatch(/^This report covers no leads; the last one covered 3,010\./)
    expect(linesOf(figures, { locale: 'de-DE' })[0]).toMatch(
      /^Dieser Bericht umfasst keine Leads, der letzte umfasste 3\.010\./,
    )
    expect(compose(figures, { locale: 'de-DE' }).mark).toBe('[Auffällige Daten]')
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

describe('a part that could not be made', () => {
  const STALLED = { block: 'stalled', query: null, message: 'no such column: x' } as const

  it('stands in its place as a box with the reason, and the others stay as they are', () => {
    const { blocks } = compose(dayWithProblems())
    expect(blocks.filter(({ kind }) => kind === 'failed')).toMatchObject([
      { title: '', reason: 'Reason: database disk image is malformed' },
      { title: 'Stalled leads', reason: 'Reason: no such column: idle_days' },
      { title: 'Agents', note: expect.stringMatching(/^This part could not be made/) },
      { title: 'New leads by industry', reason: expect.stringContaining('took longer than 30 s') },
    ])
    expect(blocks.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['kpis', 'trend', 'funnel']))
    const { html, text } = renderReport(dayWithProblems())
    for (const part of [wordsOf(html), text.replace(/\s+/g, ' ')]) {
      expect(part).toContain(
        '4 parts of this report could not be made: Lines below the numbers, Stalled leads,',
      )
      expect(part).toContain('Reason: malformed JSON')
    }
  })

  it('is claimed by nothing else: not by the subject, nor by a calm headline', () => {
    const quiet = { ...quietDay(), failed: [STALLED] }
    expect(compose(quietDay(), { now: QUIET_GENERATED_AT }).blocks[0]).toMatchObject({
      detail: expect.stringContaining('Nothing needs attention.'),
    })
    const view = compose(quiet, { now: QUIET_GENERATED_AT })
    expect(view.blocks[0]).toMatchObject({ detail: expect.not.stringContaining('Nothing needs attention.') })
    expect(view.blocks.map(({ kind }) => kind)).toContain('failed')
    const { stalled, agents, ...busy } = busyDay()
    const unread = { ...busy, stalled: { ...stalled, total: 0, rows: [] }, failed: [STALLED] }
    expect(compose({ ...unread, agents }).summary).toBe('59 new, 3 won, 1 agent failing')
  })

  it('is named to those who would miss it, and to no others', () => {
    const figures = failing(
      { block: 'sources', query: null, message: 'x' },
      { block: 'agents', query: null, message: 'x' },
    )
    const only = (...blocks: BlockName[]): Making => ({ context: { blocks } })
    expect(linesOf(figures, only('headline', 'kpis'))).toEqual([
      'A part of this report could not be made: Agents.',
    ])
    expect(linesOf(figures, only('kpis', 'trend'))).toEqual([])
  })

  it('is told of one whose words fail too, while a headline that fails ends the report', () => {
    const damaged = { ...busyDay(), bySource: JSON.parse('[null]') }
    const { blocks, banner } = compose(damaged)
    expect(blocks).toContainEqual(expect.objectContaining({ kind: 'failed', title: 'Sources' }))
    expect(banner?.lines).toEqual(['A part of this report could not be made: Sources.'])
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

import { describe, expect, it } from 'vitest'
import type { DailyFigures } from '../../src/model.ts'
import { composeDaily } from '../../src/report/daily.ts'
import {
  busyDay,
  CONTEXT,
  emptyDay,
  firstDay,
  QUIET_CONTEXT,
  quietDay,
  staleDay,
} from '../support/figures.ts'
import { DAYS, renderDaily, wordsOf } from '../support/report.ts'

const compose = (figures: DailyFigures, context = CONTEXT) => composeDaily(figures, context)
const headline = (figures: DailyFigures) => compose(figures).headline
/** Every run of digits with what belongs to it: `3,912`, `23.7`, `06:00`. */
const numbersIn = (text: string) => new Set(text.match(/\d(?:[\d,.:]*\d)?/g))

describe('the numbers of a report', () => {
  it.each(DAYS)('are the same in HTML and text on a $name day', ({ figures, context }) => {
    const { html, text } = renderDaily(figures, context)
    expect(numbersIn(wordsOf(html))).toEqual(numbersIn(text.replace(/\s+/g, ' ')))
  })

  it.each(DAYS)('of the subject stand in the mail on a $name day', ({ figures, context }) => {
    const { subject, html } = renderDaily(figures, context)
    expect([...numbersIn(wordsOf(html))]).toEqual(expect.arrayContaining([...numbersIn(subject)]))
  })

  it('are those of the figures', () => {
    const { subject, text } = renderDaily(busyDay())
    expect(subject).toBe('Daily leads: 59 new (+18%), 3 won, 1 agent failing · Fri 20 Nov')
    expect(text).toContain('59 new leads and 3 won: a better day than the Friday before (50 and 2).')
    for (const line of [
      'New leads              59  +9 (+18%) vs 50 on 13 Nov (3,912 in all)',
      'Won                     3  +1 vs 2 on 13 Nov (worth $84k + €12.5k)',
      'Win rate, 30 days   23.7%  −2.3 pt vs 26.0% on 13 Nov (45 of 190 closed)',
      'Open pipeline       $4.2M  +$230k (+6%) vs $4M on 13 Nov (+ €1.3M)',
      'Replied               488  34%',
      'and 9 more in the database',
      '11 of 12 healthy: 7 running, 4 idle',
    ]) {
      expect(text).toContain(line)
    }
  })
})

describe('the headline', () => {
  const day = (newLeads: [number, number], won: [number, number]): DailyFigures => ({
    ...busyDay(),
    newLeads: { current: newLeads[0], prior: newLeads[1] },
    won: { current: won[0], prior: won[1] },
  })

  it.each([
    [day([59, 50], [3, 3]), '59 new leads and 3 won: a better day than the Friday before (50 and 3).'],
    [day([40, 50], [2, 3]), '40 new leads and 2 won: a slower day than the Friday before (50 and 3).'],
    [
      day([59, 50], [2, 3]),
      '59 new leads and 2 won: more leads but fewer wins than the Friday before (50 and 3).',
    ],
    [
      day([40, 50], [4, 3]),
      '40 new leads and 4 won: fewer leads but more wins than the Friday before (50 and 3).',
    ],
    [day([51, 50], [3, 3]), '51 new leads and 3 won: much as on the Friday before (50 and 3).'],
    [day([1, 0], [0, 0]), '1 new lead and none won: a better day than the Friday before (0 and 0).'],
    [day([0, 4], [2, 2]), 'No new leads and 2 won: a slower day than the Friday before (4 and 2).'],
  ])('gives a verdict with its numbers', (figures, text) => {
    expect(headline(figures).text).toBe(text)
  })

  it('of a quiet day says so, and what the day before it had', () => {
    expect(compose(quietDay(), QUIET_CONTEXT).headline).toEqual({
      text: 'A quiet Sunday: no new leads and nothing won.',
      detail: 'The Sunday before brought 2 new leads and no wins. Nothing needs attention.',
      subject: 'quiet day, nothing new',
    })
  })

  it('of the first day compares with nothing', () => {
    const view = compose(firstDay())
    expect(view.headline.text).toBe('59 new leads and 3 won.')
    expect(view.headline.detail).toMatch(/^These are the first figures/)
    expect(view.kpis.map(({ change, basis }) => change + basis)).toEqual(['', '', '', ''])
    expect(view.scope).toBe('EU mid-market and US growth')
  })

  it('of a service without leads says that', () => {
    const figures = { ...emptyDay(), freshness: busyDay().freshness }
    expect(headline(figures).text).toBe('No leads yet: the service has listed none.')
  })
})

describe('data that does not cover the day', () => {
  it('makes every count a lower bound and compares nothing', () => {
    const view = compose(staleDay())
    expect(view.headline.text).toBe('Incomplete: at least 31 new leads and 1 won.')
    expect(view.headline.subject).toBe('incomplete data, 31 new and 1 won so far, 1 agent failing')
    expect(view.kpis.map(({ change }) => change)).toEqual(['', '', '', ''])
    expect(view.kpis.map(({ note }) => note).slice(0, 2)).toEqual(['so far', 'so far, worth $22k'])
  })

  it('is said in amber: until when, since when and why', () => {
    expect(compose(staleDay()).freshness).toEqual({
      isStale: true,
      text:
        'The data ends Fri 20 Nov, 14:10, 15 hours before this report; what came after is missing below. ' +
        'The sync at 06:00 did not finish: https://api.example.com answered 503 to five attempts at GET /leads.',
    })
  })

  it('from before the day has no counts at all', () => {
    const stale = staleDay()
    const view = compose({
      ...stale,
      freshness: { ...stale.freshness, dataAsOf: '2026-11-19T05:00:00.000Z' },
      newLeads: { current: 0, prior: 50 },
      won: { current: 0, prior: 2 },
      topLeads: { minScore: 80, total: 0, rows: [] },
    })
    expect(view.headline.text).toBe('No data for Friday: the last complete sync was Thu 19 Nov, 06:00.')
    expect(view.headline.subject).toBe('no data since Thu 19 Nov, 06:00, 1 agent failing')
    expect(view.kpis.map(({ value }) => value).slice(0, 2)).toEqual(['–', '–'])
    expect(view.topLeads.note).toBe('Nothing of this day has been read yet.')
  })

  it('and never did promises nothing', () => {
    const { subject, text } = renderDaily(emptyDay())
    expect(subject).toBe('Daily leads: no data yet · Fri 20 Nov')
    expect(text).not.toMatch(/Nothing needs attention|No new lead scored|No open lead/)
  })
})

describe('data that covers the day', () => {
  it('stays calm, and says how old it is', () => {
    expect(compose(busyDay()).freshness).toEqual({
      isStale: false,
      text: 'Data as of 06:00, 4 minutes before this report.',
    })
  })

  it('turns amber when a later sync failed, but compares as usual', () => {
    const busy = busyDay()
    const lastFailure = { at: '2026-11-21T05:02:00.000Z', message: 'the API key was refused' }
    const view = compose({ ...busy, freshness: { ...busy.freshness, lastFailure } })
    expect(view.freshness).toEqual({
      isStale: true,
      text: 'Data as of 06:00, which covers all of Friday. The sync at 06:02 did not finish: the API key was refused.',
    })
    expect(view.kpis[0]?.change).toBe('+9 (+18%)')
  })
})

describe('what needs attention', () => {
  it('names the failing agents, the stalled leads and what could not be read', () => {
    expect(compose(staleDay()).attention).toEqual([
      'Scout-2 has been failing since 02:14 (source answered 429 Too Many Requests).',
      '14 leads have had no activity for 14 days or more; the longest is Porto Foods, 33 days.',
      '3 records from the service could not be read and wait in held_row.',
    ])
  })

  it('is left out when nothing does', () => {
    expect(compose(quietDay(), QUIET_CONTEXT).attention).toEqual([])
    expect(renderDaily(quietDay(), QUIET_CONTEXT).html).not.toContain('Needs attention')
  })

  it('counts failing agents from the fourth on', () => {
    const busy = busyDay()
    const failing = busy.agents.rows.slice(-1)
    const rows = Array.from({ length: 6 }, () => failing).flat()
    const view = compose({ ...busy, agents: { ...busy.agents, rows } })
    expect(view.attention[3]).toBe('3 more agents are failing.')
    expect(view.headline.subject).toContain('6 agents failing')
  })
})

describe('numbers too small for percentages', () => {
  it('are given as counts', () => {
    const view = compose(quietDay(), QUIET_CONTEXT)
    expect(view.kpis[2]).toMatchObject({ value: '2 of 7', change: '', basis: 'vs 3 of 8 on 15 Nov' })
    expect(view.kpis[3]).toMatchObject({ value: '€640k', note: 'in EUR' })
    const few = [
      { status: 'discovered', reached: 8, conversion: null },
      { status: 'enriched', reached: 3, conversion: 3 / 8 },
      { status: 'won', reached: 0, conversion: 0 },
    ]
    const { stages } = compose({ ...busyDay(), funnel: { asOf: CONTEXT.generatedAt, stages: few } }).funnel
    expect(stages.map(({ conversion }) => conversion)).toEqual(['–', '3 of 8', '0 of 3'])
    expect(stages.map(({ bar, rest }) => [bar, rest])).toEqual([
      ['100', ''],
      ['38', '62'],
      ['', '100'],
    ])
  })
})

describe('agents', () => {
  const withStatuses = (...statuses: string[]): DailyFigures => {
    const busy = busyDay()
    const [agent] = busy.agents.rows
    if (!agent) throw new Error('the busy day has agents')
    return {
      ...busy,
      agents: { ...busy.agents, rows: statuses.map((status) => ({ ...agent, status, name: status })) },
    }
  }

  it('that are well are only counted', () => {
    const { note, agents } = compose(withStatuses('running', 'running', 'idle')).agents
    expect(note).toBe('All 3 healthy: 2 running, 1 idle · as of 06:00')
    expect(agents).toEqual([])
  })

  it('that are paused or in a state unknown here are shown, but not as failing', () => {
    const view = compose(withStatuses('running', 'paused', 'rate_limited', 'ERROR'))
    expect(view.agents.note).toMatch(/^1 of 4 healthy: 1 running/)
    expect(view.agents.agents.map(({ status, tone }) => [status, tone])).toEqual([
      ['ERROR', 'bad'],
      ['Paused', 'neutral'],
      ['Rate limited', 'neutral'],
    ])
    expect(view.headline.subject).toContain('1 agent failing')
  })
})

describe('the preheader', () => {
  it('adds to the subject what the subject does not have', () => {
    expect(compose(busyDay()).preheader).toBe(
      '59 new leads and 3 won: a better day than the Friday before (50 and 2). ' +
        'Win rate, 30 days 23.7%, −2.3 pt; Open pipeline $4.2M, +$230k (+6%).',
    )
  })
})

describe('the recipient', () => {
  it('is named at the end of a mail, and not in the archive', () => {
    expect(renderDaily(busyDay()).text).toContain('Sent to dana@example.com as a recipient of “Daily leads”.')
    expect(renderDaily(busyDay(), { ...CONTEXT, recipient: null }).text).not.toContain('Sent to')
  })
})

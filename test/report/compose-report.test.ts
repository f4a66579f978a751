import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../src/domain/figures.ts'
import type { Expectation, ExpectedFigure, JudgedWinRate, Pace } from '../../src/domain/insight.ts'
import type { PipelineLine } from '../../src/domain/lists.ts'
import type { composeReport } from '../../src/report/compose-report.ts'
import { compose, type Making, REPORTS, renderReport, wordsOf } from '../support/report.ts'
import {
  busyDay,
  busyWeek,
  emptyDay,
  firstDay,
  QUIET_GENERATED_AT,
  quietDay,
  staleDay,
} from '../support/reports/figures.ts'

type View = ReturnType<typeof composeReport>['blocks'][number]

/** Returns the block of a kind in a report of these figures. */
function block<Kind extends View['kind']>(kind: Kind, figures: ReportFigures, making?: Making) {
  const found = compose(figures, making).blocks.find(
    (each): each is Extract<View, { kind: Kind }> => each.kind === kind,
  )
  if (!found) throw new Error(`the report has no block ${kind}`)
  return found
}
const headline = (figures: ReportFigures, making?: Making) => block('headline', figures, making)
const expected = (
  figure: ExpectedFigure,
  actual: number,
  low: number,
  high: number,
  change: Partial<Expectation> = {},
): Expectation => ({
  figure,
  pipeline: null,
  actual,
  judgement: 'usual',
  range: { low, high },
  expected: (low + high) / 2,
  periods: { known: 26, needed: 8 },
  record: { hits: 187, of: 196 },
  inARow: 1,
  shift: null,
  ...change,
})
const NOTHING_TO_DO = {
  lastUnusual: {},
  drivers: [],
  winRates: [],
  pace: [],
  today: { total: 0, value: [], byOwner: [], rows: [] },
  oldLeads: null,
  notes: [],
}
const QUIET: Making = { now: QUIET_GENERATED_AT }
/** Returns every number with its separators, such as `3,912`, `23.7` and `06:00`. */
const numbersIn = (text: string) => new Set(text.match(/\d(?:[\d,.:]*\d)?/g))

describe('the numbers of a report', () => {
  it.each(REPORTS)('are the same in HTML and text on a $name day', ({ figures, making }) => {
    const { html, text } = renderReport(figures, making)
    const [alt = ''] = /alt="[^"]*"/.exec(html) ?? []
    expect(numbersIn(`${wordsOf(html)} ${alt}`)).toEqual(numbersIn(text.replace(/\s+/g, ' ')))
  })

  it.each(REPORTS)('of the subject stand in the mail on a $name day', ({ figures, making }) => {
    const { subject, html } = renderReport(figures, making)
    expect([...numbersIn(wordsOf(html))]).toEqual(expect.arrayContaining([...numbersIn(subject)]))
  })

  it('are those of the figures', () => {
    const { subject, text } = renderReport(busyDay())
    expect(subject).toBe('Daily leads: 59 new, 3 won, 14 stalled, 1 agent failing · Fri 20 Nov')
    expect(text).toContain('59 new leads and 3 won (the Friday before: 50 and 2).')
    for (const line of [
      'New leads    59  +9 (+18%)',
      'Won           3  +1',
      'Win rate  23.7%  −2.3 pt',
      'Open      $4.2m  +$230k (+6%)',
      'Replied               488     34%  4.0 d',
      'and 9 more\n',
      '11 of 12 healthy: 7 running, 4 idle',
    ]) {
      expect(text.replaceAll('\u00a0', ' ')).toContain(line)
    }
  })
})

describe('the headline', () => {
  const day = (newLeads: [number, number], won: [number, number]): ReportFigures => ({
    ...busyDay(),
    newLeads: { current: newLeads[0], prior: newLeads[1] },
    won: { current: won[0], prior: won[1] },
  })

  const judge = (figures: ReportFigures, ...changes: readonly Partial<Expectation>[]): ReportFigures => ({
    ...figures,
    insight: {
      ...NOTHING_TO_DO,
      expectations: [
        expected('new_leads', figures.newLeads.current, 31, 54, changes[0]),
        expected('won', figures.won.current, 1, 5, changes[1]),
        ...changes.slice(2).map((each) => expected('new_leads', 3, 9, 21, each)),
      ],
    },
  })
  const FEW: Partial<Expectation> = { judgement: 'low' }
  const MANY: Partial<Expectation> = { judgement: 'high' }
  const MARKET = { pipeline: { id: 'pl_1', name: 'EU mid-market' } }

  it.each([
    ['within the usual', day([59, 50], [3, 2]), '59 new leads and 3 won (the Friday before: 50 and 2).'],
    ['far apart', day([80, 50], [3, 3]), '80 new leads and 3 won (the Friday before: 50 and 3).'],
    ['few', day([1, 0], [0, 0]), '1 new lead and none won (the Friday before: 0 and 0).'],
  ])('makes no claim on counts %s that were not judged', (_, figures, text) => {
    expect(headline(figures)).toMatchObject({ text, detail: '' })
  })

  it('calls a day usual where all its numbers are', () => {
    expect(headline(judge(day([42, 50], [3, 2])))).toMatchObject({
      text: '42 new leads and 3 won: a usual Friday.',
      detail: '',
    })
    expect(headline(judge(day([42, 50], [3, 2]))).facts.join(', ')).toMatch(/^a usual Friday, 42 new, 3 won/)
    expect(headline(judge(day([42, 50], [3, 2])), { locale: 'de-DE' })).toMatchObject({
      text: '42 neue Leads und 3 gewonnen: ein gewöhnlicher Freitag.',
    })
  })

  it('does not call a number usual that its tile shows outside the usual range', () => {
    const few = judge(day([28, 50], [3, 2]))
    expect(headline(few)).toMatchObject({
      text: '28 new leads and 3 won: no clear change.',
      detail: 'Fewer new leads than the usual 31 to 54, which can be chance.',
    })
    expect(headline(few).facts.join(', ')).toMatch(/^no clear change, 28 new, 3 won/)
    expect(block('kpis', few).tiles[0]).toMatchObject({ value: '28', line: 'normal 31–54', tone: 'neutral' })
    expect(headline(few, { locale: 'de-DE' })).toMatchObject({
      text: '28 neue Leads und 3 gewonnen: keine deutliche Änderung.',
      detail: 'Weniger neue Leads als die üblichen 31 bis 54; das kann Zufall sein.',
    })
    expect(headline(judge(day([31, 50], [5, 2]))).text).toBe('31 new leads and 5 won: a usual Friday.')
    expect(headline(judge(day([60, 50], [6, 2]))).detail).toBe(
      'More new leads than the usual 31 to 54, which can be chance. More wins than the usual 1 to 5, which can be chance.',
    )
    expect(headline(judge(day([18, 50], [6, 2]), FEW))).toMatchObject({
      text: 'Fewer new leads than usual: 18, where a usual Friday brings 31 to 54.',
      detail: 'More wins than the usual 1 to 5, which can be chance.',
    })
    expect(headline(judge(day([28, 50], [3, 2]), {}, {}, { ...FEW, ...MARKET }))).toMatchObject({
      text: 'Fewer new leads than usual in EU mid-market: 3, where a usual Friday brings 9 to 21.',
      detail: '3 won, as usual. Fewer new leads than the usual 31 to 54, which can be chance.',
    })
  })

  it('calls a day usual although nothing has ever been won', () => {
    const never = { judgement: 'learning', range: null, periods: { known: 0, needed: 8 } } as const
    expect(headline(judge(day([42, 50], [0, 0]), {}, never)).text).toBe(
      '42 new leads and none won: a usual Friday.',
    )
    expect(headline(judge(day([42, 50], [1, 0]), {}, never))).toMatchObject({
      text: '42 new leads and 1 won (the Friday before: 50 and 0).',
      detail: '',
    })
  })

  describe('of a win rate', () => {
    const rated = (change: Partial<JudgedWinRate> = {}, counts = judge(day([42, 50], [3, 2]))) =>
      ({
        ...counts,
        insight: {
          ...counts.insight,
          winRates: [
            {
              pipeline: null,
              won: 41,
              decided: 100,
              judgement: 'high',
              range: { low: 22, high: 35 },
              expected: 0.28,
              periods: { known: 30, needed: 8 },
              record: { hits: 21, of: 22 },
              ...change,
            },
          ],
        },
      }) as ReportFigures

    it('that is unusual is the headline', () => {
      expect(headline(rated())).toMatchObject({
        text: 'The win rate is higher than usual: 41.0% in 30 days, where 22 to 35% are usual.',
        detail: 'In all 42 new leads and 3 won, as usual.',
      })
      expect(headline(rated()).facts.join(', ')).toMatch(/^42 new, 3 won, win rate 41.0% \(usual: 22–35%\)/)
    })

    it('is not called usual either where its tile shows it outside the usual range', () => {
      const low = rated({ judgement: 'usual', won: 20 })
      expect(headline(low)).toMatchObject({
        text: '42 new leads and 3 won: no clear change.',
        detail: 'The win rate is lower than the usual 22 to 35%, which can be chance.',
      })
      const both = rated({ judgement: 'usual', won: 36 }, judge(day([28, 50], [9, 2]), {}, MANY))
      expect(headline(both)).toMatchObject({
        text: 'More wins than usual: 9, where a usual Friday brings 1 to 5.',
        detail:
          'Fewer new leads than the usual 31 to 54, which can be chance. The win rate is higher than the usual 22 to 35%, which can be chance.',
      })
    })

    it('has its usual range in the tile, and no word in the headline where it is usual', () => {
      const usual = rated({ judgement: 'usual', won: 30 })
      expect(headline(usual).text).toBe('42 new leads and 3 won: a usual Friday.')
      expect(block('kpis', usual)).toMatchObject({
        tiles: [{}, {}, { label: 'Win rate', line: 'normal 22–35%' }, {}],
      })
    })
  })

  it('says how often ranges were right: those that were told, if there are sixty, or those that were tested', () => {
    const record = (of: number, locale = 'en-GB') => {
      const figures = judge(day([42, 50], [3, 2]))
      const insight = figures.insight && { ...figures.insight, publishedRecord: { hits: of - 4, of } }
      return block('record', { ...figures, insight }, { locale }).text
    }
    expect(record(59)).toMatch(/^Of \d+ usual ranges so far, \d+ were right; 19 of 20 should be\.$/)
    expect(record(60)).toBe(
      'Of the 60 usual ranges that these reports printed, 56 were right; 19 of 20 should be.',
    )
    expect(record(1260, 'de-DE')).toBe(
      'Von den 1.260 üblichen Bereichen, die diese Berichte genannt haben, haben 1.256 gestimmt; 19 von 20 sollen es sein.',
    )
  })

  it('says what is unusual, beside what is usual', () => {
    const low = judge(day([18, 50], [3, 2]), FEW)
    expect(headline(low)).toMatchObject({
      text: 'Fewer new leads than usual: 18, where a usual Friday brings 31 to 54.',
      detail: '3 won, as usual.',
    })
    expect(headline(low).facts.join(', ')).toMatch(/^18 new \(usual: 31–54\), 3 won/)
    expect(headline(low, { locale: 'de-DE' })).toMatchObject({
      text: 'Weniger neue Leads als üblich: 18; an einem gewöhnlichen Freitag sind es 31 bis 54.',
      detail: '3 gewonnen, wie üblich.',
    })
    expect(headline(judge(day([42, 50], [9, 2]), {}, MANY))).toMatchObject({
      text: 'More wins than usual: 9, where a usual Friday brings 1 to 5.',
      detail: '42 new leads, as usual.',
    })
  })

  it('names a pipeline that is unusual while all leads are not', () => {
    const one = judge(day([42, 50], [3, 2]), {}, {}, { ...FEW, ...MARKET })
    expect(headline(one)).toMatchObject({
      text: 'Fewer new leads than usual in EU mid-market: 3, where a usual Friday brings 9 to 21.',
      detail: 'In all 42 new leads and 3 won, as usual.',
    })
    expect(headline(one).facts.join(', ')).toMatch(/^42 new, 3 won, EU mid-market unusual/)
  })

  it('tells of days that are unusual together, and not of the range that has followed them', () => {
    const shift = { since: '2026-11-16', days: 5, actual: 130, expected: 200.4, isNew: true }
    const shifted = judge(day([35, 50], [3, 2]), { shift }, {}, { shift, ...MARKET })
    expect(headline(shifted)).toMatchObject({
      text: 'Fewer new leads than usual over the last 5\u00a0days: 130, where about 200 are usual.',
      detail: 'Fewer than usual in EU mid-market. 3 won, as usual.',
    })
    expect(headline(shifted).facts.join(', ')).toMatch(/^35 new \(fewer than usual over 5 days\), 3 won/)
    expect(block('kpis', shifted).tiles).toMatchObject([
      { line: 'normal 31–54', tone: 'bad' },
      { line: 'normal 1–5', tone: 'neutral' },
      {},
      {},
    ])
  })

  it('tells such days once as news, and then that they go on', () => {
    const shift = { since: '2026-11-16', days: 5, actual: 130, expected: 200.4, isNew: false }
    const lasting = judge(day([35, 50], [3, 2]), { shift }, {}, { shift, ...MARKET })
    expect(headline(lasting)).toMatchObject({
      text: '35 new leads and 3 won: no further change.',
      detail:
        'Over the last 5\u00a0days there were still fewer new leads than usual. Over the last 5\u00a0days there were still fewer new leads than usual in EU mid-market.',
    })
    expect(headline(lasting).facts.join(', ')).toMatch(/^no further change, 35 new, 3 won/)
    expect(headline(lasting, { locale: 'de-DE' }).detail).toContain(
      'In den letzten 5\u00a0Tagen gab es weiterhin weniger neue Leads als üblich. ',
    )
    // Another number is news, and the lasting one is not said to be as usual.
    expect(headline(judge(day([35, 50], [9, 2]), { shift }, MANY))).toMatchObject({
      text: 'More wins than usual: 9, where a usual Friday brings 1 to 5.',
      detail: '',
    })
  })

  it('says what is known of a day that is not judged, in the headline and not in the tile', () => {
    const left = { judgement: 'left_out', range: null, expected: null } as const
    const noted = judge(day([120, 50], [3, 2]), left, left)
    const campaign = { firstDay: '2026-11-19', lastDay: '2026-11-20', text: 'campaign', isLeftOut: true }
    const notes = [
      { ...campaign, firstDay: '2026-11-02', lastDay: '2026-11-02', pipeline: null },
      { ...campaign, pipeline: MARKET.pipeline },
    ]
    const figures = { ...noted, insight: { ...NOTHING_TO_DO, ...noted.insight, notes } } as ReportFigures
    expect(headline(figures)).toMatchObject({
      text: '120 new leads and 3 won (the Friday before: 50 and 2).',
      detail: '19\u2009–\u200920 Nov: campaign (EU mid-market).',
    })
    expect(block('kpis', figures).tiles).toMatchObject([
      { line: '', tone: 'neutral' },
      { line: '', tone: 'neutral' },
      {},
      {},
    ])
    expect(headline(figures, { locale: 'de-DE' }).detail).toBe('19.–20. Nov.: campaign (EU mid-market).')
    const marked = { ...figures, insight: { ...figures.insight, expectations: [] } } as ReportFigures
    expect(headline(marked).detail).toBe('')
  })

  it('names the source that most of a difference came from', () => {
    const low = judge(day([18, 50], [3, 2]), FEW, {}, { ...FEW, ...MARKET })
    const parts = [{ name: 'crawl', actual: 2, expected: 22.6, difference: -20 }]
    const driver = {
      figure: 'new_leads',
      actual: 18,
      expected: 42,
      dimension: 'source',
      parts,
      rest: -4,
    } as const
    const figures = {
      ...low,
      insight: { ...NOTHING_TO_DO, ...low.insight, drivers: [driver] },
    } as ReportFigures
    expect(headline(figures).detail).toBe(
      'Most of all it came from crawl: 2 instead of about 23. 3 won, as usual.',
    )
    const small = { ...driver, parts: [{ name: 'crawl', actual: 2, expected: 9, difference: -7 }], rest: -17 }
    expect(
      headline({ ...low, insight: { ...NOTHING_TO_DO, ...low.insight, drivers: [small] } } as ReportFigures)
        .detail,
    ).toBe('What stands out most is crawl: 2 instead of about 9. 3 won, as usual.')
    expect(block('drivers', figures).drivers).toEqual([
      {
        text: '18 new leads instead of about 42, by source:',
        parts: [
          {
            name: 'crawl',
            counts: '2 instead of about 23',
            difference: '−20',
            width: 100,
            remainder: 0,
            isLess: true,
          },
          { name: 'all others', counts: '', difference: '−4', width: 20, remainder: 80, isLess: true },
        ],
      },
    ])
  })

  it('has three sentences at most, and says of an empty day that it is unusual', () => {
    const many = Array.from({ length: 9 }, () => ({ ...FEW, ...MARKET }))
    const told = headline(judge(day([0, 50], [0, 2]), FEW, FEW, ...many))
    expect(told.text).toMatch(/^Fewer new leads than usual: 0,/)
    expect(told.detail).toBe(
      'Fewer than usual in EU mid-market, EU mid-market, EU mid-market and 6 others. ' +
        'Fewer wins than usual: 0, where a usual Friday brings 1 to 5.',
    )
  })

  it('says when usual ranges begin', () => {
    const learning = { judgement: 'learning', range: null, periods: { known: 3, needed: 8 } } as const
    expect(headline(judge(day([42, 50], [3, 2]), learning, learning))).toMatchObject({
      text: '42 new leads and 3 won (the Friday before: 50 and 2).',
      detail: 'Usual ranges begin after 8 Fridays (3 so far).',
    })
    expect(headline(judge(day([42, 50], [3, 2]), learning, learning), { locale: 'de-DE' }).detail).toBe(
      'Übliche Bereiche gibt es ab 8 Freitagen (bisher 3).',
    )
  })

  it('of a quiet day says so, and what the day before it had', () => {
    expect(headline(quietDay(), QUIET)).toMatchObject({
      text: 'A quiet Sunday: no new leads and nothing won.',
      detail: 'The Sunday before brought 2 new leads and no wins. Nothing needs attention.',
      facts: ['quiet, nothing new'],
    })
  })

  it('of the first day compares with nothing', () => {
    const first = headline(firstDay())
    expect(first.text).toBe('59 new leads and 3 won.')
    expect(first.detail).toMatch(/^There is nothing yet to compare this with\./)
    expect(first.scope).toBe('EU mid-market and US growth')
    expect(block('kpis', firstDay()).tiles.map(({ line }) => line)).toEqual(['', '', '', ''])
  })

  it('of a service without leads says that', () => {
    const figures = { ...emptyDay(), freshness: busyDay().freshness }
    expect(headline(figures).text).toBe('No leads yet: the service has listed none.')
  })
})

describe('data that does not cover the day', () => {
  it('makes every count a lower bound and compares nothing', () => {
    const { tiles } = block('kpis', staleDay())
    expect(headline(staleDay()).text).toBe('Incomplete: at least 31 new leads and 1 won.')
    expect(headline(staleDay()).facts).toEqual(['incomplete data, 31 new and 1 won so far, 1 agent failing'])
    expect(tiles.map(({ line }) => line)).toEqual(['so far', 'so far', '', ''])
  })

  it('is said in small type: until when, since when and why', () => {
    expect(block('freshness', staleDay()).lines.slice(0, 2)).toEqual([
      'Data of Fri 20 Nov, 14:10. 1 of 12 agents fails. 3 records are missing because they could not be read.',
      'The sync at 06:00 did not finish: the service could not be reached, or kept failing.',
    ])
  })

  it('from before the day has no counts at all', () => {
    const stale = staleDay()
    const before = {
      ...stale,
      freshness: { ...stale.freshness, dataAsOf: '2026-11-19T05:00:00.000Z' },
      newLeads: { current: 0, prior: 50 },
      won: { current: 0, prior: 2 },
      topLeads: { minScore: 80, total: 0, rows: [] },
    }
    expect(headline(before).text).toBe('No data for this time: the last complete sync was Thu 19 Nov, 06:00.')
    expect(headline(before).facts).toEqual(['no data since Thu 19 Nov, 06:00, 1 agent failing'])
    expect(
      block('kpis', before)
        .tiles.map(({ value }) => value)
        .slice(0, 2),
    ).toEqual(['–', '–'])
    expect(block('top_leads', before).note).toBe('Nothing of this time has been read yet.')
  })

  it('and never did promises nothing', () => {
    const { subject, text } = renderReport(emptyDay())
    expect(subject).toBe('Daily leads: no data yet · Fri 20 Nov')
    expect(text).not.toMatch(
      /Nothing needs attention|No new lead scored|Every open lead|No lead has moved|the same as we do|Every record/,
    )
  })
})

describe('a trend', () => {
  const busy = busyDay()

  it('is told by its last mean beside its first', () => {
    expect(block('trend', busy).finding).toMatch(
      /^Over the last 7 days there were \d+ new leads and [\d.]+ wins a day on average; in the 7 days up to 23 Aug there were \d+ and [\d.]+\.$/,
    )
  })

  it('whose last days are not known says up to when it goes', () => {
    const trend = busy.trend.map((day, index) => (index < 93 ? day : { ...day, newLeads: null, won: null }))
    expect(block('trend', { ...busy, trend }).finding).toMatch(
      /^In the 7 days up to 17 Nov there were \d+ new leads/,
    )
  })
})

describe('data that covers the day', () => {
  it('stays calm, and says how old it is', () => {
    expect(block('freshness', busyDay()).lines).toEqual(['Data of 06:00. 1 of 12 agents fails.'])
  })

  it('says that a later sync failed, but compares as usual', () => {
    const busy = busyDay()
    const lastFailure = {
      at: '2026-11-21T05:02:00.000Z',
      code: 'api_unauthorized',
      message: 'http://10.0.0.7 said 401',
    }
    const failed = { ...busy, freshness: { ...busy.freshness, lastFailure } }
    expect(block('freshness', failed).lines).toContain(
      'The sync at 06:02 did not finish: the service did not accept our key.',
    )
    expect(block('kpis', failed).tiles[0]?.line).toBe('+9 (+18%)')
  })
})

describe('agents that fail', () => {
  it('are only counted', () => {
    const busy = busyDay()
    const failing = busy.agents.rows.slice(-1)
    const rows = Array.from({ length: 6 }, () => failing).flat()
    const many = { ...busy, agents: { ...busy.agents, rows } }
    expect(block('freshness', many).lines[0]).toContain('6 of 6 agents fail')
  })
})

describe('numbers too small for percentages', () => {
  it('are given as counts', () => {
    const { tiles } = block('kpis', quietDay(), QUIET)
    expect(tiles[2]).toMatchObject({ value: '2 of 7', line: '' })
    expect(tiles[3]).toMatchObject({ value: '€640k', line: 'no change' })
    const few = [
      { status: 'discovered', reached: 8, conversion: null, medianDays: 0.44 },
      { status: 'enriched', reached: 3, conversion: 3 / 8, medianDays: 12.4 },
      { status: 'won', reached: 0, conversion: 0, medianDays: null },
    ]
    const funnel = { ...busyDay().funnel, stages: few }
    const { stages } = block('funnel', { ...busyDay(), funnel })
    expect(stages.map(({ inStage }) => inStage)).toEqual(['0.4 d', '12 d', '–'])
    expect(stages.map(({ conversion }) => conversion)).toEqual(['–', '3 of 8', '0 of 3'])
    expect(stages.map(({ bar, rest }) => [bar, rest])).toEqual([
      ['100', ''],
      ['38', '62'],
      ['', '100'],
    ])
  })

  it('leave out how long leads stay in a stage where that is known of none', () => {
    const busy = busyDay()
    const stages = busy.funnel.stages.map((stage) => ({ ...stage, medianDays: null }))
    const figures = { ...busy, funnel: { ...busy.funnel, stages } }
    expect(block('funnel', busy).columns.inStage).toBe('In stage')
    expect(block('funnel', figures).columns.inStage).toBeNull()
    const { html, text } = renderReport(figures)
    const [head = ''] = /<tr>[^\n]*>Reached<.*?<\/tr>/.exec(html) ?? []
    expect(head.match(/<t[hd]/g)).toHaveLength(4)
    expect(text).toMatch(/^Discovered +[\d,]+ +–$/m)
  })
})

describe('agents', () => {
  const withStatuses = (...statuses: string[]): ReportFigures => {
    const busy = busyDay()
    const [agent] = busy.agents.rows
    if (!agent) throw new Error('the busy day has agents')
    return {
      ...busy,
      agents: { ...busy.agents, rows: statuses.map((status) => ({ ...agent, status, name: status })) },
    }
  }

  it('that are well are only counted', () => {
    const { note, agents } = block('agents', withStatuses('running', 'running', 'idle'))
    expect(note).toBe('All 3 healthy: 2 running, 1 idle · as of 06:00')
    expect(agents).toEqual([])
  })

  it('that are paused or in a state unknown here are shown, but not as failing', () => {
    const figures = withStatuses('running', 'paused', 'rate_limited', 'ERROR')
    const view = block('agents', figures)
    expect(view.note).toMatch(/^1 of 4 healthy: 1 running/)
    expect(view.agents.map(({ status, tone }) => [status, tone])).toEqual([
      ['ERROR', 'bad'],
      ['Paused', 'neutral'],
      ['Rate limited', 'neutral'],
    ])
    expect(block('freshness', figures).lines[0]).toContain('1 of 4 agents fails')
  })
})

describe('what changed in a week', () => {
  it('names the leads that were won, and counts the others, which dailies have named', () => {
    const { kinds } = block('changes', busyWeek())
    const named = kinds.filter(({ leads }) => leads.length > 0).map(({ label }) => label)
    expect(named).toEqual(['Won'])
    expect(kinds.find(({ label }) => label === 'Moved forward')).toMatchObject({
      total: expect.stringMatching(/^38\s·/),
      more: '',
    })
  })
})

describe('thirty pipelines', () => {
  const busy = busyWeek()
  const [line] = busy.byPipeline
  const thirty = (newLeads: (index: number) => number): ReportFigures => ({
    ...busy,
    byPipeline: Array.from({ length: 30 }, (_, index) => ({
      ...(line as PipelineLine),
      id: `pl_${index}`,
      name: `Pipeline ${String(index + 1).padStart(2, '0')}`,
      leads: 10 + index,
      newLeads: { current: newLeads(index), prior: 5 },
    })),
  })
  const monday: Making = { now: '2026-11-23T05:04:00.000Z' }

  it('are shown by those with most new leads, and say so', () => {
    const view = block(
      'pipelines',
      thirty((index) => (index * 7) % 30),
      monday,
    )
    expect(view.lines.map(({ newLeads }) => newLeads.value)).toEqual(['29', '28', '27', '26', '25'])
    expect(view.note).toBe('The 6 with most new leads that week, of 30 · changes against the week before')
    expect(view.more).toBe('and 25 more')
    expect(
      block(
        'pipelines',
        thirty((index) => index),
        { ...monday, locale: 'de-DE' },
      ).note,
    ).toBe('Die 6 mit den meisten neuen Leads dieser Woche, von 30 · Veränderung zur Woche davor')
  })

  it('have a colour only for a number that is unusual', () => {
    const rate: JudgedWinRate = {
      pipeline: { id: 'pl_1', name: '' },
      won: 9,
      decided: 60,
      judgement: 'usual',
      range: { low: 5, high: 13 },
      expected: 0.15,
      periods: { known: 9, needed: 8 },
      record: null,
    }
    const pipeline = { id: 'pl_1', name: '' }
    const judgedBy = (ofWon: 'high' | 'low'): ReportFigures => ({
      ...thirty((index) => index),
      byPipeline: thirty((index) => index).byPipeline.slice(0, 2),
      insight: {
        ...NOTHING_TO_DO,
        expectations: [
          expected('new_leads', 42, 31, 54),
          expected('new_leads', 1, 1, 7, { pipeline }),
          expected('won', 3, 0, 2, { pipeline, judgement: ofWon }),
        ],
        winRates: [{ ...rate, pipeline: null }, rate],
      },
    })
    const tones = (ofWon: 'high' | 'low') =>
      block('pipelines', judgedBy(ofWon), monday).lines.flatMap(({ newLeads, won }) => [
        newLeads.tone,
        won.tone,
      ])
    expect(tones('high')).toEqual(['neutral', 'neutral', 'neutral', 'good'])
    expect(tones('low')).toEqual(['neutral', 'neutral', 'neutral', 'bad'])
  })

  it('without a new lead are shown by those with most leads', () => {
    const view = block(
      'pipelines',
      thirty(() => 0),
      monday,
    )
    expect(view.lines[0]?.name).toBe('Pipeline 30')
    expect(view.note).toMatch(/^The 6 with most leads, of 30 · /)
  })

  it('of which all have room stand in order of name', () => {
    expect(block('pipelines', busy, monday).note).toBe('Changes against the week before')
  })
})

describe('goals', () => {
  const pace = (change: Partial<Pace>): ReportFigures => ({
    ...busyDay(),
    insight: {
      ...NOTHING_TO_DO,
      expectations: [],
      pace: [
        {
          figure: 'won',
          currency: null,
          pipelines: null,
          span: 'month',
          lastDay: '2026-11-30',
          goal: { name: 'Wins of the month', target: 80, owner: 'Ana' },
          soFar: 41,
          daysLeft: 10,
          perDay: 1.6,
          end: { low: 55, high: 68, expected: 61.2, record: { hits: 41, of: 50 } },
          ...change,
        },
      ],
    },
  })
  const lineOf = (change: Partial<Pace> = {}, making?: Making) =>
    block('goals', pace(change), making).goals[0]

  it('say the way so far, the expected end with its range, and what is needed', () => {
    expect(lineOf()).toMatchObject({
      name: 'Wins of the month',
      scope: 'Ana',
      soFar: '41 of 80',
      state: 'out of reach',
      text: 'At this pace 55–68 by 30 Nov. 3.9 a day needed, 1.6 now.',
    })
    expect(lineOf({}, { locale: 'de-DE' })?.text).toMatch(/3,9 am Tag, derzeit 1,6/)
  })

  it('say when they are reached or missed, and nothing of an end that is not known', () => {
    expect(lineOf({ soFar: 80 })?.state).toBe('reached')
    expect(lineOf({ daysLeft: 0, end: null })).toMatchObject({ state: 'missed', text: '39 short.' })
    expect(lineOf({ end: null })?.text).toBe('3.9 a day needed, 1.6 now.')
    expect(lineOf({ figure: 'won_value', currency: 'EUR', end: null })?.text).not.toMatch(/30 Nov/)
  })
})

describe('leads to act on today', () => {
  const busy = busyDay()
  const leads = busy.stalled.rows.slice(0, 3).map((lead, index) => ({
    lead,
    why: { kind: 'stalling', stageDays: 11 + index, limitDays: 14.2, isOfWinners: true } as const,
  }))
  const oldLeads = {
    old: 212,
    open: 345,
    value: [{ amount: 1_900_000, currency: 'USD' }],
    ageDays: 93.4,
    winners: 812,
    countedAt: '2026-11-21T02:10:00.000Z',
  }
  const withToday = (figures: ReportFigures, old: typeof oldLeads, rows: typeof leads): ReportFigures => ({
    ...figures,
    insight: {
      ...NOTHING_TO_DO,
      expectations: [],
      today: { total: rows.length, value: [], byOwner: [{ owner: null, leads: rows.length }], rows },
      oldLeads: old,
    },
  })
  const MONDAY: Making = { now: '2026-11-23T05:04:00.000Z' }

  it('are listed with the reason, and a week says how many leads are old', () => {
    const view = block('today', withToday(busyWeek(), oldLeads, leads), MONDAY)
    expect(view.title).toBe('Today: 3 leads')
    expect(view.leads.map(({ company }) => company)).toEqual(leads.map(({ lead }) => lead.companyName))
    expect(view.leads[0]?.why).toMatch(/^11 days in .+; winners leave within 14$/)
    expect(view.old.replaceAll('\u00a0', ' ')).toBe(
      '212 of 345 open leads, $1.9m, are older than 94 days. Only 1 % of 812 winners took that long: close these leads, or move them on.',
    )
    expect(block('today', withToday(busy, oldLeads, leads)).old).toBe('')
  })

  it('are not mentioned where there are none and few are old', () => {
    const few = { ...oldLeads, old: 3 }
    for (const figures of [withToday(busyWeek(), few, []), withToday(busy, few, []), busy])
      expect(compose(figures, MONDAY).blocks.filter(({ kind }) => kind === 'today')).toEqual([])
  })
})

describe('times that cannot be right', () => {
  const busy = busyDay()
  const doubtful = (
    ...implausibleTimes: NonNullable<ReportFigures['freshness']['implausibleTimes']>
  ): ReportFigures => ({
    ...busy,
    newLeads: { current: 200, prior: 50 },
    insight: { ...NOTHING_TO_DO, expectations: [expected('new_leads', 200, 31, 54, { judgement: 'high' })] },
    freshness: { ...busy.freshness, implausibleTimes },
  })

  it('are said in small type, and not compared, and nothing is called unusual by them', () => {
    const figures = doubtful('created_at', 'status_changed_at')
    const [newLeads, won] = block('kpis', figures).tiles
    expect(newLeads?.line).toBe('')
    expect(won?.line).toBe('')
    expect(block('freshness', figures).lines).toContain(
      'The times at which leads were created and changed their status cannot be right; what is counted by them is doubtful.',
    )
    expect(headline(figures).text).not.toMatch(/usual|normal/)
    expect(headline(figures).detail).not.toContain('Nothing needs attention')
    expect(headline(doubtful()).text).toMatch(/^More new leads than usual/)
    const none = { current: 0, prior: 0 }
    expect(headline({ ...figures, newLeads: none, won: none }).text).not.toMatch(/quiet/i)
  })

  it('are said in German too, and of one number alone where only that goes by them', () => {
    const figures = doubtful('status_changed_at')
    const [newLeads, won] = block('kpis', figures, { locale: 'de-DE' }).tiles
    expect(newLeads?.line).not.toBe('')
    expect(won?.line).toBe('')
    expect(block('freshness', figures, { locale: 'de-DE' }).lines).toContain(
      'Die Zeiten, zu denen Leads ihren Status änderten, können nicht stimmen; was danach gezählt wird, ist fraglich.',
    )
  })
})

describe('a report of a day long past', () => {
  const busy = busyDay()
  const asOf = '2026-12-20T05:00:00.000Z'
  const making: Making = { now: '2026-12-20T05:04:00.000Z' }
  const past: ReportFigures = {
    ...busy,
    freshness: { ...busy.freshness, dataAsOf: asOf, agentsAsOf: asOf, statsAsOf: asOf },
    agents: { ...busy.agents, asOf, rows: [] },
    serviceStats: busy.serviceStats.map((line) => ({ ...line, asOf })),
  }

  it('says of the agents that how they were then is not known, and of the statistics of when they are', () => {
    expect(block('agents', past, making)).toMatchObject({
      note: 'How they were then is not known; they were last read at 06:00.',
      agents: [],
    })
    expect(block('agents', past, making).outages.length).toBeGreaterThan(0)
    expect(block('service_stats', past, making).note).toMatch(/ · as of 06:00, not of this period$/)
    expect(headline(past, making).detail).not.toContain('Nothing needs attention')
  })

  it('before the first lead says that none is known of then, and nothing of today', () => {
    const none = { current: 0, prior: 0 }
    const before = { ...past, leads: 0, newLeads: none, won: none, byPipeline: [] }
    const view = compose(before, making)
    expect(view.blocks.map(({ kind }) => kind)).toEqual(['headline', 'freshness'])
    expect(headline(before, making).text).toBe(
      'Of this time no lead is known: those that there are came later.',
    )
    expect(view.summary).toBe('no leads known of this time')
    expect(headline(before, { ...making, locale: 'de-DE' }).text).toBe(
      'Aus dieser Zeit ist kein Lead bekannt: Die es gibt, kamen später.',
    )
    expect(headline({ ...before, freshness: busy.freshness }).text).toMatch(/^No leads yet/)
  })
})

describe('what a list leaves out', () => {
  const busy = busyDay()
  const [row] = busy.stalled.rows
  const stalledOf = (total: number, kept: number): ReportFigures => ({
    ...busy,
    stalled: { ...busy.stalled, total, rows: row ? Array.from({ length: kept }, () => row) : [] },
  })
  const more = (total: number, kept: number, making: Making) =>
    block('stalled', stalledOf(total, kept), making).more
  const attached = { context: { attached: new Map([['stalled', 'stalled.xlsx']]) } }

  it('is said to be in the attached file only as far as the file has it', () => {
    expect(more(30, 30, attached)).toBe('and 27 more in stalled.xlsx')
    expect(more(30_274, 1000, attached)).toBe('and 30,271 more, of which 997 are in stalled.xlsx')
    expect(more(30_274, 1000, { ...attached, locale: 'de-DE' })).toBe(
      'und 30.271 weitere Einträge, davon 997 in der Datei stalled.xlsx',
    )
  })

  it('names no database, and leads to the dashboard only where it can be reached', () => {
    expect(more(30, 30, {})).toBe('and 27 more')
    expect(more(30, 30, { locale: 'de-DE' })).toBe('und 27 weitere Einträge')
    const moreUrl = 'https://reports.example.com/archive?report=daily'
    const { html } = renderReport(stalledOf(30, 30), { context: { moreUrl } })
    expect(html).toMatch(
      /<a [^>]*href="https:\/\/reports\.example\.com\/archive\?report[^"]*daily"[^>]*>and 27 more<\/a>/,
    )
    expect(renderReport(stalledOf(30, 30)).html).not.toMatch(/<a [^>]*>and 27 more/)
  })
})

describe('the preheader', () => {
  it('adds to the subject what the subject does not have', () => {
    expect(compose(busyDay()).preheader).toBe(
      '59 new leads and 3 won (the Friday before: 50 and 2). ' +
        'Win rate, 30 days 23.7%, −2.3 pt; Open pipeline $4.2m, +$230k (+6%).',
    )
  })
})

describe('the recipient', () => {
  it('is named at the end of a mail, and not in the archive', () => {
    expect(renderReport(busyDay()).text).toContain(
      'Sent to dana@example.com as a recipient of “Daily leads”.',
    )
    expect(renderReport(busyDay(), { context: { recipient: null } }).text).not.toContain('Sent to')
  })
})

describe('a week', () => {
  const monday: Making = { now: '2026-11-23T05:04:00.000Z' }

  it('is named by its number and days, and compared with the week before', () => {
    const { text, period, scope } = headline(busyWeek(), monday)
    expect(text).toBe('284 new leads and 14 won (the week before: 301 and 11).')
    expect(period).toMatch(/^Week 47 · 16\s?–\s?22 November 2026$/)
    expect(scope).toMatch(
      /^EU mid-market and US growth, only country Germany or Austria and score 60 or more, compared with Week 46/,
    )
    expect(block('kpis', busyWeek(), monday).tiles[0]).toMatchObject({ basis: 'vs 301 in\u00a0week\u00a046' })
    expect(renderReport(busyWeek(), monday).subject).toContain('· week 47')
  })

  it('in German has every word in German', () => {
    const { subject, text } = renderReport(busyWeek(), { ...monday, locale: 'de-DE' })
    expect(subject).toBe('Daily leads: 284 neu, 14 gewonnen, 14 ohne Bewegung, 1 Agent gestört · KW 47')
    expect(text).toContain('284 neue Leads und 14 gewonnen (die Woche davor: 301 und 11).')
    expect(text).not.toMatch(/\b(?:new|won|open|since|leads? with|agents?)\b/)
  })
})

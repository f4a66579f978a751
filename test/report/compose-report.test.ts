import { describe, expect, it } from 'vitest'
import type { LateWarning, ReportFigures } from '../../src/domain/figures.ts'
import type { Expectation, ExpectedFigure, Insight, JudgedWinRate, Pace } from '../../src/domain/insight.ts'
import type { PipelineLine } from '../../src/domain/lists.ts'
import type { HistoryCoverage } from '../../src/domain/model.ts'
import type { composeReport } from '../../src/report/compose-report.ts'
import { compose, type Making, REPORTS, renderReport, wordsOf } from '../support/report.ts'
import {
  busyDay,
  busyWeek,
  dayWithProblems,
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
  judgement: 'normal',
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
    expect(subject).toBe('Daily leads, Fri 20 Nov: 59 new, 3 won')
    for (const line of [
      '59 new leads, 3 won, $84k + €12.5k.',
      'The Friday before: 50 new leads, 2 won.',
      'New               59  +9 (+18%)',
      'Won                3  +1',
      'Win rate, 30 d 23.7%  −2.3 pt',
      'Open           $4.2m  +$230k',
      'Replied               488     34%  4.0 d',
      'and 9 more\n',
      '11 of 12 healthy: 7 running, 4 idle',
    ]) {
      expect(text.replaceAll('\u00a0', ' ')).toContain(line)
    }
  })
})

const day = (newLeads: [number, number], won: [number, number]): ReportFigures => ({
  ...busyDay(),
  newLeads: { current: newLeads[0], prior: newLeads[1] },
  won: { current: won[0], prior: won[1] },
  wonValue: { current: [], prior: [] },
})

/** Judges the new leads by a range of 31 to 54, the wins by 1 to 5, and one pipeline by each further change. */
const judge = (figures: ReportFigures, ...changes: readonly Partial<Expectation>[]): ReportFigures =>
  withInsight(figures, {
    expectations: [
      expected('new_leads', figures.newLeads.current, 31, 54, changes[0]),
      expected('won', figures.won.current, 1, 5, changes[1]),
      ...changes.slice(2).map((each) => expected('new_leads', 3, 9, 21, each)),
    ],
  })
const withInsight = (figures: ReportFigures, insight: Partial<Insight>): ReportFigures => ({
  ...figures,
  insight: { ...NOTHING_TO_DO, expectations: [], ...figures.insight, ...insight },
})
const FEW: Partial<Expectation> = { judgement: 'low' }
const MANY: Partial<Expectation> = { judgement: 'high' }
const MARKET = { pipeline: { id: 'pl_1', name: 'EU mid-market' } }
const LEARNING = { judgement: 'learning', range: null, periods: { known: 3, needed: 8 } } as const
const SHIFT = { since: '2026-11-16', days: 5, actual: 130, expected: 200.4, isNew: true }
const HIGH_RATE: JudgedWinRate = {
  pipeline: null,
  won: 41,
  decided: 100,
  judgement: 'high',
  range: { low: 22, high: 35 },
  expected: 0.28,
  periods: { known: 30, needed: 8 },
  record: { hits: 21, of: 22 },
}
const LATE: LateWarning = {
  kind: 'late',
  from: '2026-11-21T05:00:00.000Z',
  to: '2026-11-21T05:31:00.000Z',
  why: 'waited',
}
const LASTING = { shift: { ...SHIFT, isNew: false } }

describe('the headline', () => {
  it.each([
    ['near each other', day([59, 50], [3, 2]), '59 new leads, 3 won.', '50 new leads, 2 won.'],
    ['far apart', day([80, 50], [3, 3]), '80 new leads, 3 won.', '50 new leads, 3 won.'],
    ['few', day([1, 0], [0, 0]), '1 new lead, none won.', 'no new leads, none won.'],
    ['none', day([0, 2], [0, 0]), 'No new leads, none won.', '2 new leads, none won.'],
  ])('makes no claim on counts that were not judged, but compares them: %s', (_, figures, text, before) => {
    expect(headline(figures)).toMatchObject({ text, detail: `The Friday before: ${before}` })
  })

  it.each([
    {
      name: 'all normal',
      figures: judge(day([42, 50], [3, 2])),
      text: 'A normal Friday: 42 new leads (normal 31–54), 3 won.',
      facts: '42 new (normal), 3 won',
    },
    {
      name: 'at the ends of their ranges',
      figures: judge(day([31, 50], [5, 2])),
      text: 'A normal Friday: 31 new leads (normal 31–54), 5 won.',
      facts: '31 new (normal), 5 won',
    },
    {
      name: 'normal although nothing has ever been won',
      figures: judge(day([42, 50], [0, 0]), {}, LEARNING),
      text: 'A normal Friday: 42 new leads (normal 31–54), none won.',
      facts: '42 new (normal), none won',
    },
    {
      name: 'with a first win, which nothing shows to be normal',
      figures: judge(day([42, 50], [1, 0]), {}, LEARNING),
      text: '42 new leads (normal 31–54), 1 won.',
      facts: '42 new (normal), 1 won',
    },
    {
      name: 'outside one range by chance',
      figures: judge(day([28, 50], [3, 2])),
      text: 'Just below normal: 28 new leads (normal 31–54), 3 won.',
      facts: '28 new (just below normal), 3 won',
    },
    {
      name: 'outside the range of wins by chance',
      figures: judge(day([42, 50], [6, 2])),
      text: 'Just above normal: 6 won (normal 1–5), 42 new leads (normal 31–54).',
      facts: '42 new (normal), 6 won',
    },
    {
      name: 'outside both ranges by chance',
      figures: judge(day([60, 50], [6, 2])),
      text: 'Just above normal: 60 new leads (normal 31–54), 6 won (normal 1–5).',
      facts: '60 new (just above normal), 6 won',
    },
    {
      name: 'with few new leads',
      figures: judge(day([18, 50], [3, 2]), FEW),
      text: 'Only 18 new leads (normal 31–54).',
      detail: '3 won.',
      facts: 'only 18 new (normal 31–54), 3 won',
    },
    {
      name: 'with few new leads for the third day',
      figures: judge(day([18, 50], [3, 2]), { ...FEW, inARow: 3 }),
      text: 'Only 18 new leads (normal 31–54), the 3rd low day in a row.',
      detail: '3 won.',
      facts: 'only 18 new (normal 31–54), 3 won',
    },
    {
      name: 'with few new leads, and wins outside their range by chance',
      figures: judge(day([18, 50], [6, 2]), FEW),
      text: 'Only 18 new leads (normal 31–54).',
      detail: '6 won (normal 1–5).',
      facts: 'only 18 new (normal 31–54), 6 won',
    },
    {
      name: 'with many wins',
      figures: judge(day([42, 50], [9, 2]), {}, MANY),
      text: '9 won, more than the normal 1–5.',
      detail: '42 new leads (normal 31–54).',
      facts: '9 won (normal 1–5), 42 new (normal)',
    },
    {
      name: 'with neither leads nor wins',
      figures: judge(day([0, 50], [0, 2]), FEW, FEW),
      text: 'No new leads (normal 31–54).',
      detail: 'None won (normal 1–5).',
      facts: '0 new (normal 31–54), none won (normal 1–5)',
    },
    {
      name: 'normal but for one pipeline',
      figures: judge(day([42, 50], [3, 2]), {}, {}, { ...FEW, ...MARKET }),
      text: 'A normal Friday: 42 new leads (normal 31–54), 3 won.',
      facts: 'EU mid-market is low, 42 new (normal), 3 won',
    },
    {
      name: 'with few leads for days, which tell nothing of the day itself',
      figures: judge(day([35, 50], [3, 2]), { shift: SHIFT }, {}, { shift: SHIFT, ...MARKET }),
      text: 'Fewer new leads for 5 days: 130, where 200 are normal; low in EU mid-market.',
      detail: '3 won.',
      facts: '35 new, 3 won',
    },
    {
      name: 'with few leads for days, of which an earlier report told',
      figures: judge(day([35, 50], [3, 2]), LASTING, {}, { ...LASTING, ...MARKET }),
      text: '35 new leads (normal 31–54), 3 won.',
      detail: 'Still fewer new leads than before, for 5 days now.',
      facts: '35 new, 3 won',
    },
    {
      name: 'with many wins while leads are few for days',
      figures: judge(day([35, 50], [9, 2]), LASTING, MANY),
      text: '9 won, more than the normal 1–5.',
      detail: '35 new leads (normal 31–54). Still fewer new leads than before, for 5 days now.',
      facts: '9 won (normal 1–5), 35 new',
    },
  ])('says how the numbers lie to their normal ranges: $name', ({ figures, text, detail = '', facts }) => {
    const told = headline(figures)
    expect(told).toMatchObject({ text, detail })
    expect(told.facts.join(', ')).toBe(facts)
  })

  it.each([
    [judge(day([42, 50], [3, 2])), 'Ein normaler Freitag: 42 neue Leads (normal 31–54), 3 gewonnen.', ''],
    [judge(day([28, 50], [3, 2])), 'Knapp unter normal: 28 neue Leads (normal 31–54), 3 gewonnen.', ''],
    [judge(day([18, 50], [3, 2]), FEW), 'Nur 18 neue Leads (normal 31–54).', '3 gewonnen.'],
    [
      judge(day([35, 50], [3, 2]), LASTING),
      '35 neue Leads (normal 31–54), 3 gewonnen.',
      'Weiterhin weniger neue Leads als zuvor, jetzt seit 5 Tagen.',
    ],
  ])('says so in German too', (figures, text, detail) => {
    expect(headline(figures, { locale: 'de-DE' })).toMatchObject({ text, detail })
  })

  it('says what the won leads are worth', () => {
    const worth = { ...day([42, 50], [3, 2]), wonValue: busyDay().wonValue }
    expect(headline(judge(worth)).text).toMatch(/, 3 won, \$84k \+ €12\.5k\.$/)
    expect(headline(worth).text).toBe('42 new leads, 3 won, $84k + €12.5k.')
  })

  it('gives a number of days that are unusual together a colour, beside the range of a day', () => {
    expect(block('kpis', judge(day([35, 50], [3, 2]), { shift: SHIFT })).tiles).toMatchObject([
      { line: 'normal 31–54', tone: 'bad' },
      { line: 'normal 1–5', tone: 'neutral' },
      {},
      {},
    ])
  })

  describe('of a win rate', () => {
    const rated = (change: Partial<JudgedWinRate>) =>
      withInsight(judge(day([42, 50], [3, 2])), { winRates: [{ ...HIGH_RATE, ...change }] })

    it('that is unusual says so after the verdict on the day, and first in the subject', () => {
      const high = headline(rated({}))
      expect(high.text).toMatch(/^A normal Friday: /)
      expect(high.detail).toBe('The win rate of the last 30 days is high: 41.0% (normal 22–35%).')
      expect(high.facts.join(', ')).toBe('win rate 41.0% (normal 22–35%), 42 new (normal), 3 won')
    })

    it.each([20, 30])(
      'of %i in 100 that is not unusual has its range below its number, and no sentence',
      (won) => {
        const normal = rated({ won, judgement: 'normal' })
        expect(headline(normal).detail).toBe('')
        expect(block('kpis', normal).tiles[2]).toMatchObject({
          label: 'Win rate, 30 d',
          line: 'normal 22–35%',
        })
      },
    )
  })

  it('says of a day that is not judged why, and compares it with nothing', () => {
    const left = { judgement: 'left_out', range: null, expected: null } as const
    const campaign = { firstDay: '2026-11-19', lastDay: '2026-11-20', text: 'campaign', isLeftOut: true }
    const notes = [
      { ...campaign, firstDay: '2026-11-02', lastDay: '2026-11-02', pipeline: null },
      { ...campaign, pipeline: MARKET.pipeline },
    ]
    const figures = withInsight(judge(day([120, 50], [3, 2]), left, left), { notes })
    expect(headline(figures)).toMatchObject({
      text: '120 new leads, 3 won.',
      detail: '19\u2009–\u200920 Nov: campaign (EU mid-market).',
    })
    expect(block('kpis', figures).tiles).toMatchObject([
      { line: '', tone: 'neutral' },
      { line: '', tone: 'neutral' },
      {},
      {},
    ])
    expect(headline(figures, { locale: 'de-DE' }).detail).toBe('19.–20. Nov.: campaign (EU mid-market).')
    expect(headline(withInsight(figures, { expectations: [] })).detail).not.toContain('campaign')
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
    const figures = withInsight(low, { drivers: [driver] })
    expect(headline(figures).text).toBe('Only 18 new leads (normal 31–54); mostly crawl: 2, normally 23.')
    const small = { ...driver, parts: [{ name: 'crawl', actual: 2, expected: 9, difference: -7 }], rest: -17 }
    expect(headline(withInsight(low, { drivers: [small] })).text).toBe(
      'Only 18 new leads (normal 31–54); crawl stands out: 2, normally 9.',
    )
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

  it.each([
    ['one of two', [FEW, {}], '; low in Team 0.'],
    ['five of six', [FEW, FEW, FEW, FEW, FEW, {}], '; low in Team 0, Team 1, Team 2 and 2 others.'],
    ['all', [FEW, FEW], '; all pipelines alike.'],
  ])(
    'names at most three pipelines that a difference came from, and no part of a whole: %s',
    (_, changes, origin) => {
      const pipelines = changes.map((change, index) => ({
        // A pipeline without its own change is above what was expected of it.
        actual: change === FEW ? 3 : 20,
        pipeline: { id: `pl_${index}`, name: `Team ${index}` },
        ...change,
      }))
      expect(headline(judge(day([18, 50], [3, 2]), FEW, {}, ...pipelines)).text).toBe(
        `Only 18 new leads (normal 31–54)${origin}`,
      )
    },
  )

  it.each([
    ['en-GB', 'The Friday before: 50 new leads, 2 won. Normal ranges begin after 8 Fridays; 3 so far.'],
    [
      'de-DE',
      'Der Freitag davor: 50 neue Leads, 2 gewonnen. Normale Bereiche gibt es nach 8 Freitagen; bisher sind es 3.',
    ],
  ])('says when normal ranges begin, in %s', (locale, detail) => {
    const figures = judge(day([42, 50], [3, 2]), LEARNING, LEARNING)
    expect(headline(figures, { locale }).detail).toBe(detail)
  })

  it('of the first day compares with nothing', () => {
    expect(headline(firstDay())).toMatchObject({
      text: '59 new leads, 3 won, $84k + €12.5k.',
      detail: 'There is nothing to compare with yet.',
    })
    expect(block('kpis', firstDay()).tiles.map(({ line }) => line)).toEqual(['', '', '', ''])
  })

  it('of a service without leads says that', () => {
    const figures = { ...emptyDay(), freshness: busyDay().freshness }
    expect(headline(figures).text).toBe('No leads yet: the service has listed none.')
  })
})

describe('pipelines that are unusual', () => {
  const ofPipelines = (...changes: readonly Partial<Expectation>[]) =>
    block(
      'unusual',
      judge(
        day([42, 50], [3, 2]),
        {},
        {},
        ...changes.map((each, index) => ({
          pipeline: { id: `pl_${index}`, name: `Team ${index}` },
          ...each,
        })),
      ),
    )

  it('are named with their normal range, and the others are called normal', () => {
    expect(ofPipelines(FEW, {}, {})).toMatchObject({
      lines: [{ name: 'Team 0 is low', text: '3 new, normal is 9–21.' }],
      others: 'The other 2 pipelines are normal.',
    })
    expect(ofPipelines({ shift: SHIFT }, {}).lines).toEqual([
      { name: 'Team 0 is low', text: '130 new in 5 days, normal is 200.' },
    ])
    expect(ofPipelines(FEW, FEW, FEW, FEW)).toMatchObject({ others: 'One more is unusual.' })
  })

  it.each([
    ['has no range yet', LEARNING],
    ['has been low for days', LASTING],
  ])('do not call the others normal where one of them %s', (_, other) => {
    expect(ofPipelines(FEW, {}, other).others).toBe('')
  })
})

describe('the record', () => {
  const record = (of: number, locale: string) =>
    block('record', withInsight(judge(day([42, 50], [3, 2])), { publishedRecord: { hits: of - 4, of } }), {
      locale,
    }).text

  it.each([
    [60, 'en-GB', 'Of 60 normal ranges, 56 were right; 19 of 20 should be.'],
    [1260, 'de-DE', 'Von 1.260 normalen Bereichen waren 1.256 richtig; 19 von 20 sollen es sein.'],
    // With fewer than sixty, those that were computed for past periods are counted.
    [59, 'en-GB', 'Of 392 normal ranges, 374 were right; 19 of 20 should be.'],
  ])('of %i printed ranges says how often they were right, in %s', (of, locale, text) => {
    expect(record(of, locale)).toBe(text)
  })
})

describe('the all-clear', () => {
  const well = (): ReportFigures => ({
    ...judge(day([42, 50], [3, 2])),
    stalled: { days: 14, coverage: { known: 1840, of: 1840 }, total: 0, rows: [] },
  })
  const today = (figures: ReportFigures) =>
    compose(figures).blocks.flatMap((each) => (each.kind === 'today' && 'title' in each ? [each.title] : []))
  const calm = well()
  const missed = { soFar: 496, goal: { name: 'Leads', target: 1000, owner: null }, daysLeft: 0, end: null }
  const goal = (change: Partial<Pace>) =>
    ({
      figure: 'new_leads',
      currency: null,
      pipelines: null,
      span: 'month',
      lastDay: '2026-11-20',
      perDay: 20,
      ...missed,
      ...change,
    }) as const

  it('is given where everything that could need attention is known and well', () => {
    expect(today(calm)).toEqual(['Nothing needs attention.'])
    expect(today(withInsight(calm, { pace: [goal({ soFar: 1000 })] }))).toEqual(['Nothing needs attention.'])
  })

  it.each([
    ['nothing was judged', { ...calm, insight: null }],
    ['a goal was missed', withInsight(calm, { pace: [goal({})] })],
    ['a number is unusual', judge(well(), FEW)],
    ['a lead is stalled', { ...calm, stalled: { ...calm.stalled, total: 1 } }],
    [
      'stalled leads are not known',
      { ...calm, stalled: { ...calm.stalled, coverage: { known: 9, of: 10 } } },
    ],
    [
      'the last sync failed',
      { ...calm, freshness: { ...calm.freshness, lastFailure: staleDay().freshness.lastFailure } },
    ],
    ['the data ends before the day', { ...calm, freshness: { ...calm.freshness, coversPeriod: false } }],
    ['records are quarantined', { ...calm, freshness: { ...calm.freshness, quarantinedRecords: 1 } }],
    [
      'times are doubtful',
      { ...calm, freshness: { ...calm.freshness, implausibleTimes: ['created_at'] as const } },
    ],
    ['a part failed', { ...calm, failed: dayWithProblems().failed }],
    ['leads are missing', { ...calm, warnings: dayWithProblems().warnings }],
    ['no lead is known', { ...calm, leads: 0 }],
  ] satisfies [string, ReportFigures][])('is not given where %s', (_, figures) => {
    expect(today(figures)).not.toContain('Nothing needs attention.')
  })
})

describe('data that does not cover the day', () => {
  it('makes every count a lower bound and compares nothing', () => {
    expect(headline(staleDay())).toMatchObject({
      text: 'The data ends Fri 20 Nov, 14:10: 31 new leads and 1 won up to then.',
      detail: '',
      facts: ['data ends 14:10, 31 new so far'],
    })
    expect(block('kpis', staleDay()).tiles.map(({ line }) => line)).toEqual(['so far', 'so far', '', ''])
  })

  it('names the day on which the data of a longer period ends', () => {
    const week = {
      ...busyWeek(),
      freshness: { ...staleDay().freshness, dataAsOf: '2026-11-18T13:10:00.000Z' },
    }
    expect(headline(week).facts).toEqual(['data ends Wed 18 Nov, 284 new so far'])
  })

  it.each([
    ['from before the day', '2026-11-19T05:00:00.000Z'],
    ['that was never read whole', null],
  ])('has lower bounds too where a sync broke off, over data %s', (_, dataAsOf) => {
    const figures = { ...staleDay(), freshness: { ...staleDay().freshness, dataAsOf } }
    expect(headline(figures)).toMatchObject({
      text: 'Only a part has been read so far: 31 new leads and 1 won.',
      facts: ['only a part read, 31 new so far'],
    })
    expect(headline(figures, { locale: 'de-DE' })).toMatchObject({
      text: 'Bisher ist nur ein Teil gelesen: 31 neue Leads und 1 gewonnen.',
      facts: ['nur ein Teil gelesen, bisher 31 neu'],
    })
  })

  it('is said in small type: until when, since when and why', () => {
    expect(block('freshness', staleDay()).lines.slice(0, 2)).toEqual([
      'Data of Fri 20 Nov, 14:10. 1 of 12 agents fails. 3 records are missing because they could not be read.',
      'The sync at 06:00 did not finish: the service could not be reached, or kept failing.',
    ])
  })

  it('is said to those too who read other blocks', () => {
    const kindsOf = (figures: ReportFigures) =>
      compose(figures, { context: { blocks: ['kpis'] } }).blocks.map(({ kind }) => kind)
    const { freshness } = busyDay()
    expect(kindsOf(busyDay())).toEqual(['kpis'])
    expect(kindsOf({ ...busyDay(), freshness: { ...freshness, coversPeriod: false } })).toEqual([
      'kpis',
      'freshness',
    ])
    expect(kindsOf({ ...busyDay(), warnings: [LATE] })).toEqual(['kpis', 'freshness'])
  })

  it('from before the day has no counts at all', () => {
    const stale = staleDay()
    const none = { current: 0, prior: 2 }
    const before = {
      ...stale,
      freshness: { ...stale.freshness, dataAsOf: '2026-11-19T05:00:00.000Z' },
      newLeads: none,
      won: none,
      byPipeline: stale.byPipeline.map((line) => ({ ...line, newLeads: 0, won: 0 })),
      bySource: stale.bySource.map((line) => ({ ...line, newLeads: 0, won: 0 })),
    }
    expect(headline(before)).toMatchObject({
      text: 'No data since Thu 19 Nov, 06:00. The numbers end there.',
      detail: '',
      facts: ['no data since Thu 19 Nov, 06:00'],
    })
    const { tiles } = block('kpis', before)
    expect(tiles.slice(0, 2).map(({ value }) => value)).toEqual(['–', '–'])
    for (const table of ['pipelines', 'sources'] as const)
      for (const { newLeads, won } of block(table, before).lines)
        expect([newLeads.value, won.value]).toEqual(['–', '–'])
  })

  it('and never did promises nothing', () => {
    const { subject, text } = renderReport(emptyDay())
    expect(subject).toBe('Daily leads, Fri 20 Nov: no data yet')
    expect(text).toContain('No data yet.')
    expect(text).not.toMatch(/Nothing needs attention|normal/)
  })
})

describe('a trend', () => {
  const busy = busyDay()

  it('is told by the mean of its last week', () => {
    expect(block('trend', busy).finding).toMatch(/^In the 7 days up to 20 Nov: \d+ new leads a day\.$/)
  })

  it('whose last days are not known says up to when it goes', () => {
    const trend = busy.trend.map((day, index) => (index < 93 ? day : { ...day, newLeads: null }))
    expect(block('trend', { ...busy, trend }).finding).toMatch(/^In the 7 days up to 17 Nov: \d+ new leads/)
  })
})

describe('data that covers the day', () => {
  it('stays calm, and says how old it is', () => {
    expect(block('freshness', busyDay()).lines).toEqual(['Data of 06:00. 1 of 12 agents fails.'])
  })

  it('says that a later sync failed, and compares all the same', () => {
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

describe('open value', () => {
  const knownOf = (current: HistoryCoverage) => {
    const figures = { ...busyDay(), known: { ...busyDay().known, value: { current, prior: current } } }
    return {
      tile: block('kpis', figures).tiles[3],
      details: block('pipelines', figures).lines.map(({ detail }) => detail),
      lines: block('freshness', figures).lines.join(' '),
      preheader: compose(figures).preheader,
    }
  }

  it('is exact where the values of all open leads are known', () => {
    const { tile, details } = knownOf({ known: 1840, of: 1840 })
    expect(tile).toMatchObject({ value: '$4.2m', line: '+$230k' })
    expect(details).toEqual(['€1.3m open', '$4.2m open'])
  })

  it('says of how many leads it is known where those are most', () => {
    const { tile, lines } = knownOf({ known: 1200, of: 1840 })
    expect(tile).toMatchObject({ value: '≈ $4.2m' })
    expect(lines).toContain('Values are known of 1,200 of 1,840 open leads.')
  })

  it('is shown nowhere where the values of most leads are not known, and neither is that', () => {
    const { tile, details, lines, preheader } = knownOf({ known: 190, of: 1840 })
    expect(tile).toMatchObject({ value: '–', line: 'not known' })
    expect(details).toEqual(['', ''])
    expect(lines).not.toContain('Values')
    expect(preheader).not.toContain('Open')
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
    expect(note).toBe('3 of 3 healthy: 2 running, 1 idle · as of 06:00')
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

describe('the leads that were won and lost', () => {
  it('are named by a day, the most valuable first', () => {
    const { title, kinds } = block('changes', busyDay())
    expect(title).toBe('Won and lost')
    expect(kinds.map(({ label, total }) => [label, total.replaceAll('\u00a0', ' ')])).toEqual([
      ['Won', '3 · $84k + €12.5k'],
      ['Lost or disqualified', '4 · $61k'],
    ])
    expect(kinds[0]?.leads.map(({ company, value }) => [company, value])[0]).toEqual([
      'Halden Marine',
      '$52k',
    ])
  })

  it('are only the won leads in a week, because dailies have named the lost ones', () => {
    const { title, kinds } = block('changes', busyWeek())
    expect(title).toBe('Won')
    expect(kinds).toMatchObject([{ label: '', total: expect.stringMatching(/^14\s· \$391k/) }])
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
      newLeads: newLeads(index),
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
    expect(view.note).toBe('Those with most new leads')
    expect(view.more).toBe('and 25 more')
    expect(
      block(
        'pipelines',
        thirty((index) => index),
        { ...monday, locale: 'de-DE' },
      ).note,
    ).toBe('Die mit den meisten neuen Leads')
  })

  it('have a colour only for a number that is unusual', () => {
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
    expect(view.note).toBe('Those with most leads')
  })

  it('of which all have room stand in order of name', () => {
    const { lines, note } = block('pipelines', busy, monday)
    expect(lines.map(({ name }) => name)).toEqual(['EU mid-market', 'US growth'])
    expect(note).toBe('')
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
      text: 'At this pace 55–68 by 30 Nov. 3.9 a day needed, 1.6 in the last 4 weeks.',
    })
    expect(lineOf({}, { locale: 'de-DE' })?.text).toMatch(/3,9 am Tag, in den letzten 4 Wochen waren es 1,6/)
  })

  it('stand in the preview where they are not on course, and only there', () => {
    const preview = (change: Partial<Pace>) => compose(pace(change)).preheader
    expect(preview({})).toMatch(/^Wins of the month: out of reach\. Win rate/)
    for (const end of [null, { low: 78, high: 90, expected: 84, record: { hits: 41, of: 50 } }])
      expect(preview({ end, perDay: 5 })).not.toContain('Wins of the month')
    expect(preview({ soFar: 80 })).not.toContain('Wins of the month')
  })

  it('say when they are reached or missed, and nothing of an end that is not known', () => {
    expect(lineOf({ soFar: 80 })?.state).toBe('reached')
    expect(lineOf({ daysLeft: 0, end: null })).toMatchObject({ state: 'missed', text: '39 short.' })
    expect(lineOf({ end: null })?.text).toBe('3.9 a day needed, 1.6 in the last 4 weeks.')
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
  const doubtful = (
    ...implausibleTimes: NonNullable<ReportFigures['freshness']['implausibleTimes']>
  ): ReportFigures => {
    const busy = day([200, 50], [3, 2])
    const pipeline = { id: busy.byPipeline[0]?.id ?? '', name: 'EU mid-market' }
    return {
      ...withInsight(judge(busy, MANY, {}, { ...MANY, pipeline }), { winRates: [HIGH_RATE] }),
      freshness: { ...busy.freshness, implausibleTimes },
    }
  }

  it('compare nothing, and neither call a number that is counted by them normal nor unusual', () => {
    expect(headline(doubtful()).text).toMatch(/^200 new leads, more than the normal 31–54/)
    const created = doubtful('created_at')
    const both = doubtful('created_at', 'status_changed_at')
    expect(headline(created)).toMatchObject({
      text: '200 new leads, 3 won.',
      facts: ['win rate 41.0% (normal 22–35%)', '200 new', '3 won'],
    })
    expect(headline(both)).toMatchObject({ text: '200 new leads, 3 won.', detail: '' })
    const lines = (figures: ReportFigures) => block('kpis', figures).tiles.map(({ line }) => line)
    expect(lines(created).slice(0, 3)).toEqual(['', 'normal 1–5', 'normal 22–35%'])
    expect(lines(both).slice(0, 3)).toEqual(['', '', ''])
    expect(block('pipelines', doubtful()).lines[0]?.newLeads.tone).toBe('good')
    expect(block('pipelines', created).lines[0]?.newLeads.tone).toBe('neutral')
  })

  it.each([
    [
      'en-GB',
      doubtful('created_at', 'status_changed_at'),
      'The times at which leads were created and changed their status cannot be right; what is counted by them is doubtful.',
    ],
    [
      'de-DE',
      doubtful('status_changed_at'),
      'Die Zeiten, zu denen Leads ihren Status änderten, können nicht stimmen; was danach gezählt wird, ist fraglich.',
    ],
  ])('are said in small type, in %s', (locale, figures, sentence) => {
    expect(block('freshness', figures, { locale }).lines).toContain(sentence)
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
  })

  it('before the first lead says that none is known of then, and nothing of today', () => {
    const none = { current: 0, prior: 0 }
    const before = { ...past, leads: 0, newLeads: none, won: none, byPipeline: [] }
    const view = compose(before, making)
    expect(view.blocks.map(({ kind }) => kind)).toEqual(['headline', 'freshness'])
    expect(headline(before, making)).toMatchObject({
      text: 'No leads are known of this time; all came later.',
      detail: '',
      facts: ['no leads'],
    })
    expect(headline(before, { ...making, locale: 'de-DE' }).text).toBe(
      'Aus dieser Zeit sind keine Leads bekannt; alle kamen später.',
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
      'und 30.271 weitere, davon 997 in stalled.xlsx',
    )
  })

  it('names no database, and leads to the dashboard only where it can be reached', () => {
    expect(more(30, 30, {})).toBe('and 27 more')
    expect(more(30, 30, { locale: 'de-DE' })).toBe('und 27 weitere')
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
    expect(compose(busyDay()).preheader).toBe('Win rate, 30 d: 23.7%; Open: $4.2m.')
  })
})

describe('the recipient', () => {
  it('is named at the end of a mail, and not in the archive', () => {
    expect(renderReport(busyDay()).text).toMatch(/^Sent to dana@example\.com\.$/m)
    expect(renderReport(busyDay(), { context: { recipient: null } }).text).not.toContain('Sent to')
  })
})

describe('a week', () => {
  const monday: Making = { now: '2026-11-23T05:04:00.000Z' }

  it('is named by its number and days, and compared with the week before', () => {
    const { text, detail, period, scope } = headline(busyWeek(), monday)
    expect(text).toBe('284 new leads, 14 won, $391k + €58k.')
    expect(detail).toBe('The week before: 301 new leads, 11 won.')
    expect(period).toMatch(/^Week 47 · 16\s?–\s?22 November 2026$/)
    expect(scope).toBe('only country Germany or Austria and score 60 or more')
    expect(renderReport(busyWeek(), monday).subject).toBe('Daily leads, week 47: 284 new, 14 won')
  })

  it('in German has every word in German', () => {
    const { subject, text } = renderReport(busyWeek(), { ...monday, locale: 'de-DE' })
    expect(subject).toBe('Daily leads, KW 47: 284 neu, 14 gewonnen')
    expect(text).toContain('284 neue Leads, 14 gewonnen, ')
    expect(text).not.toMatch(/\b(?:new|won|open|since|leads? with|agents?)\b/)
  })
})

/** The words of a report, state by state. The files in `golden/` have the whole of it; `vitest -u` renews them. */
import { describe, expect, it } from 'vitest'
import { Document, isScalar, visit } from 'yaml'
import { BLOCKS, type BlockName } from '../../src/domain/choices.ts'
import type { LateWarning, ReportFigures, ReportWarning } from '../../src/domain/figures.ts'
import type { Expectation, Insight, JudgedWinRate, Pace } from '../../src/domain/insight.ts'
import type { PipelineLine } from '../../src/domain/lists.ts'
import type { composeReport } from '../../src/report/compose-report.ts'
import { compose, type Making, REPORTS, renderReport, wordsOf } from '../support/report.ts'
import { busyDay, busyWeek, dayWithProblems, emptyDay, staleDay } from '../support/reports/figures.ts'
import { expectation, GOAL, NORMAL_RATE } from '../support/reports/mornings.ts'

type Kind = ReturnType<typeof composeReport>['blocks'][number]['kind']
type Doubtful = NonNullable<ReportFigures['freshness']['implausibleTimes']>
type State = readonly [figures: ReportFigures, making?: Making | undefined]

/** Compares what the blocks of these kinds say in each state with the golden file of the subject. */
async function expectGolden(
  subject: string,
  kinds: readonly Kind[],
  states: Readonly<Record<string, State>>,
): Promise<void> {
  const told = Object.entries(states).map(([name, [figures, making]]) => {
    const { subjectLine, preheader, blocks } = compose(figures, making)
    const shown = blocks.filter(({ kind }) => kinds.includes(kind))
    return [name, { subjectLine, preheader, blocks: shown }]
  })
  const document = new Document(Object.fromEntries(told), (_, value) => (value === '' ? undefined : value))
  visit(document, {
    Map: (_, map) => void Object.assign(map, { flow: map.items.every(({ value }) => isScalar(value)) }),
    Seq: (_, list) => void Object.assign(list, { flow: list.items.every(isScalar) }),
  })
  const text = document.toString({ lineWidth: 0 })
  await expect(text).toMatchFileSnapshot(`golden/${subject}.yaml`)
}
const NOTHING_TO_DO = {
  lastUnusual: {},
  drivers: [],
  winRates: [],
  pace: [],
  today: { total: 0, value: [], byOwner: [], rows: [] },
  oldLeads: null,
  notes: [],
}
const MONDAY: Making = { now: '2026-11-23T05:04:00.000Z' }
const GERMAN: Making = { locale: 'de-DE' }
/** Returns every number with its separators, such as `3,912`, `23.7` and `06:00`. */
const numbersIn = (text: string) => new Set(text.match(/\d(?:[\d,.:]*\d)?/g))

describe.each([
  ['en-GB', 'en'],
  ['de-DE', 'de'],
])('the whole mail, %s', (locale, language) => {
  it.each(REPORTS)(
    'of a report that is $name, with the same numbers in HTML and text',
    async ({ name, figures, making }) => {
      const { html, text, subject } = renderReport(figures, { ...making, locale })
      const { preheader } = compose(figures, { ...making, locale })
      await expect(`${subject}\n${preheader}\n\n${text}`).toMatchFileSnapshot(
        `golden/mails/${name}-${language}.txt`,
      )
      const [alt = ''] = /alt="[^"]*"/.exec(html) ?? []
      expect(numbersIn(`${wordsOf(html)} ${alt}`)).toEqual(numbersIn(text.replace(/\s+/g, ' ')))
      expect([...numbersIn(wordsOf(html))]).toEqual(expect.arrayContaining([...numbersIn(subject)]))
    },
  )
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
      expectation('new_leads', figures.newLeads.current, [31, 42.5, 54], changes[0]),
      expectation('won', figures.won.current, [1, 3, 5], changes[1]),
      ...changes.slice(2).map((each) => expectation('new_leads', 3, [9, 15, 21], each)),
    ],
  })
/** Changes of the pipelines that are judged, each of which has a name of its own. */
const teams = (...changes: readonly Partial<Expectation>[]) =>
  changes.map((change, index) => ({ pipeline: { id: `pl_${index}`, name: `Team ${index}` }, ...change }))
const withInsight = (figures: ReportFigures, insight: Partial<Insight>): ReportFigures => ({
  ...figures,
  insight: { ...NOTHING_TO_DO, expectations: [], ...figures.insight, ...insight },
})
const FEW: Partial<Expectation> = { judgement: 'low' }
const MANY: Partial<Expectation> = { judgement: 'high' }
const MARKET = { pipeline: { id: 'pl_2', name: 'EU mid-market' } }
const LEARNING = { judgement: 'learning', range: null, periods: { known: 3, needed: 8 } } as const
const SHIFT = { since: '2026-11-16', days: 5, actual: 130, expected: 200.4, isNew: true }
const HIGH_RATE: JudgedWinRate = {
  ...NORMAL_RATE,
  won: 41,
  decided: 100,
  judgement: 'high',
  range: { low: 22, high: 35 },
  expected: 0.28,
}
const LASTING = { shift: { ...SHIFT, isNew: false } }

it('the headline says how the numbers lie to their normal ranges', async () => {
  const rated = (change: Partial<JudgedWinRate>) =>
    withInsight(judge(day([42, 50], [3, 2])), { winRates: [{ ...HIGH_RATE, ...change }] })
  const driver = {
    figure: 'new_leads',
    actual: 18,
    expected: 42,
    dimension: 'source',
    parts: [{ name: 'crawl', actual: 2, expected: 22.6, difference: -20 }],
    rest: -4,
  } as const
  const low = judge(day([18, 50], [3, 2]), FEW, {}, { ...FEW, ...MARKET })
  const lowIn = (...changes: readonly Partial<Expectation>[]) =>
    judge(day([18, 50], [3, 2]), FEW, {}, ...teams(...changes))
  /** More than was expected of it. */
  const above = { actual: 20 }
  const left = { judgement: 'left_out', range: null, expected: null } as const
  const campaign = { firstDay: '2026-11-19', lastDay: '2026-11-20', text: 'campaign', isLeftOut: true }
  const notes = [
    { ...campaign, firstDay: '2026-11-02', lastDay: '2026-11-02', pipeline: null },
    { ...campaign, pipeline: MARKET.pipeline },
  ]
  const leftOut = withInsight(judge(day([120, 50], [3, 2]), left, left), { notes })
  const normal = judge(day([42, 50], [3, 2]))
  const learning = judge(day([42, 50], [3, 2]), LEARNING, LEARNING)
  await expectGolden('headline', ['headline', 'kpis', 'drivers'], {
    'not judged': [day([59, 50], [3, 2])],
    'not judged, few': [day([1, 0], [0, 0])],
    'not judged, none': [day([0, 2], [0, 0])],
    'all normal': [normal],
    'at the ends of the ranges': [judge(day([31, 50], [5, 2]))],
    'nothing ever won': [judge(day([42, 50], [0, 0]), {}, LEARNING)],
    'a first win, which nothing shows to be normal': [judge(day([42, 50], [1, 0]), {}, LEARNING)],
    'outside one range by chance': [judge(day([28, 50], [3, 2]))],
    'outside both ranges by chance': [judge(day([60, 50], [6, 2]))],
    'few new leads': [judge(day([18, 50], [3, 2]), FEW)],
    'few new leads for the third day': [judge(day([18, 50], [3, 2]), { ...FEW, inARow: 3 })],
    'few new leads, and wins outside by chance': [judge(day([18, 50], [6, 2]), FEW)],
    'many wins': [judge(day([42, 50], [9, 2]), {}, MANY)],
    'neither leads nor wins': [judge(day([0, 50], [0, 2]), FEW, FEW)],
    'normal but for one pipeline': [judge(day([42, 50], [3, 2]), {}, {}, { ...FEW, ...MARKET })],
    'few leads for days': [judge(day([35, 50], [3, 2]), { shift: SHIFT }, {}, { shift: SHIFT, ...MARKET })],
    'few leads for days, told before': [judge(day([35, 50], [3, 2]), LASTING, {}, { ...LASTING, ...MARKET })],
    'many wins while leads are few for days': [judge(day([35, 50], [9, 2]), LASTING, MANY)],
    'wins with their worth': [judge({ ...day([42, 50], [3, 2]), wonValue: busyDay().wonValue })],
    'an unusual win rate': [rated({})],
    'a win rate of 20 % that is normal': [rated({ won: 20, judgement: 'normal' })],
    'a day that is left out': [leftOut],
    'a note, and nothing judged': [withInsight(leftOut, { expectations: [] })],
    'a source that makes most of the difference': [withInsight(low, { drivers: [driver] })],
    'a source that makes a part of the difference': [
      withInsight(low, {
        drivers: [
          { ...driver, parts: [{ name: 'crawl', actual: 2, expected: 9, difference: -7 }], rest: -17 },
        ],
      }),
    ],
    'low in one of two pipelines': [lowIn(FEW, above)],
    'low in five of six': [lowIn(FEW, FEW, FEW, FEW, FEW, above)],
    'low in all': [lowIn(FEW, FEW)],
    learning: [learning],
    'a service without leads': [{ ...emptyDay(), freshness: busyDay().freshness }],
  })
})

it('pipelines that are unusual are named, and the others called normal where they are known to be', async () => {
  const ofPipelines = (...changes: readonly Partial<Expectation>[]): State => [
    judge(day([42, 50], [3, 2]), {}, {}, ...teams(...changes)),
  ]
  await expectGolden('unusual', ['unusual'], {
    'one of three': ofPipelines(FEW, {}, {}),
    'low for days': ofPipelines({ shift: SHIFT }, {}),
    four: ofPipelines(FEW, FEW, FEW, FEW),
    'another has no range yet': ofPipelines(FEW, {}, LEARNING),
    'another has been low for days': ofPipelines(FEW, {}, LASTING),
  })
})

it('the record says how often the ranges were right; with fewer than sixty, those of past periods count', async () => {
  const record = (of: number, making?: Making): State => [
    withInsight(judge(day([42, 50], [3, 2])), { publishedRecord: { hits: of - 4, of } }),
    making,
  ]
  await expectGolden('record', ['record'], { 59: record(59), 60: record(60), 1260: record(1260, GERMAN) })
})

it('the all-clear is given where everything that could need attention is known and well, and otherwise not', async () => {
  const well = (): ReportFigures => ({
    ...judge(day([42, 50], [3, 2])),
    stalled: { days: 14, coverage: { known: 1840, of: 1840 }, total: 0, rows: [] },
  })
  const calm = well()
  const fresh = (change: Partial<ReportFigures['freshness']>): State => [
    { ...calm, freshness: { ...calm.freshness, ...change } },
  ]
  const stalled = (change: Partial<ReportFigures['stalled']>): State => [
    { ...calm, stalled: { ...calm.stalled, ...change } },
  ]
  const goal = (soFar: number): State => {
    const goal = { name: 'Leads', target: 1000, owner: null }
    const pace = { ...GOAL, lastDay: '2026-11-20', perDay: 20, daysLeft: 0, end: null, soFar, goal }
    return [withInsight(calm, { pace: [pace] })]
  }
  await expectGolden('all-clear', ['today'], {
    'all is well': [calm],
    'a goal was reached': goal(1000),
    'nothing was judged': [{ ...calm, insight: null }],
    'a goal was missed': goal(496),
    'a number is unusual': [judge(well(), FEW)],
    'a lead is stalled': stalled({ total: 1 }),
    'stalled leads are not known': stalled({ coverage: { known: 9, of: 10 } }),
    'the last sync failed': fresh({ lastFailure: staleDay().freshness.lastFailure }),
    'the data ends before the day': fresh({ coversPeriod: false }),
    'records are quarantined': fresh({ quarantinedRecords: 1 }),
    'times are doubtful': fresh({ implausibleTimes: ['created_at'] }),
    'a part failed': [{ ...calm, failed: dayWithProblems().failed }],
    'leads are missing': [{ ...calm, warnings: dayWithProblems().warnings }],
    'no lead is known': [{ ...calm, leads: 0 }],
  })
})

it('data that does not cover the day makes counts lower bounds, and compares nothing', async () => {
  const stale = staleDay()
  const endingAt = (dataAsOf: string | null) => ({ ...stale, freshness: { ...stale.freshness, dataAsOf } })
  const none = { current: 0, prior: 2 }
  await expectGolden('stale', ['headline', 'kpis', 'pipelines', 'sources', 'freshness'], {
    'ends in a week': [
      { ...busyWeek(), freshness: { ...stale.freshness, dataAsOf: '2026-11-18T13:10:00.000Z' } },
    ],
    'a part read, over data from before the day': [endingAt('2026-11-19T05:00:00.000Z')],
    'a part read, over nothing, in German': [endingAt(null), GERMAN],
    'ends before the day': [
      {
        ...endingAt('2026-11-19T05:00:00.000Z'),
        newLeads: none,
        won: none,
        byPipeline: stale.byPipeline.map((line) => ({ ...line, newLeads: 0, won: 0 })),
        bySource: stale.bySource.map((line) => ({ ...line, newLeads: 0, won: 0 })),
      },
    ],
  })
})

it('small type says how old the data are, what failed, and what is doubtful, to those too who read other blocks', async () => {
  const busy = busyDay()
  const { freshness } = busy
  const at = '2026-11-21T05:02:00.000Z'
  const failure = { at, code: 'api_unauthorized', message: 'http://10.0.0.7 said 401' }
  const failing = Array.from({ length: 6 }, () => busy.agents.rows.slice(-1)).flat()
  const fresh = (change: Partial<typeof freshness>) => ({ ...busy, freshness: { ...freshness, ...change } })
  const doubtful = (...implausibleTimes: Doubtful) => fresh({ implausibleTimes })
  const failed = ['sources', 'stalled'].map((block) => ({ block, query: null, message: 'no such column: x' }))
  const only = (...blocks: readonly BlockName[]): Making => ({ context: { blocks } })
  await expectGolden('freshness', ['freshness', 'kpis'], {
    'a later sync failed': [fresh({ lastFailure: failure })],
    'six agents fail': [{ ...busy, agents: { ...busy.agents, rows: failing } }],
    'doubtful times': [doubtful('created_at', 'status_changed_at')],
    'doubtful changes, in German': [doubtful('status_changed_at'), GERMAN],
    'all well, to who reads other blocks': [busy, only('kpis')],
    'data that end before the day, to who reads other blocks': [fresh({ coversPeriod: false }), only('kpis')],
    'late, to who reads other blocks': [
      { ...busy, warnings: dayWithProblems().warnings.slice(0, 1) },
      only('kpis'),
    ],
    'a part failed, to who would miss it': [{ ...busy, failed }, only('freshness', 'today')],
    'a part failed, to who would not': [{ ...busy, failed }, only('freshness', 'trend')],
  })
})

it('warnings stand in small type, and leads that are missing are the headline', async () => {
  const busy = busyDay()
  const at = '2026-11-20T13:10:00.000Z'
  const old = { ...busy, freshness: { ...busy.freshness, statsAsOf: at, agentsAsOf: at } }
  const without = BLOCKS.filter((name) => name !== 'funnel' && name !== 'service_stats')
  const warned = (warning: ReportWarning, making?: Making): State => [
    { ...busy, warnings: [warning] },
    making,
  ]
  const late = (why: LateWarning['why'], to = '2026-11-21T08:10:00.000Z') =>
    warned({ kind: 'late', from: '2026-11-21T05:55:00.000Z', to, why })
  const periods = [17, 18].map((date) => ({
    from: `2026-11-${date - 1}T23:00:00.000Z`,
    to: `2026-11-${date}T23:00:00.000Z`,
    timeZone: 'Europe/Vienna',
  }))
  const none = { kind: 'unusual', what: 'scope', was: 3010, is: 0 } as const
  const resend = (reason: string | null): State => {
    const times = { at: '2026-11-21T08:30:00.000Z', first: '2026-11-21T06:00:00.000Z' }
    return [busy, { context: { resend: { ...times, reason } } }]
  }
  await expectGolden('warnings', ['headline', 'freshness'], {
    'old statistics and agents': [old],
    'old statistics, to who is not shown them': [old, { context: { blocks: without } }],
    'late: down': late('down'),
    'late: down for days': late('down', '2026-11-23T08:10:00.000Z'),
    'late: blocked': late('blocked'),
    'late: waited': late('waited'),
    'late: the clock': late('clock'),
    missed: warned({ kind: 'missed', periods }),
    'sent again': resend(null),
    'sent again, with the reason': resend('the filter was\nwrong'),
    'no leads any more': warned(none),
  })
})

it('open value is exact, of a part, or not shown, as the values of leads are known', async () => {
  const knownOf = (known: number): State => {
    const current = { known, of: 1840 }
    return [{ ...busyDay(), known: { ...busyDay().known, value: { current, prior: current } } }]
  }
  await expectGolden('open-value', ['kpis', 'pipelines', 'freshness'], {
    'of all leads': knownOf(1840),
    'of most leads': knownOf(1200),
    'of few leads': knownOf(190),
  })
})

it('numbers too small for percentages are given as counts, and a stay that is not known has no column', async () => {
  const busy = busyDay()
  const few = [
    { status: 'discovered', reached: 8, conversion: null, medianDays: 0.44 },
    { status: 'enriched', reached: 3, conversion: 3 / 8, medianDays: 12.4 },
    { status: 'won', reached: 0, conversion: 0, medianDays: null },
  ]
  const noStay = busy.funnel.stages.map((stage) => ({ ...stage, medianDays: null }))
  const unknown = { ...busy, funnel: { ...busy.funnel, stages: noStay } }
  await expectGolden('small-numbers', ['kpis', 'funnel'], {
    'few leads in the funnel': [{ ...busy, funnel: { ...busy.funnel, stages: few } }],
    'no stay is known': [unknown],
  })
  const { html, text } = renderReport(unknown)
  const [head = ''] = /<tr>[^\n]*>Reached<.*?<\/tr>/.exec(html) ?? []
  expect(head.match(/<t[hd]/g)).toHaveLength(4)
  expect(text).toMatch(/^Discovered +[\d,]+ +–$/m)
})

it('agents that are well are counted, and the others shown as what they are', async () => {
  const busy = busyDay()
  const withStatuses = (...statuses: string[]): State => {
    const rows = statuses.flatMap((status) =>
      busy.agents.rows.slice(0, 1).map((each) => ({ ...each, status, name: status })),
    )
    return [{ ...busy, agents: { ...busy.agents, rows } }]
  }
  await expectGolden('agents', ['agents', 'freshness'], {
    'all well': withStatuses('running', 'running', 'idle'),
    'paused, unknown here, failing': withStatuses('running', 'paused', 'rate_limited', 'ERROR'),
  })
})

it('of thirty pipelines those with most are shown, and a colour is for unusual numbers', async () => {
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
  const pipeline = { id: 'pl_1', name: '' }
  const judged = (judgement: 'high' | 'low'): ReportFigures => {
    const figures = thirty((index) => index)
    const expectations = [
      expectation('new_leads', 42, [31, 42.5, 54]),
      expectation('new_leads', 1, [1, 4, 7], { pipeline }),
      expectation('won', 3, [0, 1, 2], { pipeline, judgement }),
    ]
    return withInsight({ ...figures, byPipeline: figures.byPipeline.slice(0, 2) }, { expectations })
  }
  await expectGolden('pipelines', ['pipelines'], {
    thirty: [thirty((index) => (index * 7) % 30), MONDAY],
    'thirty without a new lead': [thirty(() => 0), MONDAY],
    'many wins in one': [judged('high'), MONDAY],
    'few wins in one': [judged('low'), MONDAY],
  })
})

it('goals say the way so far, the expected end and what is needed, and stand in the preview off course', async () => {
  const pace = (change: Partial<Pace> = {}, making?: Making): State => [
    withInsight(
      { ...busyDay(), insight: null },
      {
        pace: [
          {
            ...GOAL,
            figure: 'won',
            goal: { name: 'Wins of the month', target: 80, owner: 'Ana' },
            soFar: 41,
            perDay: 1.6,
            end: { low: 55, high: 68, expected: 61.2, record: { hits: 41, of: 50 } },
            ...change,
          },
        ],
      },
    ),
    making,
  ]
  await expectGolden('goals', ['goals'], {
    'out of reach': pace(),
    'on course': pace({ end: { low: 78, high: 90, expected: 84, record: { hits: 41, of: 50 } }, perDay: 5 }),
    reached: pace({ soFar: 80 }),
    missed: pace({ daysLeft: 0, end: null }),
    'no end known': pace({ end: null }),
    'no end known of a value': pace({ figure: 'won_value', currency: 'EUR', end: null }),
  })
})

it('leads to act on today are listed with the reason, and a week says how many leads are old', async () => {
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
  const withToday = (figures: ReportFigures, old: typeof oldLeads, rows: typeof leads): ReportFigures =>
    withInsight(
      { ...figures, insight: null },
      {
        today: { total: rows.length, value: [], byOwner: [{ owner: null, leads: rows.length }], rows },
        oldLeads: old,
      },
    )
  const few = { ...oldLeads, old: 3 }
  await expectGolden('today', ['today'], {
    'in a week': [withToday(busyWeek(), oldLeads, leads), MONDAY],
    'on a day': [withToday(busy, oldLeads, leads)],
    'none, and few are old': [withToday(busyWeek(), few, []), MONDAY],
  })
})

it('numbers that are counted by doubtful times are neither compared nor called normal or unusual', async () => {
  const doubtful = (...implausibleTimes: Doubtful): State => {
    const busy = day([200, 50], [3, 2])
    const pipeline = { id: busy.byPipeline[0]?.id ?? '', name: 'EU mid-market' }
    const judged = judge(busy, MANY, {}, { ...MANY, pipeline })
    return [
      {
        ...withInsight(judged, { winRates: [HIGH_RATE] }),
        freshness: { ...busy.freshness, implausibleTimes },
      },
    ]
  }
  await expectGolden('uncertain-times', ['headline', 'kpis', 'pipelines'], {
    none: doubtful(),
    'of creation': doubtful('created_at'),
    'of creation and of changes': doubtful('created_at', 'status_changed_at'),
  })
})

it('a report of a day long past says what is not known of then, and shows nothing of today', async () => {
  const busy = busyDay()
  const asOf = '2026-12-20T05:00:00.000Z'
  const making: Making = { now: '2026-12-20T05:04:00.000Z' }
  const past: ReportFigures = {
    ...busy,
    freshness: { ...busy.freshness, dataAsOf: asOf, agentsAsOf: asOf, statsAsOf: asOf },
    agents: { ...busy.agents, asOf, rows: [] },
    serviceStats: busy.serviceStats.map((line) => ({ ...line, asOf })),
  }
  const none = { current: 0, prior: 0 }
  const before = { ...past, leads: 0, newLeads: none, won: none, byPipeline: [] }
  await expectGolden('past', ['headline', 'agents', 'service_stats', 'freshness'], {
    'a month later': [past, making],
    'before the first lead': [before, making],
    'no leads yet': [{ ...before, freshness: busy.freshness }],
  })
  expect(compose(before, making).blocks.map(({ kind }) => kind)).toEqual(['headline', 'freshness'])
})

it('a list tells how much it leaves out, and leads there only where the dashboard can be reached', async () => {
  const { stalled, ...busy } = busyDay()
  const stalledOf = (total: number, kept: number): ReportFigures => {
    return { ...busy, stalled: { ...stalled, total, rows: Array(kept).fill(stalled.rows[0]) } }
  }
  const attached = { context: { attached: new Map([['stalled', 'stalled.xlsx']]) } }
  await expectGolden('left-out', ['stalled'], {
    'of 30': [stalledOf(30, 30)],
    'of 30 in a file': [stalledOf(30, 30), attached],
    'of 30,274, a thousand in a file': [stalledOf(30_274, 1000), attached],
    'of 30,274, a thousand in a file, in German': [stalledOf(30_274, 1000), { ...attached, ...GERMAN }],
  })
  const moreUrl = 'https://reports.example.com/archive?report=daily'
  const { html } = renderReport(stalledOf(30, 30), { context: { moreUrl } })
  expect(html).toMatch(
    /<a [^>]*href="https:\/\/reports\.example\.com\/archive\?report[^"]*daily"[^>]*>and 27 more<\/a>/,
  )
  expect(renderReport(stalledOf(30, 30)).html).not.toMatch(/<a [^>]*>and 27 more/)
})

it('the recipient is named at the end of a mail, and not in the archive', () => {
  expect(renderReport(busyDay()).text).toMatch(/^Sent to dana@example\.com\.$/m)
  expect(renderReport(busyDay(), { context: { recipient: null } }).text).not.toContain('Sent to')
})

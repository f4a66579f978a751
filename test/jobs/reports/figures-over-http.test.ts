// @long
/**
 * A report's numbers equal those that the service tells over HTTP, or the report says from which part of the
 * leads they are. The test counts only from GET /leads and GET /leads/:id.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { PeriodKind, ReportFigures } from '../../../src/domain/figures.ts'
import type { HistoryCoverage } from '../../../src/domain/model.ts'
import { daysUpTo, periodOf, priorOf } from '../../../src/domain/period.ts'
import { KNOWN_SHARE_MIN } from '../../../src/report/context.ts'
import { openService } from '../../../src/service/open.ts'
import type { FigureName } from '../../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readCoverages, readFigures, readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { folderWith } from '../../support/folder.ts'
import { compose } from '../../support/report.ts'
import { openSyncing } from '../../support/syncing.ts'

const COMPANIES = fileURLToPath(new URL('../../../data/companies.ndjson', import.meta.url))
const ZONE = 'Europe/Berlin'
const DAY_MS = 86_400_000
const STALLED_DAYS = 3
/** Far fewer leads than have moved, so that the past of only some is known. */
const FEW = 150
const FIRST_SYNC = new Date('2026-11-18T09:00:00Z')
const SECOND_SYNC = new Date('2026-11-24T09:00:00Z')
/** At the end of a day, so that all values at that time are known. */
const THIRD_SYNC = new Date('2026-11-24T23:00:00Z')
const FOURTH_SYNC = new Date('2026-11-25T09:00:00Z')

/** Reports, each made at a time about the period before it. */
const BEFORE: readonly [PeriodKind, string][] = [
  ['day', '2026-10-22T06:00:00Z'],
  ['day', '2026-11-18T09:00:00Z'],
  ['week', '2026-11-02T06:00:00Z'],
  ['week', '2026-11-18T09:00:00Z'],
  ['month', '2026-11-18T09:00:00Z'],
]
const AFTER: readonly [PeriodKind, string][] = [
  ['day', '2026-11-20T06:00:00Z'],
  ['day', '2026-11-24T09:00:00Z'],
  ['week', '2026-11-24T09:00:00Z'],
]
const LAST: readonly [PeriodKind, string][] = [['day', '2026-11-25T09:00:00Z']]

const FUNNEL = ['discovered', 'enriched', 'qualified', 'contacted', 'replied', 'meeting', 'won']
const CLOSED = ['won', 'lost', 'disqualified']
/**
 * These figures could only miss reopened leads. The service reopens none, so they are complete, although the
 * copy cannot know it.
 */
const NEVER_REOPENED = [...CLOSED, 'open']

interface Entry {
  readonly at: string
  readonly to_status: string | null
}
/** A lead of the service with its whole activity in order of time. */
interface AnsweredLead {
  readonly id: string
  readonly created_at: string
  readonly activity: readonly Entry[]
}

interface Listed {
  readonly id: string
  readonly status: string
  readonly value: { readonly amount: number } | null
}

type Ask = (path: string) => Promise<unknown>

async function listAll(ask: Ask, since: Date): Promise<Listed[]> {
  const leads: Listed[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const list = (await ask(
      `/leads?limit=100&updated_since=${since.toISOString()}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )) as {
      data: Listed[]
      page: { next_cursor: string | null }
    }
    leads.push(...list.data)
    cursor = list.page.next_cursor
  }
  return leads
}

/** Reads every lead that changed since, and the activity of each. */
async function askAll(ask: Ask, since: Date): Promise<AnsweredLead[]> {
  const ids = (await listAll(ask, since)).map(({ id }) => id)
  const answered: AnsweredLead[] = []
  for (let from = 0; from < ids.length; from += 16) {
    const answers = await Promise.all(ids.slice(from, from + 16).map((id) => ask(`/leads/${id}`)))
    answered.push(...(answers as AnsweredLead[]))
  }
  return answered.map((lead) => ({
    ...lead,
    activity: lead.activity.toSorted((a, b) => (a.at < b.at ? -1 : 1)),
  }))
}

const entriesOf = ({ activity }: AnsweredLead) => activity.filter(({ to_status }) => to_status !== null)
const statusAt = (lead: AnsweredLead, at: string) =>
  entriesOf(lead).findLast((entry) => entry.at < at)?.to_status ?? ''
const placeOf = (status: string) => FUNNEL.indexOf(status)
const isOpen = (lead: AnsweredLead, at: string) => !CLOSED.includes(statusAt(lead, at))

/** Counts the true figures of a period from the activity of all leads. */
function countTruth(leads: readonly AnsweredLead[], { from, to }: { from: string; to: string }) {
  const there = leads.filter((lead) => lead.created_at < to)
  const count = (has: (lead: AnsweredLead) => boolean) => there.filter(has).length
  const within = (at: string) => at >= from && at < to
  const created = (lead: AnsweredLead) => within(lead.created_at)
  const before = (lead: AnsweredLead) => statusAt(lead, from) || entriesOf(lead)[0]?.to_status || ''
  const cameTo = (lead: AnsweredLead, statuses: readonly string[]) =>
    statuses.includes(statusAt(lead, to)) && within(entriesOf(lead).findLast(({ at }) => at < to)?.at ?? '')
  const moved = (lead: AnsweredLead, way: number) =>
    isOpen(lead, to) && Math.sign(placeOf(statusAt(lead, to)) - placeOf(before(lead))) === way
  const limit = new Date(Date.parse(to) - STALLED_DAYS * DAY_MS).toISOString()
  return {
    leads: there.length,
    new_leads: count(created),
    won: count((lead) => cameTo(lead, ['won'])),
    lost: count((lead) => cameTo(lead, ['lost'])),
    disqualified: count((lead) => cameTo(lead, ['disqualified'])),
    open: count((lead) => isOpen(lead, to)),
    qualified: count((lead) => {
      const first = entriesOf(lead).find(({ to_status }) => placeOf(to_status ?? '') >= placeOf('qualified'))
      return within(first?.at ?? '')
    }),
    cohort_conversion: count((lead) => created(lead) && statusAt(lead, to) === 'won'),
    stalled: count(
      (lead) => isOpen(lead, to) && (lead.activity.findLast(({ at }) => at < to)?.at ?? '') <= limit,
    ),
    forward: count((lead) => moved(lead, 1)),
    back: count((lead) => moved(lead, -1)),
  }
}

/** Counts the leads that had come at least as far as a status by an instant. */
function countReached(leads: readonly AnsweredLead[], status: string, to: string): number {
  const places = leads.map((lead) =>
    Math.max(
      -1,
      ...entriesOf(lead).flatMap(({ at, to_status }) => (at < to ? [placeOf(to_status ?? '')] : [])),
    ),
  )
  return places.filter((place) => place >= placeOf(status)).length
}

/** Returns the median days of the stays in a status that ended in a period. */
function medianDays(
  leads: readonly AnsweredLead[],
  status: string,
  { from, to }: { from: string; to: string },
) {
  const days = leads.flatMap((lead) =>
    entriesOf(lead).flatMap((entry, index, all) => {
      const end = all[index + 1]?.at ?? ''
      const isMeant = entry.to_status === status && end >= from && end < to
      return isMeant ? [(Date.parse(end) - Date.parse(entry.at)) / DAY_MS] : []
    }),
  )
  const sorted = days.toSorted((a, b) => a - b)
  const [low, high] = [Math.floor((days.length - 1) / 2), Math.floor(days.length / 2)]
  return ((sorted[low] ?? Number.NaN) + (sorted[high] ?? Number.NaN)) / 2
}

function requestOf(kind: PeriodKind, at: string) {
  const period = periodOf(kind, new Date(at), ZONE, { holidays: [], lastEnd: null })
  return {
    kind,
    period,
    prior: priorOf(kind, period),
    filter: EVERY_LEAD,
    stalledDays: STALLED_DAYS,
    topScore: 80,
    rowsMax: 10,
    since: null,
    trendDays: daysUpTo(period.to, 96, ZONE),
  }
}

type Truth = ReturnType<typeof countTruth>

const numberIn = (text: string): number => Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', '') ?? 0)

/** Checks that each printed number is true, or that the mail says of how many leads the numbers are. */
function expectPrinted(figures: ReportFigures, truth: Truth, prior: Truth, values: Values): void {
  const { block } = compose(figures, { now: figures.freshness.dataAsOf ?? '' })
  const { kpis, changes, stalled, freshness } = block as unknown as Printed
  const expectTold = (counted: number | undefined, count: number | undefined, name: string): void => {
    if (counted !== count) expect(freshness.lines[0], `${name} ${count}`).toMatch(/known of [\d,]+ of/)
  }
  const [newLeads, won] = kpis.tiles.map(({ value }) => numberIn(value))
  expect([newLeads, won]).toEqual([truth.new_leads, truth.won])
  const { status, value } = figures.known
  const known = [undefined, status.prior, status.prior, value.prior]
  const lines = kpis.tiles.map(({ line }, place) => {
    const { known: count, of } = known[place] ?? { known: 1, of: 1 }
    const isCompared = line !== '' && line !== 'not known'
    if (count < of * KNOWN_SHARE_MIN) expect(isCompared, `known for ${count} of ${of}`).toBe(false)
    return isCompared ? line : ''
  })
  for (const [place, count] of [prior.new_leads, prior.won].entries()) {
    const [line = '', current = 0] = [lines[place], [newLeads, won][place]]
    if (line !== '') expectTold(current - differenceIn(line), count, `before: ${line}`)
  }
  const { current, prior: before } = figures.openValue
  const open = kpis.tiles[3]?.value
  if (value.current.known < value.current.of * KNOWN_SHARE_MIN) expect(open).toBe('–')
  else if (current[0]?.amount !== values.now) expect(open, `open value ${values.now}`).toMatch(/^≈ /)
  if (lines[3] !== '') expectTold(before[0]?.amount, values.before, 'open value before')
  // A week or a month has the won leads alone, without a heading.
  const wanted = { Won: truth.won, 'Lost or disqualified': truth.lost + truth.disqualified }
  for (const [label, count] of Object.entries(wanted)) {
    if (figures.kind !== 'day' && label !== 'Won') continue
    const kind = changes?.kinds.find((each) => each.label === (figures.kind === 'day' ? label : ''))
    expectTold(kind === undefined ? 0 : numberIn(kind.total), count, label)
  }
  const { known: ofStalled, of } = figures.stalled.coverage
  if (ofStalled < of * KNOWN_SHARE_MIN) expect(stalled).toBeUndefined()
  else if ((stalled === undefined ? 0 : numberIn(stalled.title)) !== truth.stalled)
    expect(stalled?.title, `stalled ${truth.stalled}`).toMatch(/^At least/)
}

/** Returns the number that a change such as `+9 (+18%)` or `−3` tells; 0 for `no change`. */
function differenceIn(line: string): number {
  const size = numberIn(line)
  return line.startsWith('−') ? -size : size
}

/**
 * The values of the leads that were open at the end of the period and of the one before, as the service told
 * them then.
 */
interface Values {
  readonly now: number | undefined
  readonly before: number | undefined
}

interface Printed {
  readonly kpis: { readonly tiles: readonly { readonly value: string; readonly line: string }[] }
  readonly freshness: { readonly lines: readonly [string] }
  /** Absent without a won or lost lead. */
  readonly changes?: { readonly kinds: readonly { readonly label: string; readonly total: string }[] }
  /** Absent without a stalled lead. */
  readonly stalled?: { readonly title: string }
}

describe('the figures of a seeded service over HTTP', () => {
  it('are what its own activity says, or say of how many leads they are made', async () => {
    const moments = [...BEFORE, ...AFTER, ...LAST].flatMap(([kind, at]) => {
      const { period, prior } = requestOf(kind, at)
      return [prior.to, period.to]
    })
    const first = moments.toSorted()[0] ?? ''
    let nowMs = Date.parse(first)
    await using service = await openService({
      file: join(folderWith(), 'service.db'),
      companiesFile: COMPANIES,
      seed: 1,
      historyDays: 5,
      rateLimitPerMinute: 1_000_000,
      now: () => nowMs,
    })
    const key = await service.createKey({ name: 'test', scope: 'read' })
    const ask = async (path: string): Promise<unknown> => {
      const answer = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
      expect(answer.status, path).toBe(200)
      return answer.json()
    }
    await using syncing = await openSyncing(service.url, key)
    const partial: string[] = []
    let [wholeValues, ownFunnels] = [0, 0]

    /** The values of the open leads by the end of a period. */
    const openValues = new Map<string, number>()
    /** Moves on to an instant, and asks for the values at the ends of periods on the way. */
    async function goTo(at: Date) {
      for (const end of [...new Set(moments)].toSorted().map((moment) => new Date(moment))) {
        if (end > at || openValues.has(end.toISOString())) continue
        nowMs = end.getTime()
        await service.catchUp()
        const open = (await listAll(ask, new Date(0))).filter(({ status }) => !CLOSED.includes(status))
        const value = open.reduce((sum, lead) => sum + (lead.value?.amount ?? 0), 0)
        openValues.set(end.toISOString(), value)
      }
      nowMs = at.getTime()
      await service.catchUp()
    }

    async function expectPeriods(
      periods: readonly [PeriodKind, string][],
      leads: readonly AnsweredLead[],
      isAll: boolean,
    ) {
      for (const [kind, at] of periods) {
        const request = requestOf(kind, at)
        const { period, prior } = request
        const [truth, truthBefore] = [countTruth(leads, period), countTruth(leads, prior)]
        const figures = await readReportFigures(syncing.store.db, request)
        const values = { now: openValues.get(period.to), before: openValues.get(prior.to) }
        expectPrinted(figures, truth, truthBefore, values)
        const scope = { ...request, ...period }
        const [read] = await readFigures(syncing.store.db, [scope])
        const [coverages] = await readCoverages(syncing.store.db, [scope])
        for (const [name, count] of Object.entries(truth)) {
          if (name === 'forward' || name === 'back') continue
          const [row] = read?.get(name as FigureName) ?? []
          const coverage = coverages?.get(name as FigureName)
          const isWhole = coverage === undefined || coverage.known === coverage.of
          if (isWhole || NEVER_REOPENED.includes(name))
            expect(row?.part ?? row?.value, `${kind} ${at} ${name}`).toBe(count)
          if (!isWhole) partial.push(name)
          // Erased leads can no longer be read. Whether a lead stood still then is known only if it was read since.
          if (isAll && !isWhole && name !== 'stalled')
            expect(coverage.of - coverage.known, `${kind} ${at} ${name}`).toBeLessThan(3)
        }
        const valued = coverages?.get('open_value')
        if (valued?.known === valued?.of) {
          expect(read?.get('open_value')?.[0]?.value, `${kind} ${at}`).toBe(values.now)
          wholeValues += 1
        }
        // The numbers count at most what is true, and at least the known leads.
        const { funnel, changes } = figures
        const ofKnown = (counted: number, count: number, { known, of }: HistoryCoverage, name: string) => {
          expect(counted, `${kind} ${at} ${name}`).toBeLessThanOrEqual(count)
          expect(counted, `${kind} ${at} ${name}`).toBeGreaterThanOrEqual(count - (of - known))
        }
        for (const way of ['forward', 'back'] as const)
          ofKnown(
            changes.kinds.find((each) => each.kind === way)?.total ?? 0,
            truth[way],
            changes.coverage,
            way,
          )
        for (const { status, reached } of funnel.coverage === null ? [] : funnel.stages)
          ofKnown(
            reached,
            countReached(leads, status, period.to),
            funnel.coverage ?? changes.coverage,
            status,
          )
        if (funnel.coverage !== null) ownFunnels += 1
        const days = coverages?.get('time_in_stage')
        for (const { of: status, value } of read?.get('time_in_stage') ?? []) {
          if (days?.known === days?.of)
            expect(value, `${at} ${status}`).toBeCloseTo(medianDays(leads, status ?? '', period), 1)
        }
      }
    }

    const details = (perRun: number) => ({ perRun, concurrency: 8 })
    async function syncAt(at: Date, perRun: number) {
      await goTo(at)
      syncing.clock.now = at
      expect((await syncing.sync({ pageSize: 500, details: details(perRun) })).outcome).toBe('ok')
    }

    await syncAt(FIRST_SYNC, FEW)
    const answered = await askAll(ask, new Date(0))
    await expectPeriods(BEFORE, answered, false)
    await syncAt(SECOND_SYNC, FEW)
    const since = await askAll(ask, FIRST_SYNC)
    const leads = [...new Map([...answered, ...since].map((lead) => [lead.id, lead])).values()]
    await expectPeriods([...BEFORE, ...AFTER], leads, false)
    expect(new Set(partial)).toEqual(
      new Set([...NEVER_REOPENED, 'qualified', 'cohort_conversion', 'stalled']),
    )
    await syncAt(SECOND_SYNC, 1_000_000)
    await expectPeriods([...BEFORE, ...AFTER], leads, true)
    await syncAt(THIRD_SYNC, 1_000_000)
    await syncAt(FOURTH_SYNC, 1_000_000)
    const last = await askAll(ask, SECOND_SYNC)
    await expectPeriods(LAST, [...new Map([...leads, ...last].map((lead) => [lead.id, lead])).values()], true)
    expect(wholeValues).toBe(1)
    expect(ownFunnels).toBeGreaterThan(BEFORE.length)
  })
})

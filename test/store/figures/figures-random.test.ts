import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { COVERAGES } from '../../../src/store/figures/coverage.ts'
import type { CoverageName, FigureName } from '../../../src/store/figures/definition.ts'
import { REACHED } from '../../../src/store/figures/funnel.ts'
import { type FigureScope, readFigure, readRows } from '../../../src/store/figures/query.ts'
import { saveLeads } from '../../../src/store/leads/lead.ts'
import { recordDeletions } from '../../../src/store/leads/lead-version.ts'
import { loadPast, type Past, type PastLead, sumOf } from '../../support/data/past.ts'
import { random } from '../../support/random.ts'
import { lead, observedAt, openEmptyStore, STAGES, save } from '../../support/store.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const DAY_MS = 86_400_000
const START = Date.parse('2026-11-01T00:00:00Z')
const DAYS = 40
const LEADS = 40
const PERIODS = 12
const STATUSES = [...STAGES.map((stage) => stage.status), 'on_hold']

type Next = () => number

const pick = <T>(next: Next, of: readonly T[]): T => of[Math.floor(next() * of.length)] as T
const day = (days: number): string => new Date(START + Math.round(days * DAY_MS)).toISOString()

/** Plays the days: some leads change, a few go or come back, and everything new is read in the evening. */
async function liveThrough(store: Store, next: Next): Promise<void> {
  const leads = new Map<string, Lead>()
  const past: Lead[] = []
  const gone = new Set<string>()
  for (let today = 0; today < DAYS; today++) {
    const evening = day(today + 1)
    const changed: Lead[] = []
    for (let number = 0; number < LEADS; number++) {
      if (next() > 0.15) continue
      const before = leads.get(`${number}`)
      const at = day(today + next())
      const status = before && next() < 0.4 ? before.status : pick(next, STATUSES)
      const now = lead(`${number}`, {
        ...before,
        status,
        statusChangedAt: before?.status === status ? before.statusChangedAt : at,
        pipelineId: before?.pipelineId ?? pick(next, ['p1', 'p2']),
        createdAt: next() < 0.95 && before ? before.createdAt : day(today + next() - 3),
        score: Math.floor(next() * 3),
        valueAmount: next() < 0.2 ? null : Math.floor(next() * 100),
        valueCurrency: pick(next, ['EUR', 'USD', null]),
        updatedAt: at,
      })
      leads.set(now.id, now)
      gone.delete(now.id)
      changed.push(now)
    }
    // A few leads are set back to an earlier record by a full scan.
    const back = past.filter(({ id }) => next() < 0.01 && !changed.some((each) => each.id === id))
    const setBack = [...new Map(back.map((each) => [each.id, each])).values()]
    for (const each of setBack) {
      leads.set(each.id, each)
      gone.delete(each.id)
    }
    await store.write((trx) => saveLeads(trx, setBack, observedAt(evening), 'list'))
    past.push(...changed)
    await save(store, changed, evening)
    const going = [...leads.keys()].filter((id) => !gone.has(id) && next() < 0.02)
    await store.write(async (trx) => {
      for (const id of going) {
        await trx.updateTable('lead').set({ deleted_at: evening }).where('id', '=', id).execute()
        gone.add(id)
      }
      await recordDeletions(trx, going, observedAt(evening))
    })
  }
  // This lead is created after the end of every period, so it counts in none, and some periods ended long before.
  const [createdAt, arrivedAt] = [day(DAYS + 11), day(DAYS + 12)]
  const last = lead('last', { createdAt, statusChangedAt: createdAt, updatedAt: createdAt })
  await save(store, [last], arrivedAt)
}

function randomScope(next: Next): FigureScope {
  const from = next() * DAYS
  const to = from + next() * 10
  return {
    from: day(from),
    to: day(to),
    filter: {
      pipelineIds: pick(next, [null, ['p2'], ['p1', 'p2']]),
      conditions: pick(next, [
        [],
        [{ field: 'score', min: 1, max: null }],
        [{ field: 'status', in: ['new', 'won'] }],
      ]),
    },
    stalledDays: 3,
  }
}

/** The figures and coverages of a scope, counted one lead after another. */
function plainFigures(past: Past, chosen: ReadonlySet<string>, scope: FigureScope) {
  const { from, to, filter } = scope
  const isIn = ({ id, pipelineId }: Pick<PastLead, 'id' | 'pipelineId'>) =>
    chosen.has(id) && (filter.pipelineIds?.includes(pipelineId) ?? true)
  const there = past.at(to).filter(isIn)
  const before = past.at(from).filter(isIn)
  const created = there.filter((lead) => lead.createdAt >= from && lead.createdAt < to)
  const open = there.filter((lead) => lead.outcome === 'open')
  const closed = (outcome: string, since = from) =>
    there.filter((lead) => lead.outcome === outcome && lead.since >= since)
  const recent = day((Date.parse(to) - START) / DAY_MS - 30)
  const stalledSince = day((Date.parse(to) - START) / DAY_MS - scope.stalledDays)
  const money = (leads: readonly PastLead[]) =>
    sumOf(leads.map((lead) => lead.value)).map(({ amount, currency }) => ({
      of: currency,
      value: amount,
      part: null,
      whole: null,
    }))
  const number = (value: number) => [{ of: null, value, part: null, whole: null }]
  const share = (part: number, whole: number) => [
    { of: null, value: whole === 0 ? null : part / whole, part, whole },
  ]
  const covered = (leads: readonly PastLead[], isKnown: (lead: PastLead) => boolean) => [
    { known: leads.filter(isKnown).length, of: leads.length },
  ]
  const figures: Partial<Record<FigureName, unknown>> = {
    leads: number(there.length),
    new_leads: number(created.length),
    won: number(closed('won').length),
    lost: number(closed('lost').length),
    disqualified: number(closed('disqualified').length),
    won_value: money(closed('won')),
    win_rate: share(
      closed('won', recent).length,
      closed('won', recent).length + closed('lost', recent).length,
    ),
    period_conversion: share(closed('won').length, created.length),
    cohort_conversion: share(created.filter(({ outcome }) => outcome === 'won').length, created.length),
    open: number(open.length),
    open_value: money(open),
    stalled: number(open.filter((lead) => lead.isKnown && lead.changedAt <= stalledSince).length),
  }
  const isLate = ({ createdAt, firstAt, isTraced }: Pick<PastLead, 'createdAt' | 'firstAt' | 'isTraced'>) =>
    Date.parse(firstAt) - Date.parse(createdAt) > 60_000 && !isTraced
  const unknown =
    before.filter((lead) => lead.status === null && isLate(lead)).length +
    past.leads.filter((lead) => isIn(lead) && isLate(lead) && lead.createdAt >= from && lead.createdAt < to)
      .length
  const coverages: Record<CoverageName, unknown> = {
    period: [
      {
        known: Math.max(0, before.length + created.length - unknown),
        of: before.length + created.length,
      },
    ],
    end: covered(there, ({ status, ...lead }) => status !== null || !isLate(lead)),
    cohort: covered(created, ({ status, isTraced }) => status !== null || isTraced),
    life: covered(there, ({ reached }) => reached !== null),
    value: covered(open, ({ isKnown }) => isKnown),
    stalled: covered(open, ({ isKnown, createdAt }) => isKnown || createdAt > stalledSince),
    won_value: covered(closed('won'), ({ isKnown }) => isKnown),
  }
  const furthest = there.flatMap(({ reached }) => reached ?? [])
  const funnel = STAGES.filter(({ inFunnel }) => inFunnel && furthest.length > 0).map(
    ({ status, position }) => ({ status, reached: furthest.filter((each) => each >= position).length }),
  )
  return { figures, coverages, funnel }
}

describe(`random pasts (SEED=${SEED})`, () => {
  it('give each figure the same from the counts of days as from one lead after another', async () => {
    const next = random(SEED)
    await using store = await openEmptyStore()
    await liveThrough(store, next)
    const past = await loadPast(store.db)
    const trx = { db: store.db, tempTables: new Map() }
    for (let round = 0; round < PERIODS; round++) {
      const scope = randomScope(next)
      const chosen = await readRows<{ lead_id: string }>(
        trx,
        scope.filter.conditions.length > 0
          ? { reads: ['chosen'], sql: 'SELECT lead_id FROM chosen' }
          : { reads: [], sql: 'SELECT id AS lead_id FROM lead' },
        scope,
      )
      const plain = plainFigures(past, new Set(chosen.map((row) => row.lead_id)), scope)
      for (const [name, expected] of Object.entries(plain.figures))
        expect(
          await readFigure(store.db, name as FigureName, scope),
          `${name} ${JSON.stringify(scope)}`,
        ).toEqual(expected)
      for (const [name, expected] of Object.entries(plain.coverages))
        expect(
          await readRows(trx, COVERAGES[name as CoverageName], scope),
          `coverage ${name} ${JSON.stringify(scope)}`,
        ).toEqual(expected)
      expect(await readRows(trx, REACHED, scope), JSON.stringify(scope)).toEqual(plain.funnel)
    }
  })
})

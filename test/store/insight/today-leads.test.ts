// @both-stores
/** The leads on which a person should act today, with their reasons. */
import { expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { type FigureScope, inReadTransaction } from '../../../src/store/figures/query.ts'
import { readStalled } from '../../../src/store/figures/report-lists.ts'
import { fillFilteredLeads } from '../../../src/store/figures/temp-tables.ts'
import { readTodayLeads } from '../../../src/store/insight/today-leads.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { lead, openEmptyStore, STAGES, save } from '../../support/store.ts'

/** The report about 19 November in Berlin ends then. */
const END = '2026-11-19T23:00:00.000Z'
const SCOPE = {
  from: '2026-11-18T23:00:00.000Z',
  to: END,
  timeZone: 'Europe/Berlin',
  filter: EVERY_LEAD,
  stalledDays: 14,
}
const ago = (days: number): string => new Date(Date.parse(END) - days * 86_400_000).toISOString()
const closing = (at: string) => ({ expectedCloseAt: `2026-11-${at}:00.000Z` })
const passed = { expectedCloseAt: ago(3) }
const worth = (valueAmount: number, valueCurrency = 'EUR') => ({ valueAmount, valueCurrency })
const high = (days: number, score: number | null = 80) => ({ createdAt: ago(days), score })

/** The statuses of each lead, and for how many days up to the end of the report it has been in them. */
const LEADS: Readonly<Record<string, readonly [string, Partial<Lead>?]>> = {
  'to close on the day before': ['new 2', closing('18T00:00')],
  'to close on the day': ['new 2', closing('19T00:00')],
  'to close at its last minute': ['new 2', closing('19T22:59')],
  'to close as the next begins in Berlin': ['new 2', closing('19T23:00')],
  'to close on the next day': ['new 2', closing('20T00:00')],
  'to close a minute into the next by UTC': ['new 2', closing('20T00:01')],
  'to close, but won': ['won 2', passed],
  'to close, but lost': ['lost 2', passed],
  'to close, but disqualified': ['disqualified 2', passed],
  'to close, but gone': ['new 2', passed],
  'to close, without a stage': ['odd 2', passed],
  'new for 9 days': ['new 9'],
  'new for 12 days': ['new 12'],
  'new for 20 days': ['new 20'],
  'new for 25 days': ['new 25'],
  'new for 26 days': ['new 26'],
  'new for 28 days': ['new 28'],
  'new for 29 days': ['new 29'],
  'contacted for half a day': ['contacted 0.5', worth(5)],
  'contacted for 2 days': ['contacted 2', { ...worth(10.1), owner: 'Ana' }],
  'contacted for 13.9 days': ['contacted 13.9', { ...worth(500.2), owner: 'Ana' }],
  'contacted for 14.1 days': ['contacted 14.1', worth(7)],
  'of another pipeline': ['contacted 2', { pipelineId: 'p2', owner: 'Tom', ...worth(900, 'AUD') }],
  'without an amount': ['contacted 2', { valueCurrency: 'EUR', owner: 'Tom' }],
  'lost and back': ['contacted 39, lost 20.5, contacted 0.9'],
  'disqualified and back': ['contacted 39, disqualified 9, new 6.9'],
  'back twice': ['lost 30, new 6, lost 5, new 1'],
  'back long ago': ['contacted 39, lost 20, new 7.1'],
  'lost again': ['contacted 39, lost 20, contacted 3, lost 1'],
  'won once': ['won 39, new 3'],
  'back later': ['lost 20, contacted -0.1'],
  'with a high score': ['new 3', high(3)],
  'with a lower score': ['new 3', high(3, 79)],
  'without a score': ['new 3', high(3, null)],
  'with a high score for long': ['new 3', high(14.1)],
  'with a high score later': ['new -0.1', high(-0.1)],
  'with a high score, but contacted': ['contacted 0.3', high(3)],
  'with a high score, and set back': ['contacted 4, new 3', high(5)],
  'for all reasons': ['lost 12.5, new 12', { ...high(12, 90), ...passed }],
  'stalling, back, with a high score': ['lost 12.5, new 12', high(12, 90)],
  'back, with a high score': ['lost 6.5, new 6', high(12, 90)],
}

async function saveLives(store: Store): Promise<void> {
  for (const [id, [moves, change]] of Object.entries(LEADS)) {
    for (const [status = '', days] of moves.split(', ').map((move) => move.split(' '))) {
      const since = ago(Number(days))
      const dates = { createdAt: ago(40), statusChangedAt: since, updatedAt: since }
      await save(store, [lead(id, { ...dates, status, ...change })])
    }
  }
  await store.write((trx) =>
    trx.updateTable('lead').where('id', '=', 'to close, but gone').set({ deleted_at: END }).execute(),
  )
}

interface Asked {
  readonly scope?: Partial<FigureScope>
  readonly thresholds?: Readonly<Record<string, number | null>>
  readonly rowsMax?: number
}

async function today(store: Store, { scope = {}, thresholds = {}, rowsMax = 50 }: Asked = {}) {
  const asked = { ...SCOPE, ...scope }
  const limits = Object.entries(thresholds).map(([status, days]) => [status, { days, winners: 300 }] as const)
  const options = { thresholds: new Map(limits), horizonDays: 3, topScore: 80, rowsMax }
  return inReadTransaction(store.db, async (trx) =>
    readTodayLeads(await fillFilteredLeads(trx, asked), asked, options),
  )
}

const owners = (...names: string[]) => [{ field: 'owner', in: names }]

it('the leads of today are told once, with their first reason, the most valuable first', async () => {
  await using store = await openEmptyStore()
  await saveLives(store)
  const asked: Record<string, Asked> = {
    'by the stays of winners': { thresholds: { new: 28.5, contacted: 1 } },
    'by the days of the settings': { thresholds: { new: null } },
    'over thirty days': { scope: { from: ago(30) } },
    // There a date lasts until midnight.
    'in New York': { scope: { timeZone: 'America/New_York', to: '2026-11-20T05:00:00.000Z' } },
    'of Ana and Tom': {
      thresholds: { contacted: 1 },
      scope: { filter: { pipelineIds: null, conditions: owners('Ana', 'Tom') } },
    },
    'of Tom in one pipeline': {
      thresholds: { contacted: 1 },
      scope: { filter: { pipelineIds: ['p2'], conditions: owners('Tom', 'ana') } },
    },
    'two of all': { thresholds: { new: 28.5, contacted: 1 }, rowsMax: 2 },
  }
  const told: string[] = []
  for (const [name, of] of Object.entries(asked)) {
    const { rows, ...all } = await today(store, of)
    told.push(`${name}: ${JSON.stringify(all)}`)
    for (const { lead, why } of rows) {
      const { kind, ...reason } = why
      told.push(`  ${lead.id}, ${JSON.stringify(lead.value)}: ${kind} ${JSON.stringify(reason)}`)
    }
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/today.txt')
  const { rows } = await inReadTransaction(store.db, async (trx) => readStalled(trx, SCOPE, 50))
  expect(rows.map(({ id }) => id)).toContain('contacted for 14.1 days')
  expect(rows.map(({ id }) => id)).not.toContain('contacted for 13.9 days')
})

it.each([
  [
    ['neu', 'geprüft', 'kontaktiert'],
    ['neu', 'geprüft'],
  ],
  [['contact form', 'demo', 'offer'], ['contact form']],
])('a lead in the stages %j is not contacted in %j', async (funnel, uncontacted) => {
  await using store = await openEmptyStore()
  const open = funnel.map((status, position) => ({ ...STAGES[0], status, position }))
  await store.write((trx) => saveStages(trx, [...open, { ...STAGES[2], position: 9 }]))
  const dates = { createdAt: ago(2), updatedAt: ago(2), statusChangedAt: ago(2) }
  await save(
    store,
    funnel.map((status) => lead(status, { status, score: 99, ...dates })),
  )
  const { rows } = await today(store)
  expect(rows.map(({ lead: { id } }) => id).toSorted()).toEqual(uncontacted.toSorted())
})

/** The meaning of each figure, shown by small pasts, each in a pipeline of its own. */
import { CompiledQuery } from 'kysely'
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import type { FigureName } from '../../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { explainFigure, type FigureScope, readFigure } from '../../../src/store/figures/query.ts'
import { readCoverages } from '../../../src/store/figures/report-figures.ts'
import { lead, openEmptyStore, save, saveActivity } from '../../support/store.ts'

/** A week in UTC. */
const WEEK: FigureScope = {
  from: '2026-11-14T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  filter: EVERY_LEAD,
  stalledDays: 7,
}

/** Returns noon of a day in November. */
const noon = (day: number): string => `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`

/**
 * The statuses of leads from a day on, such as `2 new, 15 won`, and the figures of the week that they show. A lead is
 * created on the 1st, or with its first status where that is marked by `*`.
 */
const PASTS: Readonly<Record<string, readonly [readonly FigureName[], readonly string[]]>> = {
  'a lead is qualified when it first comes into a qualified stage, and never again': [
    ['qualified'],
    [
      ...['2 new, 15 contacted', '2 new, 10 contacted, 12 new, 16 contacted', '2 new, 15 contacted, 16 lost'],
      ...['2 new, 21 contacted', '2 new, 17 won', '2 new, 17 lost'],
    ],
  ],
  'and not on the day from which on it is known, unless it was as new then': [
    ['qualified'],
    ['17 won', '*17 won'],
  ],
  'leads count as closed for the period in which they were, if they still are at its end': [
    ['won', 'lost', 'disqualified'],
    [
      ...['2 new, 15 won', '2 new, 15 won, 16 contacted', '2 new, 15 won, 22 contacted'],
      ...['2 won, 15 contacted, 18 won', '2 new, 15 lost', '2 new, 15 disqualified'],
    ],
  ],
  'with the value that they had at the end of the period': [
    ['won_value'],
    ['2 new 10 EUR, 15 won 10 EUR, 23 won 99 EUR'],
  ],
  'conversion is of leads won and created in it by period, and of those created in it by cohort': [
    ['period_conversion', 'cohort_conversion'],
    ['2 new, 15 won', '*15 new, 16 won', '*15 new, 22 won'],
  ],
  'it is empty without a new lead': [['period_conversion', 'cohort_conversion'], ['2 new, 15 won']],
  'the time in a stage is the median of the stays that ended in the period': [
    ['time_in_stage'],
    ['2 new, 15 contacted, 17 lost', '4 new, 16 contacted', '6 new, 22 contacted'],
  ],
  'the velocity is open leads x win rate x mean value won / median days to winning: 2 x 1/2 x 100 EUR / 10': [
    ['velocity'],
    ['*5 new 100 EUR', '*5 new 100 EUR', '*5 new 100 EUR, 15 won 100 EUR', '*5 new 100 EUR, 15 lost 100 EUR'],
  ],
  'and empty where nothing was won': [['velocity'], ['5 new 100 EUR']],
  'a lead stood still then, though it has moved since': [['stalled'], ['2 new, 22 contacted']],
}

async function saveLife(store: Store, id: string, pipelineId: string, life: string): Promise<void> {
  const createdAt = noon(life.startsWith('*') ? Number.parseInt(life.slice(1), 10) : 1)
  let last = ['', '']
  for (const step of life.replace('*', '').split(', ')) {
    const [day = '', status = '', amount, valueCurrency = null] = step.split(' ')
    const at = noon(Number(day))
    if (status !== last[0]) last = [status, at]
    const value = { valueAmount: amount === undefined ? null : Number(amount), valueCurrency }
    const dates = { createdAt, updatedAt: at, statusChangedAt: last[1] ?? at }
    await save(store, [lead(id, { pipelineId, status, ...value, ...dates })], at)
  }
}

it('each figure is what small pasts show', async () => {
  await using store = await openEmptyStore()
  const told: string[] = []
  for (const [pipelineId, [figures, lives]] of Object.entries(PASTS)) {
    for (const [index, life] of lives.entries())
      await saveLife(store, `${pipelineId} ${index}`, pipelineId, life)
    const scope = { ...WEEK, filter: { pipelineIds: [pipelineId], conditions: [] } }
    told.push(pipelineId)
    for (const name of figures) {
      const rows = await readFigure(store.db, name, scope)
      told.push(`  ${name}: ${rows.map((row) => Object.values(row).join(' ')).join(', ')}`)
    }
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/figures.txt')
  await store.write((trx) => trx.updateTable('stage').set({ is_qualified: 0 }).execute())
  expect(await readFigure(store.db, 'qualified', WEEK)).toMatchObject([{ value: null }])
})

async function stalled(store: Store, scope: Partial<FigureScope> = {}) {
  const asked = { ...WEEK, ...scope }
  const [row] = await readFigure(store.db, 'stalled', asked)
  const [coverages] = await readCoverages(store.db, [asked])
  return [row?.value, coverages?.get('stalled')]
}

it('leads that stalled on a past day are those without activity in the days before it, as far as is known', async () => {
  await using store = await openEmptyStore()
  await saveLife(store, '1', 'p1', '2 new, 22 contacted')
  expect(await stalled(store)).toEqual([1, { known: 1, of: 1 }])
  expect(await stalled(store, { from: noon(22), to: noon(24) })).toEqual([0, { known: 1, of: 1 }])
  const act = (...days: number[]) => {
    const entries = days.map((day) => ({ id: `${day}`, at: noon(day) }))
    return saveActivity(store, '1', entries, noon(24))
  }
  await act(2, 22)
  expect(await stalled(store)).toEqual([1, { known: 1, of: 1 }])
  await act(19)
  expect(await stalled(store)).toEqual([0, { known: 1, of: 1 }])
  const changed = { createdAt: noon(1), updatedAt: noon(24), statusChangedAt: noon(2) }
  await save(store, [lead('first read after a later change', changed)], noon(25))
  expect(await stalled(store)).toEqual([0, { known: 1, of: 2 }])
})

it('the history of leads is known of a lead for a period from which on each of its statuses is', async () => {
  await using store = await openEmptyStore()
  const old = { createdAt: noon(1) }
  await save(store, [
    lead('still', { ...old, updatedAt: noon(2), statusChangedAt: old.createdAt }),
    lead('moved before', { ...old, status: 'contacted', updatedAt: noon(16), statusChangedAt: noon(10) }),
    lead('moved in it', { ...old, status: 'contacted', updatedAt: noon(16), statusChangedAt: noon(16) }),
    lead('won after it', { ...old, status: 'won', updatedAt: noon(22), statusChangedAt: noon(22) }),
    lead('as new', { createdAt: noon(15), status: 'won', updatedAt: noon(16), statusChangedAt: noon(16) }),
    lead('read since', { ...old, status: 'new', updatedAt: noon(2), statusChangedAt: noon(2) }),
  ])
  const won = { ...old, status: 'won', updatedAt: noon(17), statusChangedAt: noon(17) }
  await save(store, [lead('read since', won)])
  const [coverages] = await readCoverages(store.db, [WEEK])
  const told = [...(coverages ?? [])].map(([name, { known, of }]) => `${name}: ${known} of ${of}\n`)
  await expect(told.join('')).toMatchFileSnapshot('golden/coverage.txt')
})

it('the SQL that is shown has values quoted that would end a text', async () => {
  await using store = await openEmptyStore()
  const filter = { ...EVERY_LEAD, pipelineIds: ["p'); DROP TABLE lead; --"] }
  const shown = explainFigure('new_leads', { ...WEEK, filter })
  const { rows } = await store.db.executeQuery(CompiledQuery.raw(shown))
  expect(rows).toEqual([{ value: 0 }])
  expect(await store.db.selectFrom('lead').select('id').execute()).toEqual([])
})

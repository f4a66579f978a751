// @both-stores
/** The changes that a report tells, for lives of leads that are written as days, by what the last issue knew. */
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { inReadTransaction } from '../../../src/store/figures/query.ts'
import { readChanges } from '../../../src/store/figures/report-lists.ts'
import { recordDeletions } from '../../../src/store/leads/lead-version.ts'
import { lead, observedAt, openEmptyStore, save } from '../../support/store.ts'

/** Returns an instant of November: `1.5` is noon of the first. */
const day = (days: number): string =>
  new Date(Date.UTC(2026, 9, 31) + Math.round(days * 86_400_000)).toISOString()

/** The statuses of each lead from a day on, such as `9-12 won 70 EUR` if that was only read on the 12th. */
const LIVES: Readonly<Record<string, string>> = {
  'won in it': '1 new, 12 won 50.25 EUR',
  'won, for more': '1 new, 12 won 70 EUR',
  'won, for dollars': '1 new, 12 won 900 USD',
  'won, for nothing known': '1 new, 12 won',
  'won before, and read then': '1 new, 9 won',
  'won before, and read in it': '1 new, 9-12 won',
  'won before the last issue, and read in it': '1 new, 7-12 won',
  'won after it': '1 new, 16 won',
  'won at its end': '1 new, 15 won',
  'won at its start': '1 new, 10 won',
  'won in it, worth more later': '1 new, 12 won 10 EUR, 16 won 99 EUR',
  'won again': '1 new, 5 won, 11 contacted, 12 won',
  'updated since it was won': '1 new, 5 won, 12 won 5 EUR',
  'two steps': '1 new, 11 contacted, 12 won',
  'one step': '1 new, 12 contacted',
  'one step before, read in it': '1 new, 9-12 contacted',
  'one step, read after it': '1 new, 12-16 contacted',
  'there and back': '1 new, 11 contacted, 12 new',
  'back from winning': '1 new, 5 won, 12 contacted',
  'back one step': '1 contacted, 12 new',
  'out of the funnel': '1 new, 12 on_hold',
  'into the funnel': '1 on_hold, 12 new',
  'beside the funnel': '1 on_hold, 12 elsewhere',
  'lost in it': '1 contacted, 12 lost 8 EUR',
  'disqualified in it': '1 new, 12 disqualified',
  'reopened in it': '1 lost, 12 new',
  'gone in it': '1 contacted, 12 gone',
  'gone before': '1 new, 8 gone',
  'won and gone': '1 new, 11 won, 12 gone',
  'back again': '1 new, 8 gone, 12 new',
  'back again as won': '1 new, 8 gone, 12 won',
  'gone and back in it': '1 new, 11 gone, 12 contacted',
  'new in it': '12 new',
  'new and won in it': '11 new, 12 won',
  'first seen as won': '12 won',
}

const LAST = [null, { at: day(10), knownAt: day(10.25) }, { at: day(8), knownAt: day(8.25) }]

async function liveThrough(store: Store): Promise<void> {
  const events = Object.entries(LIVES).flatMap(([id, life]) => {
    const first = Number.parseFloat(life)
    return life.split(', ').map((step) => {
      const [days = '', status = '', amount, valueCurrency = null] = step.split(' ')
      const [changed = 0, read = changed] = days.split('-').map(Number)
      return { id, first, changed, read, status, amount, valueCurrency }
    })
  })
  const since = new Map<string, [string, string]>()
  for (const { id, first, changed, read, status, amount, valueCurrency } of events.toSorted(
    (a, b) => a.read - b.read,
  )) {
    if (status === 'gone') {
      await store.write(async (trx) => {
        await trx
          .updateTable('lead')
          .set({ deleted_at: day(read) })
          .where('id', '=', id)
          .execute()
        await recordDeletions(trx, [id], observedAt(day(read)))
      })
      continue
    }
    if (since.get(id)?.[0] !== status) since.set(id, [status, day(changed)])
    const of = {
      status,
      createdAt: day(first),
      updatedAt: day(changed),
      statusChangedAt: since.get(id)?.[1] ?? null,
      valueAmount: amount === undefined ? null : Number(amount),
      valueCurrency,
    }
    await save(store, [lead(id, of)], day(read + 0.1))
  }
}

it('the changes of a report are told once a lead, by what it came to since what the last issue knew', async () => {
  await using store = await openEmptyStore()
  await liveThrough(store)
  const told: string[] = []
  for (const last of LAST) {
    const scope = { from: day(10), to: day(15), filter: EVERY_LEAD, stalledDays: 7 }
    const { since, coverage, kinds } = await inReadTransaction(store.db, (trx) =>
      readChanges(trx, scope, last, 1000),
    )
    told.push(`${last ? `after an issue of ${last.at}` : 'without an issue'}: since ${since}`)
    told.push(`${coverage.known} of ${coverage.of} known`)
    for (const { kind, total, value, rows } of kinds) {
      told.push(`  ${kind}: ${total}, ${value.map((of) => `${of.amount} ${of.currency}`).join(' and ')}`)
      for (const row of rows) {
        const worth = row.value ? ` with ${row.value.amount} ${row.value.currency}` : ''
        told.push(`    ${row.id}: ${row.fromStatus} to ${row.toStatus} at ${row.at}${worth}`)
      }
    }
    const { kinds: cut } = await inReadTransaction(store.db, (trx) => readChanges(trx, scope, last, 2))
    expect(cut).toEqual(kinds.map((each) => ({ ...each, rows: each.rows.slice(0, 2) })))
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/changes.txt')
})

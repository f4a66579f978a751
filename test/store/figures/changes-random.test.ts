// @both-stores
/**
 * Random pasts: the changes in a report equal those of a plain search through everything that was ever read.
 */
import { expect, it } from 'vitest'
import type { ChangeKind } from '../../../src/domain/lists.ts'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { inReadTransaction } from '../../../src/store/figures/query.ts'
import { type LastReported, readChanges } from '../../../src/store/figures/report-lists.ts'
import { changeLead, DAY_MS, day, saveLate } from '../../support/data/random-past.ts'
import { random } from '../../support/random.ts'
import { deleteLeads, openEmptyStore, STAGES, save } from '../../support/store.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const DAYS = 30
const LEADS = 60
const SPANS = 60

/** Later than every instant, so that no issue came before. */
const NEVER = '~'

type Next = () => number

/** Everything that was ever read of a lead, and the times when it was gone. */
interface Life {
  readonly samples: Reading[]
  readonly absences: { readonly from: string; to: string | null }[]
}

interface Reading {
  readonly status: string
  readonly changedAt: string
  /** The start of the state, or of the lead's presence. */
  readonly from: string
  readonly readAt: string
  readonly amount: number | null
  readonly currency: string
}

/**
 * Plays the days: some leads change, and most of that is read in the evening, the rest later. A few go for
 * some days.
 */
async function liveThrough(store: Store, next: Next): Promise<Map<string, Life>> {
  const upstream = new Map<string, Lead>()
  const unread = new Set<string>()
  const lives = new Map<string, Life>()
  for (let today = 0; today < DAYS; today++) {
    const evening = day(today + 1)
    for (let number = 0; number < LEADS; number++) {
      if (next() > 0.2) continue
      const changed = changeLead(next, `${number}`, upstream.get(`${number}`), today)
      upstream.set(changed.id, changed)
      unread.add(changed.id)
    }
    const arriving = [...upstream.values()].filter(({ id }) => unread.has(id) && next() < 0.8)
    await save(store, arriving, evening)
    for (const one of arriving) {
      unread.delete(one.id)
      noteReading(lives, one, evening)
    }
    const going = [...lives].filter(
      ([id, { absences }]) =>
        !arriving.some((one) => one.id === id) && absences.at(-1)?.to !== null && next() < 0.05,
    )
    const ids = going.map(([id]) => id)
    await deleteLeads(store, ids, evening)
    for (const [, { absences }] of going) absences.push({ from: evening, to: null })
  }
  await saveLate(store, DAYS)
  return lives
}

function noteReading(lives: Map<string, Life>, read: Lead, readAt: string): void {
  const life = lives.get(read.id) ?? { samples: [], absences: [] }
  const changedAt = read.statusChangedAt ?? ''
  const absence = life.absences.at(-1)
  if (absence?.to === null) absence.to = readAt
  const isMoved = life.samples.at(-1)?.status !== read.status
  const from = (isMoved ? changedAt : read.updatedAt) ?? ''
  const gone = life.absences.find((each) => each.from <= from && each.to !== null && from < each.to)
  life.samples.push({
    status: read.status,
    changedAt,
    from: gone?.to ?? from,
    readAt,
    amount: read.valueAmount,
    currency: read.valueCurrency ?? '',
  })
  lives.set(read.id, life)
}

interface ExpectedChange {
  readonly kind: ChangeKind
  readonly fromStatus: string | null
  readonly toStatus: string
}

/** Returns the change of a lead since an instant, by what was known at `knownAt` of the time before. */
function becomeOf(
  { samples, absences }: Life,
  since: string,
  knownAt: string,
  to: string,
): ExpectedChange | null {
  const after = samples.findLast((reading) => reading.from < to)
  if (after === undefined) return null
  const isDeleted = (at: string) =>
    absences.some((gone) => gone.from < at && (gone.to === null || gone.to >= at))
  const known = samples.findLast((reading) => reading.from < since && reading.readAt <= knownAt)
  const moves = samples.flatMap((reading, index) => {
    const before = samples[index - 1]
    return before && before.status !== reading.status
      ? [{ from: before.status, to: reading.status, at: reading.changedAt }]
      : []
  })
  // Moves during its absence are known, because it has come back.
  const toStatus = moves.findLast((move) => move.at < to)?.to ?? after.status
  if (isDeleted(to)) return isDeleted(since) ? null : { kind: 'deleted', fromStatus: null, toStatus }
  const first = moves.find((move) => move.at >= since && move.at < to)
  const moved = moves.findLast((move) => move.at < since)?.to ?? first?.from
  // Without an earlier issue, the earlier move counts, even if it became known later.
  const fromStatus = (knownAt === NEVER ? (moved ?? known?.status) : (known?.status ?? moved)) ?? null
  const changeOf = (kind: ChangeKind): ExpectedChange => ({ kind, fromStatus, toStatus })
  const isNews =
    first !== undefined || samples.some((reading) => reading.readAt > knownAt || reading.from >= since)
  if (fromStatus !== toStatus && toStatus === 'won') return isNews ? changeOf('won') : null
  if (fromStatus !== toStatus && (toStatus === 'lost' || toStatus === 'disqualified')) {
    return isNews ? changeOf('lost') : null
  }
  if (absences.some((gone) => gone.to !== null && gone.to >= since && gone.to < to)) {
    return { kind: 'returned', fromStatus: null, toStatus }
  }
  if (fromStatus === null || placeOf(fromStatus) === placeOf(toStatus)) return null
  return changeOf(placeOf(fromStatus) < placeOf(toStatus) ? 'forward' : 'back')
}

function placeOf(status: string): number {
  const stage = STAGES.find((each) => each.status === status)
  return stage?.inFunnel ? stage.position : -1
}

it(`changes of random pasts (SEED=${SEED}) are told once a lead, by what it came to since what the last issue knew`, async () => {
  const next = random(SEED)
  await using store = await openEmptyStore()
  const lives = await liveThrough(store, next)
  const kinds = new Set<ChangeKind>()
  for (let round = 0; round < SPANS; round++) {
    const begin = next() * DAYS
    const [from, to, at] = [day(begin), day(begin + next() * 5), day(begin - next() * 3)]
    const last: LastReported | null =
      next() < 0.3 ? null : { at, knownAt: new Date(Date.parse(at) + next() * DAY_MS).toISOString() }
    const scope = { from, to, filter: EVERY_LEAD, stalledDays: 7 }
    const changes = await inReadTransaction(store.db, (trx) => readChanges(trx, scope, last, 1000))

    const expected = [...lives].flatMap(([id, life]) => {
      const become = becomeOf(life, changes.since, last?.knownAt ?? NEVER, to)
      return become ? [{ id, ...become, value: valueThen(life, to) }] : []
    })
    const context = JSON.stringify({ from, to, last })
    for (const { kind, total, value, rows } of changes.kinds) {
      const ofKind = expected.filter((each) => each.kind === kind)
      expect(
        sorted(rows.map(({ id, fromStatus, toStatus, value }) => ({ id, fromStatus, toStatus, value }))),
        context,
      ).toEqual(sorted(ofKind.map(({ kind: _, ...rest }) => rest)))
      expect(total).toBe(rows.length)
      // One currency after the other, because values are only sorted within a currency.
      const byCurrency = [...Map.groupBy(rows, (row) => row.value?.currency).values()]
      expect(rows).toEqual(byCurrency.flat())
      for (const alike of byCurrency) {
        const amounts = alike.map((row) => row.value?.amount ?? -1)
        expect(amounts).toEqual(amounts.toSorted((a, b) => b - a))
      }
      expect(value.map(({ currency }) => currency)).toEqual(
        byCurrency.flatMap(([row]) => (row?.value ? [row.value.currency] : [])),
      )
      for (const { currency, amount } of value) {
        const values = ofKind.map((each) => each.value).filter((each) => each?.currency === currency)
        expect(amount).toBe(values.reduce((sum, each) => sum + (each?.amount ?? 0), 0))
      }
      if (total > 0) kinds.add(kind)
    }
  }
  expect(kinds.size).toBe(6)
})

function valueThen({ samples }: Life, to: string) {
  const then = samples.findLast((reading) => reading.from < to)
  return then && then.amount !== null && then.currency !== ''
    ? { amount: then.amount, currency: then.currency }
    : null
}

function sorted<T extends { readonly id: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => Number(a.id) - Number(b.id))
}

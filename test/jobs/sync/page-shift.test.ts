// @long
import { describe, expect, it } from 'vitest'
import type { SyncResult } from '../../../src/domain/sync.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { random } from '../../support/random.ts'
import {
  createShiftingList,
  type Order,
  type ShiftingList,
  type ShiftingOptions,
} from '../../support/source/shifting-list.ts'
import { SILENT, SYNC_OPTIONS } from '../../support/syncing.ts'

const SEED = Number(process.env['SEED'] ?? 1)
/** `SEEDS=1000 npx vitest run test/jobs/sync/page-shift.test.ts` takes a minute. */
const SEEDS = Number(process.env['SEEDS'] ?? 300)
const PAGE_SIZE = 100
const OPTIONS = { ...SYNC_OPTIONS, full: true, parts: ['leads'], pageSize: PAGE_SIZE } as const
const ORDERS: readonly Order[] = ['updated_desc', 'updated_asc', 'id']

/** Makes a list of 200 to 2,000 rows, mostly short, in each order in turn. */
function listOf(seed: number, change: Partial<ShiftingOptions> = {}): ShiftingList {
  const next = random(seed)
  return createShiftingList({
    random: next,
    rows: 200 + Math.floor(1_800 * next() ** 40),
    order: ORDERS[seed % 3] ?? 'id',
    kind: 'offset',
    changesAPage: 2,
    hasUpdatedSince: seed % 2 === 0,
    ...change,
  })
}

const openCopy = () => openStore(':memory:', new Date('2026-11-21T06:00:00Z'))

function scan(store: Store, list: ShiftingList): Promise<SyncResult> {
  return sync({ source: list.source, store, log: SILENT, now: () => list.clock.now }, OPTIONS)
}

/** Returns the rows that existed during the whole reading and were not read. */
async function missing(store: Store, before: readonly string[], list: ShiftingList): Promise<string[]> {
  const stored = new Set((await store.db.selectFrom('lead').select('id').execute()).map((row) => row.id))
  return before.filter((id) => list.rows.has(id) && !stored.has(id))
}

/**
 * Counts the rows that a simple reader misses. It counts the rows it got, and stops at the first empty page.
 */
async function missedNaively(list: ShiftingList): Promise<number> {
  const before = [...list.rows.keys()]
  const met = new Set<string>()
  for (let position: string | null = null; ; ) {
    const page = await list.source.listLeads({}, position, PAGE_SIZE)
    for (const record of page.records) met.add(list.source.mapLead(record.value).id ?? '')
    if (page.next === null) break
    position = page.next
  }
  return before.filter((id) => list.rows.has(id) && !met.has(id)).length
}

describe('leads that come, go and change while the list is read', () => {
  it(`are all met in ${SEEDS} runs, where going on by offset alone misses some (SEED=${SEED})`, async () => {
    const missed: Record<Order, number> = { updated_desc: 0, updated_asc: 0, id: 0 }
    const verdicts: Record<string, number> = {}
    let completeByPage = 0
    for (let seed = SEED; seed < SEED + SEEDS; seed++) {
      missed[ORDERS[seed % 3] ?? 'id'] += await missedNaively(listOf(seed))
      await using store = await openCopy()
      const list = listOf(seed)
      const before = [...list.rows.keys()]
      const result = await scan(store, list)
      expect(await missing(store, before, list), `SEED=${seed}`).toEqual([])
      const proved = result.scan?.result ?? 'none'
      verdicts[proved] = (verdicts[proved] ?? 0) + 1
      // Page numbers cannot overlap, so that a scan may miss a lead, and then does not call itself complete.
      await using other = await openCopy()
      const numbered = listOf(seed, { kind: 'page' })
      if ((await scan(other, numbered)).scan?.result !== 'complete') continue
      completeByPage++
      expect(await missing(other, before, numbered), `SEED=${seed} by page`).toEqual([])
    }
    expect(completeByPage).toBeGreaterThan(SEEDS / 2)
    // The mean of the rarest order is about nine times as many, so that chance alone does not fall below it.
    for (const order of ORDERS) expect(missed[order], order).toBeGreaterThan(SEEDS / 50)
    expect(verdicts['complete']).toBeGreaterThan(SEEDS * 0.95)
  })

  it('lets no lead be marked as deleted that is there, in scan after scan', async () => {
    await using store = await openCopy()
    const list = listOf(SEED, { rows: 300 })
    await scan(store, list)
    for (let round = 0; round < 20; round++) {
      await scan(store, list)
      const gone = await store.db
        .selectFrom('lead')
        .where('deleted_at', 'is not', null)
        .select('id')
        .execute()
      expect(
        gone.filter(({ id }) => list.rows.has(id)),
        `SEED=${SEED} round ${round}`,
      ).toEqual([])
      if (round > 5) expect(gone.length).toBeGreaterThan(0)
    }
  })
})

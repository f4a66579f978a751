import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/open.ts'
import {
  addSlot,
  claimSlot,
  findLastSlot,
  finishSlot,
  isAnyOpen,
  listSlots,
} from '../../src/store/schedule-slot.ts'
import { openEmptyStore } from '../support/store.ts'

const [SIX, SEVEN, EIGHT] = [
  '2026-11-21T06:00:00.000Z',
  '2026-11-21T07:00:00.000Z',
  '2026-11-21T08:00:00.000Z',
] as const

async function withSlots(...slots: readonly string[]): Promise<Store> {
  const store = await openEmptyStore()
  await store.write(async (trx) => {
    for (const slot of slots) await addSlot(trx, due(slot))
  })
  return store
}

function due(slot: string) {
  return {
    ...{ schedule: 'sync', slot, state: 'due' as const },
    ...{ noted_at: slot, not_before: null, message: null },
  }
}

const claim = (store: Store) => store.write((trx) => claimSlot(trx, 'sync', EIGHT))
const finish = (store: Store, slot: string, end: 'done' | 'held', at: string | null = EIGHT) =>
  store.write((trx) =>
    finishSlot(
      trx,
      { schedule: 'sync', slot },
      { state: end, not_before: null, finished_at: at, message: 'all well' },
    ),
  )
const states = async (store: Store) => (await listSlots(store.db, 9)).map((slot) => [slot.slot, slot.state])

describe('the slots of a schedule', () => {
  it('are claimed once each, the oldest first, and only of that schedule', async () => {
    const store = await withSlots(SEVEN, SIX)
    expect(await store.write((trx) => claimSlot(trx, 'report:daily', EIGHT))).toBeUndefined()
    expect(await claim(store)).toMatchObject({ slot: SIX, state: 'running', attempts: 1 })
    await finish(store, SIX, 'done')
    expect(await claim(store)).toMatchObject({ slot: SEVEN })
    await finish(store, SEVEN, 'done')
    expect(await claim(store)).toBeUndefined()
    await store.close()
  })

  it('stay as they are when they are noted again', async () => {
    const store = await withSlots(SIX)
    await claim(store)
    await finish(store, SIX, 'done')
    await store.write((trx) => addSlot(trx, due(SIX)))
    expect(await claim(store)).toBeUndefined()
    expect(await listSlots(store.db, 9)).toMatchObject([
      { state: 'done', message: 'all well', finished_at: EIGHT },
    ])
    await store.close()
  })

  it('are taken up again when a killed process left them running, and that counts as another attempt', async () => {
    const store = await withSlots(SIX, SEVEN)
    await claim(store)
    expect(await claim(store)).toMatchObject({ slot: SIX, attempts: 2 })
    expect(await states(store)).toEqual([
      [SEVEN, 'due'],
      [SIX, 'running'],
    ])
    await store.close()
  })

  it('are asked again while they are held, which is no other attempt', async () => {
    const store = await withSlots(SIX)
    await claim(store)
    await finish(store, SIX, 'held', null)
    expect(await claim(store)).toMatchObject({ slot: SIX, state: 'running', attempts: 1 })
    await store.close()
  })

  it('are not begun before their time, nor those behind them', async () => {
    const store = await withSlots(SEVEN)
    await store.write((trx) => addSlot(trx, { ...due(SIX), not_before: '2026-11-21T08:00:00.001Z' }))
    expect(await isAnyOpen(store.db, 'sync', EIGHT)).toBe(false)
    expect(await claim(store)).toBeUndefined()
    expect(await isAnyOpen(store.db, 'sync', '2026-11-21T08:00:00.001Z')).toBe(true)
    await store.close()
  })

  it('have a last one up to an instant', async () => {
    const store = await withSlots(SIX, SEVEN, '2031-01-01T00:00:00.000Z')
    expect((await findLastSlot(store.db, 'sync', EIGHT))?.slot).toBe(SEVEN)
    expect((await findLastSlot(store.db, 'sync', SIX))?.slot).toBe(SIX)
    expect(await findLastSlot(store.db, 'sync', '2026-11-21T05:00:00.000Z')).toBeUndefined()
    await store.close()
  })
})

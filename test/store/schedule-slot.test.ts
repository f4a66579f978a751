import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/open.ts'
import {
  addSlot,
  claimSlot,
  findLastSlot,
  finishSlot,
  listSlots,
  recoverSlots,
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
    for (const slot of slots) await addSlot(trx, { schedule: 'sync', slot, state: 'due', message: null })
  })
  return store
}

const claim = (store: Store) => store.write((trx) => claimSlot(trx, 'sync', EIGHT))
const states = async (store: Store) => (await listSlots(store.db, 9)).map((slot) => [slot.slot, slot.state])

describe('the slots of a schedule', () => {
  it('are claimed once each, the oldest first, and only of that schedule', async () => {
    const store = await withSlots(SEVEN, SIX)
    expect(await store.write((trx) => claimSlot(trx, 'report:daily', EIGHT))).toBeUndefined()
    const claims = await Promise.all([claim(store), claim(store), claim(store)])
    expect(claims.map((slot) => slot?.slot)).toEqual([SIX, SEVEN, undefined])
    await store.close()
  })

  it('stay as they are when they are noted again', async () => {
    const store = await withSlots(SIX)
    await claim(store)
    await store.write((trx) =>
      finishSlot(trx, { schedule: 'sync', slot: SIX }, { state: 'done', at: EIGHT, message: 'all well' }),
    )
    await store.write((trx) => addSlot(trx, { schedule: 'sync', slot: SIX, state: 'due', message: null }))
    expect(await claim(store)).toBeUndefined()
    expect(await listSlots(store.db, 9)).toMatchObject([
      { state: 'done', message: 'all well', finished_at: EIGHT },
    ])
    await store.close()
  })

  it('are due again when they were left running, or stopped half-way', async () => {
    const store = await withSlots(SIX, SEVEN)
    const first = await claim(store)
    await claim(store)
    if (first)
      await store.write((trx) => finishSlot(trx, first, { state: 'due', at: EIGHT, message: 'stopped' }))
    expect(await states(store)).toEqual([
      [SEVEN, 'running'],
      [SIX, 'due'],
    ])
    await store.write(recoverSlots)
    expect(await states(store)).toEqual([
      [SEVEN, 'due'],
      [SIX, 'due'],
    ])
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

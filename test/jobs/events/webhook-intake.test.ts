// @both-stores
import { describe, expect, it } from 'vitest'
import type { UpstreamEvent } from '../../../src/domain/model.ts'
import { createWebhookIntake } from '../../../src/jobs/events/webhook-intake.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { eventOf } from '../../support/source/following.ts'
import { OPENED_AT, openEmptyStore } from '../../support/store.ts'

/** Opens a store whose writes wait until the test calls `letGo`, or fail when it calls `fail`. */
async function openBusyStore() {
  const store = await openEmptyStore()
  const free = Promise.withResolvers<void>()
  let transactions = 0
  const busy: Store = {
    ...store,
    async write(work) {
      transactions++
      await free.promise
      return store.write(work)
    },
  }
  let wakes = 0
  const intake = createWebhookIntake({ store: busy, now: () => OPENED_AT, wake: () => void wakes++ })
  return {
    intake,
    letGo: free.resolve,
    fail: free.reject,
    wakes: () => wakes,
    transactions: () => transactions,
    ids: async () => (await store.db.selectFrom('event').select('id').execute()).map(({ id }) => id),
    [Symbol.asyncDispose]: store.close,
  }
}

function messages(count: number, eventsEach = 1): UpstreamEvent[][] {
  return Array.from({ length: count }, () => Array.from({ length: eventsEach }, () => eventOf('l1')))
}

describe('messages that come while the disk is busy', () => {
  it('go in together, and each is taken once it is on the disk, or at once where it holds no event', async () => {
    await using on = await openBusyStore()
    const taken = messages(300).map((events) => on.intake.take(events))
    expect(await on.intake.take([])).toBe(true)
    on.letGo()
    expect(await Promise.all(taken)).toEqual(taken.map(() => true))
    expect(await on.ids()).toHaveLength(300)
    expect(on.transactions()).toBe(2)
    expect(on.wakes()).toBe(2)
  })

  it.each([
    [1100, 1, 1001],
    [40, 500, 21],
  ])(
    'are refused where too many wait: of %d with %d events each, %d are taken',
    async (count, each, most) => {
      await using on = await openBusyStore()
      const taken = messages(count, each).map((events) => on.intake.take(events))
      on.letGo()
      const answers = await Promise.all(taken)
      expect(answers.filter((isTaken) => isTaken)).toHaveLength(most)
      expect(await on.ids()).toHaveLength(most * each)
      expect(await on.intake.take([eventOf('l1')])).toBe(true)
    },
  )

  it('are not taken where the disk does not take them', async () => {
    await using on = await openBusyStore()
    const taken = on.intake.take([eventOf('l1')])
    on.fail(new Error('the disk is full'))
    await expect(taken).rejects.toThrow('the disk is full')
    expect(await on.ids()).toEqual([])
    expect(on.wakes()).toBe(0)
  })
})

it('an event that comes again, in one message or another, is kept once and followed once', async () => {
  await using on = await openBusyStore()
  on.letGo()
  const event = eventOf('l1')
  await on.intake.take([event, event])
  await on.intake.take([event])
  expect(await on.ids()).toEqual([event.id])
  expect(on.wakes()).toBe(1)
})

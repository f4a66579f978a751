// @both-stores
/** Preferences, the key that signs their links, and messages that are no longer wanted. */

import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessage, listDeliveries, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { withdrawIfUnwanted, withdrawMessages } from '../../../src/store/outbox/message-resolve.ts'
import {
  findPreference,
  listPreferences,
  type Preference,
  readOrCreateLinkKey,
  replaceLinkKey,
  savePreference,
} from '../../../src/store/reports/preference.ts'
import { MESSAGE, mailTo } from '../../support/mail/message.ts'
import { OPENED_AT, openEmptyStore } from '../../support/store.ts'

const AT = OPENED_AT.toISOString()
const BEN_WAITS = `ben@example.com pending ${AT}`
const STOPPED: Preference = {
  address: 'ana@example.com',
  report: 'daily',
  state: 'unsubscribed',
  changedAt: AT,
  changedBy: 'recipient',
  reason: null,
}

/** Returns the state of each message of a report, and whether it waits. */
const statesOf = async (store: Store, report: string) =>
  (await listDeliveries(store.db, report)).map(
    ({ recipient, state, nextAttemptAt }) => `${recipient} ${state} ${nextAttemptAt}`,
  )

it('a preference is found however its address is written, and the last choice holds', async () => {
  await using store = await openEmptyStore()
  const key = { address: 'Ana@Example.com', report: 'daily' }
  expect(await findPreference(store.db, key)).toBeUndefined()
  await store.write((trx) => savePreference(trx, { ...STOPPED, ...key }))
  expect(await findPreference(store.db, key)).toEqual(STOPPED)
  const paused: Preference = { ...STOPPED, state: 'paused', changedBy: 'operator', reason: 'on leave' }
  await store.write((trx) => savePreference(trx, paused))
  expect(await listPreferences(store.db)).toEqual([paused])
  expect(await findPreference(store.db, { ...key, report: 'weekly' })).toBeUndefined()
  expect(await listPreferences(store.db, 'weekly')).toEqual([])
})

it('the key of the links is random, and stays until it is replaced', async () => {
  await using store = await openEmptyStore()
  await using other = await openEmptyStore()
  const key = await readOrCreateLinkKey(store, OPENED_AT)
  expect(key).toHaveLength(32)
  expect(await readOrCreateLinkKey(store, OPENED_AT)).toEqual(key)
  expect(await readOrCreateLinkKey(other, OPENED_AT)).not.toEqual(key)
  await replaceLinkKey(store, OPENED_AT)
  expect(await readOrCreateLinkKey(store, OPENED_AT)).not.toEqual(key)
})

describe('messages of somebody who wants no more', () => {
  it('are withdrawn where they wait, of that report and address alone, and stay where they may have arrived', async () => {
    await using store = await openEmptyStore()
    await store.write((trx) => mailTo(trx, 'daily', ['Ana@example.com', 'ben@example.com'], AT))
    await store.write((trx) => mailTo(trx, 'weekly', ['ana@example.com'], AT))
    expect(await store.write((trx) => withdrawMessages(trx, STOPPED, AT))).toBe(1)
    expect(await statesOf(store, 'daily')).toEqual(['Ana@example.com withdrawn null', BEN_WAITS])
    expect(await statesOf(store, 'weekly')).toEqual([`ana@example.com pending ${AT}`])
    const unconfirmed = { state: 'unconfirmed', at: AT, nextAttemptAt: AT } as const
    await store.write((trx) => moveDelivery(trx, 'weekly ana@example.com', ['pending'], unconfirmed))
    await store.write((trx) => withdrawMessages(trx, { ...STOPPED, report: 'weekly' }, AT))
    expect(await statesOf(store, 'weekly')).toEqual(['ana@example.com unconfirmed null'])
  })

  it('are not sent either where they come into the ledger after the choice, but for notices to operators', async () => {
    await using store = await openEmptyStore()
    await store.write((trx) => savePreference(trx, STOPPED))
    await store.write((trx) => mailTo(trx, 'daily', ['ana@example.com', 'ben@example.com'], AT))
    await store.write((trx) => enqueueMessage(trx, null, { ...MESSAGE, to: STOPPED.address }, AT))
    const isUnwanted = (id: string) => store.write((trx) => withdrawIfUnwanted(trx, id, () => true, AT))
    expect(await isUnwanted('daily ana@example.com')).toBe(true)
    expect(await isUnwanted('daily ben@example.com')).toBe(false)
    expect(await isUnwanted(MESSAGE.messageId)).toBe(false)
    expect(await statesOf(store, 'daily')).toEqual(['ana@example.com withdrawn null', BEN_WAITS])
  })
})

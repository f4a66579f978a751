// @both-stores
import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Store } from '../../../src/store/db/store.ts'
import {
  findIssue,
  findLastEnqueued,
  findSeriesEnd,
  noteNotSent,
  reportedUpTo,
  saveIssue,
  wasEnqueuedOrSkipped,
} from '../../../src/store/reports/issue.ts'
import { enqueueMessage, MESSAGE } from '../../support/mail/message.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { openEmptyStore } from '../../support/store.ts'

const figures = busyDay()
const issue = (subject: string) => ({
  report: 'daily',
  period: figures.period,
  renderedAt: '2026-11-21T07:00:00.000Z',
  figures,
  variant: '',
  programVersion: '1.2.3',
  subject,
  html: 'h',
  text: 't',
})
const keep = (store: Store, subject: string) => store.write((trx) => saveIssue(trx, issue(subject)))
const find = (store: Store) => findIssue(store.db, { report: 'daily', period: figures.period, variant: '' })

/** Saves a message of the issue, so that it counts as sent. */
const send = (store: Store, id: string) =>
  store.write((trx) => enqueueMessage(trx, id, { ...MESSAGE, messageId: `<${id}>` }, MESSAGE.date))

describe('an issue', () => {
  it('comes back as it was kept, and is nobody else’s', async () => {
    await using store = await openEmptyStore()
    const kept = await keep(store, 'first')
    expect(await find(store)).toEqual(kept)
    expect(await findIssue(store.db, { ...issue('first'), report: 'weekly' })).toBeUndefined()
    expect(await findIssue(store.db, { ...issue('first'), variant: '{"pipelines":["eu"]}' })).toBeUndefined()
    expect(await findIssue(store.db, { ...issue('first'), period: figures.prior })).toBeUndefined()
  })

  it('is made anew, under its own id, until its first letter', async () => {
    await using store = await openEmptyStore()
    const first = await keep(store, 'of half the day')
    const { id } = await keep(store, 'of the whole day')
    expect(id).toBe(first.id)
    expect(await find(store)).toMatchObject({ subject: 'of the whole day', isEnqueued: false })
    await send(store, id)
    const kept = { id, subject: 'of the whole day', isEnqueued: true }
    expect(await keep(store, 'too late')).toMatchObject(kept)
    expect(await find(store)).toMatchObject(kept)
  })
})

describe('the last issue that was sent', () => {
  const onDay = (day: string, variant = '') => ({
    ...issue(day),
    variant,
    period: { from: `2026-11-${day}T00:00:00.000Z`, to: `2026-11-${day}T24:00:00.000Z`, timeZone: 'UTC' },
  })
  const keepDay = (store: Store, day: string, variant?: string) =>
    store.write((trx) => saveIssue(trx, onDay(day, variant)))

  it('is the latest one with messages that ended by then, of the same leads and kind of period', async () => {
    await using store = await openEmptyStore()
    await send(store, (await keepDay(store, '10')).id)
    await send(store, (await keepDay(store, '12')).id)
    await send(store, (await keepDay(store, '13', '{"tags":["x"]}')).id)
    await keepDay(store, '14')
    const week = { ...onDay('15'), figures: { ...figures, kind: 'week' } } as const
    await send(store, (await store.write((trx) => saveIssue(trx, week))).id)
    const find = (by: string, kind: 'day' | 'week' = 'day') =>
      findLastEnqueued(store.db, { report: 'daily', variant: '', kind }, by)
    expect(await find('2026-11-30T00:00:00.000Z', 'week')).toMatchObject({
      periodTo: '2026-11-15T24:00:00.000Z',
    })
    expect(await find('2026-11-15T00:00:00.000Z')).toMatchObject({ periodTo: '2026-11-12T24:00:00.000Z' })
    expect(await find('2026-11-12T00:00:00.000Z')).toMatchObject({ periodTo: '2026-11-10T24:00:00.000Z' })
    expect(await find('2026-11-10T00:00:00.000Z')).toBeNull()
    const all = { report: 'daily', variant: '', kind: 'day' } as const
    const endBefore = (at: string) => findSeriesEnd(store.db, all, at)
    expect(await endBefore('2026-11-15T00:00:00.000Z')).toBe('2026-11-12T24:00:00.000Z')
    expect(await endBefore('2026-11-12T24:00:00.000Z')).toBe('2026-11-10T24:00:00.000Z')
  })

  it('leaves changes that it could not tell to the next one', async () => {
    const sent = { periodTo: '2026-11-21T00:00:00.000Z', renderedAt: '2026-11-21T06:00:00.000Z' }
    const changes = { since: '2026-11-20T00:00:00.000Z', coverage: { known: 0, of: 0 }, kinds: [] }
    const told = (...failed: ReportFigures['failed']) =>
      reportedUpTo({ ...sent, figures: { ...figures, changes, failed } })
    expect(told()).toEqual({ at: sent.periodTo, knownAt: sent.renderedAt })
    expect(told({ block: 'trend', query: null, message: 'x' })).toEqual(told())
    expect(told({ block: 'changes', query: null, message: 'x' })).toEqual({
      at: changes.since,
      knownAt: changes.since,
    })
  })

  it('is told of a span of time, be it that it was sent or was not worth it, but not of one only looked at', async () => {
    await using store = await openEmptyStore()
    const hasIt = () =>
      wasEnqueuedOrSkipped(store.db, 'daily', {
        from: '2026-11-12T24:00:00.000Z',
        to: '2026-11-14T24:00:00.000Z',
      })
    await send(store, (await keepDay(store, '11')).id)
    await send(store, (await keepDay(store, '14')).id)
    const looked = await keepDay(store, '13')
    expect(await hasIt()).toBe(false)
    await store.write((trx) => noteNotSent(trx, looked.id, 'quiet'))
    expect(await hasIt()).toBe(true)
    expect(await wasEnqueuedOrSkipped(store.db, 'weekly', { from: '2026-11-01', to: '2026-12-01' })).toBe(
      false,
    )
  })
})

// @both-stores
import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { enqueueMessage } from '../../../src/store/outbox/delivery.ts'
import {
  findIssue,
  findLastEnqueued,
  findSeriesEnd,
  noteNotSent,
  reportedUpTo,
  saveIssue,
  wasEnqueuedOrSkipped,
} from '../../../src/store/reports/issue.ts'
import { MESSAGE } from '../../support/mail/message.ts'
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

/** The start and the end of a day of November. */
const midnight = (day: string) => `2026-11-${day}T00:00:00.000Z`
const end = (day: string) => `2026-11-${day}T24:00:00.000Z`

/** Saves a message of the issue, so that it counts as sent. */
const send = (store: Store, id: string) =>
  store.write((trx) => enqueueMessage(trx, id, { ...MESSAGE, messageId: `<${id}>` }, MESSAGE.date))

describe('an issue', () => {
  it('comes back as it was kept, and is nobody else’s', async () => {
    await using store = await openEmptyStore()
    const kept = await keep(store, 'first')
    expect(await find(store)).toEqual(kept)
    for (const other of [
      { report: 'weekly' },
      { variant: '{"pipelines":["eu"]}' },
      { period: figures.prior },
    ])
      expect(await findIssue(store.db, { ...issue('first'), ...other })).toBeUndefined()
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
  const dayOf = (day: string) => ({ from: midnight(day), to: end(day), timeZone: 'UTC' })
  const keepDay = (store: Store, day: string, variant = '', kind: 'day' | 'week' = 'day') =>
    store.write((trx) =>
      saveIssue(trx, { ...issue(day), variant, period: dayOf(day), figures: { ...figures, kind } }),
    )
  const sendDay = async (store: Store, ...of: [string, string?, 'week'?]) =>
    send(store, (await keepDay(store, ...of)).id)

  it('is the latest one with messages that ended by then, of the same leads and kind of period', async () => {
    await using store = await openEmptyStore()
    await sendDay(store, '10')
    await sendDay(store, '12')
    await sendDay(store, '13', '{"tags":["x"]}')
    await keepDay(store, '14')
    await sendDay(store, '15', '', 'week')
    const daily = { report: 'daily', variant: '', kind: 'day' } as const
    const last = async (by: string, kind: 'day' | 'week' = 'day') =>
      (await findLastEnqueued(store.db, { ...daily, kind }, by))?.periodTo
    expect(await last(midnight('30'), 'week')).toBe(end('15'))
    expect(await last(midnight('15'))).toBe(end('12'))
    expect(await last(midnight('12'))).toBe(end('10'))
    expect(await last(midnight('10'))).toBeUndefined()
    expect(await findSeriesEnd(store.db, daily, midnight('15'))).toBe(end('12'))
    expect(await findSeriesEnd(store.db, daily, end('12'))).toBe(end('10'))
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
    const isTold = (report: string, from: string, to: string) =>
      wasEnqueuedOrSkipped(store.db, report, { from, to })
    await sendDay(store, '11')
    await sendDay(store, '14')
    const looked = await keepDay(store, '13')
    expect(await isTold('daily', end('12'), end('14'))).toBe(false)
    await store.write((trx) => noteNotSent(trx, looked.id, 'quiet'))
    expect(await isTold('daily', end('12'), end('14'))).toBe(true)
    expect(await isTold('weekly', midnight('01'), midnight('30'))).toBe(false)
  })
})

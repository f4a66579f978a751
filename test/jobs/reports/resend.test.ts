// @both-stores
/** Messages that are sent again: which, to whom, and whether unchanged or as new ones. */
import { describe, expect, it } from 'vitest'
import { changePreference } from '../../../src/jobs/reports/preferences.ts'
import { enqueueResend, planResend, type ResendPlan } from '../../../src/jobs/reports/resend.ts'
import { type DeliveryMove, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { DAILY, enqueueDue, openReporting, recipient } from '../../support/mail/reports.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const EMEA = { filter: { pipelineIds: ['pl_emea'], conditions: [] } }
const PEOPLE = [
  recipient('ana@example.com'),
  recipient('ben@example.com', EMEA),
  recipient('cleo@example.com'),
  recipient('dan@example.com'),
  recipient('eve@example.com'),
]
/** The end of the mail to each recipient. The mail to Eve still waits. */
const ENDS: Readonly<Record<string, DeliveryMove['state']>> = {
  ana: 'sent',
  ben: 'sent',
  cleo: 'failed',
  dan: 'unconfirmed',
}

/** Opens a report of yesterday to five people, in two issues. It ended differently for each. */
async function openEnqueued() {
  const reporting = await openReporting(8, NOW)
  const { deps, store, clock } = reporting
  await enqueueDue(deps, PEOPLE)
  const rows = () =>
    store.db.selectFrom('delivery').selectAll().orderBy('recipient').orderBy('revision').execute()
  for (const row of await rows()) {
    const state = ENDS[row.recipient.split('@')[0] ?? '']
    if (state === undefined) continue
    const to = { state, at: NOW.toISOString(), nextAttemptAt: null, response: '250 Ok' }
    await store.write((trx) => moveDelivery(trx, row.message_id, ['pending'], to))
  }
  clock.now = new Date('2026-11-21T09:00:00Z')
  return { ...reporting, rows }
}

const told = ({ again, anew, leftOut }: ResendPlan): string => {
  const names = (messages: ResendPlan['again'] | ResendPlan['anew']) =>
    messages.map(({ message }) => message.recipient.split('@')[0]).join()
  const left = leftOut.map((one) => `; ${one.recipient.split('@')[0]}: ${one.why}`)
  return `again ${names(again)}; anew ${names(anew)}${left.join('')}`
}

describe('a report that is sent again', () => {
  it('goes to those who are meant, of all its issues, and not to whom the settings name no more or who wants none of it', async () => {
    await using enqueued = await openEnqueued()
    const { deps, store, clock } = enqueued
    const plan = async (choice: Parameters<typeof planResend>[3], people = PEOPLE) =>
      told(await planResend(deps, DAILY, people, choice, clock.now))
    expect(await plan({ which: 'failed' })).toBe('again cleo; anew ')
    expect(await plan({ which: 'unconfirmed' })).toBe('again dan; anew ')
    expect(await plan({ which: 'one', address: 'Ben@example.com' })).toBe('again ; anew ben')
    expect(await plan({ which: 'all' })).toBe('again cleo,dan; anew ana,ben; eve: it waits to be sent')
    const choice = { by: 'recipient', reason: null } as const
    await changePreference(store, { address: 'ana@example.com', report: 'daily' }, 'stop', choice, clock.now)
    const gone = ['cleo', 'dan', 'eve'].map((name) => `; ${name}: the settings name them no more`).join('')
    expect(await plan({ which: 'all' }, PEOPLE.slice(0, 2))).toBe(
      `again ; anew ben; ana: unsubscribed by themselves on 2026-11-21${gone}`,
    )
    clock.now = new Date('2026-11-20T12:00:00Z')
    expect(await plan({ which: 'all' })).toBe('again ; anew ')
  })

  it('goes to one who was paused by mistake, so that the waiting mail was withdrawn', async () => {
    await using enqueued = await openEnqueued()
    const { deps, store, clock } = enqueued
    const key = { address: 'eve@example.com', report: 'daily' }
    const choice = { by: 'operator', reason: null } as const
    await changePreference(store, key, 'pause', choice, clock.now)
    await changePreference(store, key, 'resume', choice, clock.now)
    expect((await enqueued.rows()).at(-1)).toMatchObject({ recipient: key.address, state: 'withdrawn' })
    const plan = await planResend(deps, DAILY, PEOPLE, { which: 'one', address: key.address }, clock.now)
    expect(told(plan)).toBe('again eve; anew ')
    await enqueueResend(deps, DAILY, plan, null)
    expect((await enqueued.rows()).at(-1)).toMatchObject({ recipient: key.address, state: 'pending' })
  })

  it('is the same mail for those who have none, and a new one that says so for the others', async () => {
    await using enqueued = await openEnqueued()
    const { deps, store, clock } = enqueued
    const before = await enqueued.rows()
    const idOf = (name: string) => before.find((row) => row.recipient.startsWith(name))?.message_id ?? ''
    const plan = await planResend(deps, DAILY, PEOPLE, { which: 'all' }, clock.now)
    const queued = await enqueueResend(deps, DAILY, plan, 'wrong currency')
    const rows = await enqueued.rows()
    const states = rows.map(
      (row) => `${row.recipient.split('@')[0]} ${row.revision} ${row.state} ${row.attempts}`,
    )
    expect(states.slice(0, 4)).toEqual(['ana 0 sent 0', 'ana 1 pending 0', 'ben 0 sent 0', 'ben 1 pending 0'])
    expect(states.slice(4)).toEqual(['cleo', 'dan', 'eve'].map((name) => `${name} 0 pending 0`))
    const anew = rows.filter(({ revision }) => revision === 1).map((row) => row.message_id)
    expect(queued).toEqual(new Set([idOf('cleo'), idOf('dan'), ...anew]))
    const message = await readMessage(store.db, anew[0] ?? '')
    expect(message).toMatchObject({ inReplyTo: idOf('ana'), date: clock.now.toISOString() })
    expect(message.text).toContain('wrong currency')
    const first = await readMessage(store.db, idOf('ana'))
    expect(message.subject).toBe(first.subject)
    // If two people ask at once, it is written once.
    await enqueueResend(deps, DAILY, plan, null)
    expect(await enqueued.rows()).toHaveLength(rows.length)
  })
})

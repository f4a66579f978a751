/** Fills a store with every problem that the status page can show at {@link STATUS_AT}, while a sync runs. */

import { type Alert, upsertAlerts } from '../../../src/store/alerts/alert.ts'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../../src/store/leads/quarantined-record.ts'
import { enqueueMessage, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { saveMailOutage } from '../../../src/store/outbox/send-limits.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { claimLease, type Lease } from '../../../src/store/schedule/lease.ts'
import { beginUptime, recordHeartbeat } from '../../../src/store/schedule/uptime.ts'
import { startRun } from '../../../src/store/sync/sync-run.ts'
import { event, follow, receive } from '../data/events.ts'
import { mailOutage, noteRun, saveSync } from '../data/operation.ts'
import { MESSAGE, unsavedIssue } from '../mail/message.ts'
import { lead, save, saveWholeRun } from '../store.ts'
import { STATUS_AT } from './status-page.ts'

const MISSED = 'missed: nothing ran since 2026-11-18 14:50 UTC'
const LONG = 'GET https://leads.example.com/api/v1/a-path-of-one-very-long-word-that-no-column-has-room-for'

/** @returns the lease of the running sync */
export async function fillWithProblems(store: Store): Promise<Lease> {
  await save(store, [lead('a'), lead('b')])
  await saveWholeRun(store, ago(2000))
  await store.write(async (trx) => {
    await recordHeartbeat(trx, await beginUptime(trx, { at: ago(9000), after: 'down' }), ago(6000))
    await recordHeartbeat(trx, await beginUptime(trx, { at: ago(1500), after: 'clock' }), ago(0))
    for (const at of [1, 2]) await failRun(trx, ago(at * 15))
    await holdRecords(trx)
    await upsertAlerts(trx, [
      openAlert({ checkId: 'job_stuck', subject: 'sync', message: LONG, hint: 'Look.' }),
    ])
    const deferred = { nextAttemptAt: ago(-15), replyCode: 421, response: 'later' }
    await saveMailOutage(trx, mailOutage(ago(90), deferred))
  })
  await noteScheduledRuns(store)
  await sendUnconfirmed(store)
  await receiveEvents(store)
  const lease = await claimLease(store, 'sync', () => new Date(ago(1)))
  await store.write((trx) => startRun(trx, { mode: 'full', parts: ['leads'], at: ago(1) }))
  return lease
}

/** Returns an alert that was announced an hour ago. */
export function openAlert(change: Partial<Alert> = {}): Alert {
  return {
    id: 1,
    checkId: 'sync_failing',
    subject: '',
    state: 'open',
    seen: 3,
    message: 'The last 3 syncs failed.',
    hint: 'Look at the upstream.',
    firstSeenAt: ago(90),
    openedAt: ago(60),
    reopenedAt: null,
    resolvedAt: null,
    announced: 'open',
    announcedAt: ago(60),
    acknowledgedAt: null,
    ...change,
  }
}

export function ago(minutes: number): string {
  return new Date(STATUS_AT.getTime() - minutes * 60_000).toISOString()
}

async function failRun(trx: Trx, at: string): Promise<void> {
  const problems = [
    { part: 'leads', code: 'api_unreachable', message: LONG, hint: 'Try `leadsheet doctor`.' },
  ] as const
  const end = { outcome: 'failed', requests: 6, retries: 5, durationMs: 75_000, problems } as const
  await saveSync(
    trx,
    at,
    { mode: 'incremental', ...end },
    {
      reportedTotal: 2,
      distinct: 2,
      drift: [
        { change: 'vanished', path: 'company.name', types: ['string'] },
        { change: 'retyped', path: 'score', types: ['string'] },
      ],
    },
  )
}

async function receiveEvents(store: Store): Promise<void> {
  const told = [event('1'), event('2', { resourceId: LONG }), event('3', { type: LONG, problem: LONG })]
  await receive(store, told, ago(40))
  const changed = lead('a', { score: 62, updatedAt: ago(40) })
  await save(store, [changed], ago(39))
  await follow(store, 'a', { at: ago(39), outcome: 'updated' })
  await receive(store, [event('4', { resource: null, type: 'webhook.ping' })], ago(1))
}

async function holdRecords(trx: Trx): Promise<void> {
  const record = { resource: 'lead', isWhole: true, raw: '{"secret":"phone"}' } as const
  await saveQuarantinedRecords(trx, [{ ...record, id: 'L-7', reason: `status ${LONG} is none` }], ago(50))
  await saveQuarantinedRecords(trx, [{ ...record, id: null, reason: 'no status' }], ago(10))
}

async function noteScheduledRuns(store: Store): Promise<void> {
  const daily = { schedule: 'report:daily', state: 'skipped', message: MISSED } as const
  await noteRun(store, { ...daily, due_at: ago(4140) })
  await noteRun(store, { ...daily, due_at: ago(2700) })
  await noteRun(store, { ...daily, due_at: ago(10), state: 'held', message: 'the data are old' })
  await noteRun(store, { schedule: 'sync', due_at: ago(15), state: 'failed', message: LONG })
}

async function sendUnconfirmed(store: Store): Promise<void> {
  const { subject } = MESSAGE
  const issue = await store.write((trx) => saveIssue(trx, unsavedIssue({ subject, renderedAt: ago(30) })))
  await store.write(async (trx) => {
    await enqueueMessage(trx, issue.id, MESSAGE, ago(30))
    const unconfirmed = {
      state: 'unconfirmed',
      at: ago(20),
      nextAttemptAt: null,
      response: 'the line was cut',
    } as const
    await moveDelivery(trx, MESSAGE.messageId, ['pending'], unconfirmed)
    await enqueueMessage(trx, issue.id, { ...MESSAGE, to: 'ana@example.com', messageId: '<a@x>' }, ago(30))
  })
}

/** Two machines do the same work at the same time. One of them does it, and nothing is lost. */
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { countLeads, saveLeads } from '../../../src/store/leads/lead.ts'
import { saveStages } from '../../../src/store/leads/stages.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimDelivery, listWaiting } from '../../../src/store/outbox/delivery.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import {
  addScheduledRun,
  beginScheduledRun,
  listOpenScheduledRuns,
} from '../../../src/store/schedule/scheduled-run.ts'
import { event, receive } from '../../support/data/events.ts'
import { mailTo } from '../../support/mail/message.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { countCases, pick, random, SEED_OF_TODAY } from '../../support/random.ts'
import { addressOf, lead, OPENED_AT, observedAt, openInPostgres, STAGES } from '../../support/store.ts'

const NOW = OPENED_AT.toISOString()
const ROUNDS = countCases(12, 200)
const SEED = SEED_OF_TODAY

async function openTwo() {
  const one = await openInPostgres()
  const other = await openStore(addressOf(one), OPENED_AT)
  onTestFinished(one.close)
  onTestFinished(other.close)
  await one.write((trx) => saveStages(trx, STAGES))
  return { both: [one, other] as const, one, other }
}

/** Starts the same work in two stores at once, and returns both results. */
async function race<T>(both: readonly Store[], work: (trx: Trx, n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(both.map((store, n) => store.write((trx) => work(trx, n))))
}

describe.skipIf(!hasPostgres)('two machines at once', () => {
  it('note a scheduled run once, and only the one with the lease begins it', async () => {
    const two = await openTwo()
    for (let round = 0; round < ROUNDS; round++) {
      const dueAt = new Date(OPENED_AT.getTime() - round * 60_000).toISOString()
      const due = { schedule: 'sync', due_at: dueAt, state: 'pending', noted_at: NOW } as const
      const noted = await race(two.both, (trx) =>
        addScheduledRun(trx, { ...due, not_before: null, message: null }),
      )
      expect(noted.sort()).toEqual([false, true])
    }
    const claims = await Promise.allSettled(
      two.both.map(async (store) => {
        const lease = await claimLease(store, 'schedule:sync', () => OPENED_AT)
        for (const dueAt of await listOpenScheduledRuns(store.db, 'sync', NOW))
          await store.write((trx) => beginScheduledRun(trx, dueAt, NOW))
        return lease
      }),
    )
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const attempts = await two.one.db.selectFrom('scheduled_run').select('attempts').distinct().execute()
    expect(attempts).toEqual([{ attempts: 1 }])
    for (const claim of claims) if (claim.status === 'fulfilled') await claim.value.release()
  })

  it('get a lease one after the other, however far apart their clocks are', async () => {
    const two = await openTwo()
    const clocks = [-1, 1].map((hours) => () => new Date(Date.now() + hours * 3_600_000))
    for (let round = 0; round < ROUNDS; round++) {
      const claims = await Promise.allSettled(
        two.both.map((store, index) => claimLease(store, 'sync', clocks[index] ?? (() => OPENED_AT))),
      )
      const held = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []))
      expect(held).toHaveLength(1)
      for (const lease of held) await lease.release()
    }
  })

  it('leave each other connections to read by, however long the leases of one wait for a turn', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const two = await openTwo()
    const lease = await claimLease(two.one, 'sync', () => OPENED_AT)
    await two.other.write(async () => {
      await vi.advanceTimersByTimeAsync(600_000)
      expect(await countLeads(two.one.db)).toBe(0)
    })
    await lease.release()
    vi.useRealTimers()
  })

  it('take each message into the hands of one of them', async () => {
    const two = await openTwo()
    const addresses = Array.from({ length: ROUNDS }, (_, n) => `${n}@example.org`)
    await two.one.write((trx) => mailTo(trx, 'e1', addresses, NOW))
    const waiting = await listWaiting(two.one.db, { upTo: NOW, beyond: NOW }, ROUNDS)
    expect(waiting).toHaveLength(ROUNDS)
    for (const message of waiting) {
      const taken = await race(two.both, (trx, n) => claimDelivery(trx, message, `sender ${n}`, NOW))
      expect(taken.sort()).toEqual([false, true])
    }
    const attempts = await two.one.db.selectFrom('delivery').select('attempts').distinct().execute()
    expect(attempts).toEqual([{ attempts: 1 }])
  })

  it('keep an event once that was posted to both, and follow its lead once', async () => {
    const two = await openTwo()
    for (let round = 0; round < ROUNDS; round++) {
      const events = [event(`${round}`, { resourceId: 'a' }), event(`x${round}`, { resourceId: `${round}` })]
      await Promise.all(two.both.map((store) => receive(store, events, NOW)))
    }
    const { rows } = await sql<{ events: number; repeats: number; queued: number }>`
      SELECT count(*) AS events, sum(repeats) AS repeats, (SELECT sum(events) FROM event_queue) AS queued
      FROM event`.execute(two.one.db)
    expect(rows).toEqual([{ events: 2 * ROUNDS, repeats: 2 * ROUNDS, queued: 2 * ROUNDS }])
  })

  it('save the same page and pages that share leads, with counts that are right', async () => {
    const two = await openTwo()
    const next = random(SEED)
    const page = () =>
      Array.from({ length: 10 }, () => {
        const { status } = pick(next, STAGES)
        const updatedAt = new Date(Date.UTC(2026, 10, 1) + Math.floor(next() * 1e9)).toISOString()
        return lead(`${Math.floor(next() * 60)}`, { status, updatedAt, statusChangedAt: updatedAt })
      })
    for (let round = 0; round < ROUNDS; round++) {
      const [first, second] = [page(), page()]
      const pages = round % 2 === 0 ? [first, first] : [first, second]
      const saving = two.both.map((store, n) =>
        store.writeSoon((trx) => saveLeads(trx, pages[n] ?? [], observedAt(NOW))),
      )
      await Promise.all(saving)
    }
    const leads = await two.one.db.selectFrom('lead').select('no').execute()
    expect(await countLeads(two.one.db)).toBe(leads.length)
    expect(await findViolations(two.one.db, NOW, 'all'), `SEED=${SEED}`).toEqual([])
  })
})

/**
 * What machines ask: /healthz, whether the process does its work (if not, start it again), and /readyz, whether what
 * it has is good (if not, tell a person). Open to all and without a limit
 * of requests, so they are cheap and say nothing but which part it is.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { LeadsheetError } from '../errors.ts'
import { BEAT_MAX_MS } from '../jobs/health/beat.ts'
import type { Subject } from '../jobs/health/installation.ts'
import type { Health } from '../jobs/health.ts'
import type { Log } from '../log.ts'
import type { AddRoutes } from './server/server.ts'

export interface HealthDeps {
  readonly readHealth: () => Promise<Health>
  /** Since the last tick of the daemon in this process, by a clock that nobody sets. */
  readonly sinceTickMs: () => number
  readonly log: Log
}

/** Who asks more often gets the same answer: each reads the store, and everybody may ask. */
const KEPT_MS = 1_000
/** Who asks does not wait as long as is waited for a PostgreSQL that is away. */
const ANSWER_WITHIN_MS = 5_000

/** What has to be well, and how it is said where it is not. All else only warns. */
const REASONS: { readonly [What in Subject]?: string } = {
  database: 'the database cannot be written',
  daemon: 'the daemon gives no sign of life',
  leads: 'the data are not fresh enough',
  schedules: 'a schedule is behind',
}

export function healthRoutes({ readHealth, sinceTickMs, log }: HealthDeps): AddRoutes {
  const readLately = keepLately(readHealth)
  return (app) => {
    app.get('/healthz', (_, reply) => {
      // It answers, so that the event loop turns; the database is not asked, since no restart would mend it.
      const isLive = sinceTickMs() <= BEAT_MAX_MS
      return sendJson(reply.code(isLive ? 200 : 503), { live: isLive })
    })
    app.get('/readyz', async (_, reply) => {
      try {
        const { checks } = await inTime(readLately())
        const asked = checks.filter(({ what }) => REASONS[what] !== undefined)
        const failed = asked.filter(({ verdict }) => verdict === 'fail')
        const reasons = failed.map(({ what }) => REASONS[what])
        const states = Object.fromEntries(asked.map(({ what, verdict }) => [what, verdict]))
        const isReady = failed.length === 0
        return sendJson(reply.code(isReady ? 200 : 503), { ready: isReady, reasons, checks: states })
      } catch (thrown) {
        const isAway = thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'
        // What is away is told by who works with it, once.
        if (!isAway) log.error({ err: thrown }, 'the store cannot be asked whether all is well')
        return sendJson(reply.code(503), {
          ready: false,
          reasons: ['the database cannot be read'],
          checks: {},
        })
      }
    })
  }
}

function keepLately<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; readonly untilMs: number } | null = null
  return () => {
    const nowMs = performance.now()
    if (kept === null || nowMs > kept.untilMs) kept = { answer: read(), untilMs: nowMs + KEPT_MS }
    return kept.answer
  }
}

/** @throws LeadsheetError store_unreachable */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const tooLate = delay(ANSWER_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new LeadsheetError('store_unreachable', 'the database does not answer')
  })
  return Promise.race([answer, tooLate])
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(body)}\n`)
}

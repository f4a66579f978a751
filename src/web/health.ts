/**
 * The health endpoints for machines. /healthz says whether the process works; a supervisor restarts a process
 * that does not. /readyz says whether the data is good; if the data is not good, a person must act. Both
 * endpoints are public and not rate limited, so their answers are cheap and reveal little.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { CheckResult, Part } from '../checks/check.ts'
import { HEARTBEAT_MAX_MS } from '../checks/check.ts'
import { LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { AddRoutes } from './server/server.ts'

interface HealthDeps {
  readonly readHealth: () => Promise<{ readonly checks: readonly CheckResult<Part>[] }>
  /** Returns the milliseconds since the daemon's last tick, by a monotonic clock. */
  readonly sinceTickMs: () => number
  readonly log: Log
}

// Answers are cached for this time, because each reads the store and everybody may ask.
const KEPT_MS = 1_000
// The longest time until an answer. It is shorter than the timeout for an unreachable PostgreSQL.
const ANSWER_WITHIN_MS = 5_000

// The checks that decide on readiness, with the reason that /readyz gives if a check fails. All other checks
// are ignored here.
const REASONS: { readonly [What in Part]?: string } = {
  database: 'the database cannot be written',
  daemon: 'the daemon gives no sign of life',
  leads: 'the data are not fresh enough',
  schedules: 'a schedule is behind',
}

export function healthRoutes({ readHealth, sinceTickMs, log }: HealthDeps): AddRoutes {
  const readLately = keepLately(readHealth)
  return (app) => {
    app.get('/healthz', (_, reply) => {
      // The database is not asked, because a restart of this process would not fix the database.
      const isLive = sinceTickMs() <= HEARTBEAT_MAX_MS
      return sendJson(reply.code(isLive ? 200 : 503), { live: isLive })
    })
    app.get('/readyz', async (_, reply) => {
      try {
        const { checks } = await inTime(readLately())
        const asked = checks.filter(({ what }) => REASONS[what] !== undefined)
        const failed = asked.filter(({ status }) => status === 'fail')
        const reasons = failed.map(({ what }) => REASONS[what])
        const states = Object.fromEntries(asked.map(({ what, status }) => [what, status]))
        const isReady = failed.length === 0
        return sendJson(reply.code(isReady ? 200 : 503), { ready: isReady, reasons, checks: states })
      } catch (thrown) {
        const isAway = thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'
        // An unreachable database is already logged by the part that works with it.
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

/**
 * The endpoints for machines: /healthz says whether the process works, /readyz whether the data is good, and
 * /metrics has the values for Prometheus. The first two need no token and have no rate limit, so their
 * answers reveal little.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { type CheckResult, HEARTBEAT_MAX_MS, type Part } from '../checks/check.ts'
import { ERROR_CODES, LeadsheetError } from '../errors.ts'
import type { Measures } from '../jobs/metric-values.ts'
import type { Log } from '../log.ts'
import { DEFINITIONS } from './metrics.ts'
import type { AddRoutes } from './server/server.ts'
import type { WebhookOutcome } from './webhooks.ts'

interface HealthDeps {
  readonly readHealth: () => Promise<{ readonly checks: readonly CheckResult<Part>[] }>
  /** Returns the milliseconds since the daemon's last tick. Changes of the system clock do not matter. */
  readonly sinceTickMs: () => number
  /** Returns whether another process keeps the database from being written. */
  readonly isLocked: () => boolean
  readonly log: Log
}

// Answers are cached for this time, because making an answer reads the store and anybody may ask for it.
const KEPT_MS = 1_000
// The maximum time to answer. It is shorter than the timeout for an unreachable PostgreSQL.
const ANSWER_WITHIN_MS = 5_000

// The checks that decide whether /readyz says that all is well, and the reason given if a check fails. Other
// checks do not matter here.
const REASONS: { readonly [What in Part]?: string } = {
  database: 'the database cannot be written',
  daemon: 'the daemon sends no heartbeat',
  leads: 'the data are not fresh enough',
  schedules: 'a schedule is behind',
}

const SILENCE = new LeadsheetError('store_unreachable', 'the database does not answer')

export function healthRoutes({ readHealth, sinceTickMs, isLocked, log }: HealthDeps): AddRoutes {
  const readLately = keepLately(readHealth)
  return (app) => {
    app.get('/healthz', (_, reply) => {
      // /healthz does not read the database, because restarting this process would not repair the database.
      const isLive = sinceTickMs() <= HEARTBEAT_MAX_MS
      return sendJson(reply.code(isLive ? 200 : 503), { live: isLive })
    })
    app.get('/readyz', async (_, reply) => {
      try {
        const { checks } = await inTime(readLately())
        const asked = checks.filter(({ what }) => REASONS[what] !== undefined)
        const failed = asked.filter(({ status }) => status === 'fail')
        const cause =
          failed.some(({ what }) => what === 'daemon') && isLocked() ? [ERROR_CODES.store_busy] : []
        const reasons = [...cause, ...failed.map(({ what }) => REASONS[what])]
        const states = Object.fromEntries(asked.map(({ what, status }) => [what, status]))
        const isReady = failed.length === 0
        return sendJson(reply.code(isReady ? 200 : 503), { ready: isReady, reasons, checks: states })
      } catch (thrown) {
        const isAway = thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'
        // An unreachable database is not logged here, because the part that uses the database logs it.
        if (!isAway) log.error({ err: thrown }, 'the store cannot be asked whether all is well')
        const reason = isLocked() ? ERROR_CODES.store_busy : reasonOf(thrown)
        return sendJson(reply.code(503), { ready: false, reasons: [reason], checks: {} })
      }
    })
  }
}

/** Says why the store could not be read, without its name or address. */
function reasonOf(thrown: unknown): string {
  if (thrown === SILENCE) return SILENCE.message
  const isOfStore = thrown instanceof LeadsheetError && thrown.code.startsWith('store_')
  return isOfStore ? ERROR_CODES[thrown.code] : 'the database cannot be read'
}

function keepLately<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; readonly untilMs: number } | null = null
  return () => {
    const nowMs = performance.now()
    if (kept === null || nowMs > kept.untilMs) kept = { answer: read(), untilMs: nowMs + KEPT_MS }
    return kept.answer
  }
}

/** @throws {@link SILENCE} if the answer takes too long */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const tooLate = delay(ANSWER_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw SILENCE
  })
  return Promise.race([answer, tooLate])
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(body)}\n`)
}

interface MetricsOptions {
  readonly measure: (now: Date) => Promise<Measures>
  readonly now: () => Date
  readonly version: string
}

const BUILD_INFO = {
  name: 'leadsheet_build_info',
  help: 'Always 1; the labels give the versions of leadsheet and Node.',
  labels: ['version', 'node'],
} as const

const HTTP_REQUESTS = {
  name: 'leadsheet_http_requests_total',
  help: 'Requests for pages since this process started, by route and status class (such as 2xx); absent before the first request of a route.',
  labels: ['route', 'status'],
} as const

const EVENTS_REFUSED = {
  name: 'leadsheet_events_refused_total',
  help: 'Refused requests to the webhook since this process started, by reason: unverified (not signed by the upstream) or busy (too many at once).',
  labels: ['reason'],
} as const
const REFUSALS = { refused: 'unverified', busy: 'busy' } as const

// The default metrics of `prom-client` that are removed: gauges whose names end in `_total` as if they were
// counters. Their values are only sums of other metrics.
const MISNAMED = ['active_handles', 'active_requests', 'active_resources'].map(
  (what) => `nodejs_${what}_total`,
)

// The metrics of this process. They are created only once, even if `openMetrics` is called again, because
// their hooks cannot be removed.
let ofProcess: Registry | null = null

export function openMetrics({ measure, now, version }: MetricsOptions) {
  const registry = new Registry()
  const registers = [registry]
  const settersOf = DEFINITIONS.map(({ name, help, type, labels, read }) => {
    const options = { name, help, labelNames: labels, registers }
    const metric = type === 'gauge' ? new Gauge(options) : new Counter(options)
    return (measures: Measures) => {
      const samples = read(measures)
      // The store knows totals, so a counter is set to its total too.
      metric.reset()
      // Without samples, the metric must have no value, but `reset` sets a metric without labels to 0.
      if (samples.length === 0) metric.remove({})
      for (const { labels, value } of samples) metric.inc(labels, value)
    }
  })
  const build = new Gauge({ ...BUILD_INFO, labelNames: BUILD_INFO.labels, registers })
  build.set({ version, node: process.versions.node }, 1)
  const requests = new Counter({ ...HTTP_REQUESTS, labelNames: HTTP_REQUESTS.labels, registers })
  const refused = new Counter({ ...EVENTS_REFUSED, labelNames: EVENTS_REFUSED.labels, registers })
  for (const reason of Object.values(REFUSALS)) refused.inc({ reason }, 0)
  const all = Registry.merge([registry, processRegistry()])
  return {
    registry: all,
    countAnswer: (route: string | null, status: number) =>
      requests.inc({ route: route ?? 'unknown', status: `${Math.floor(status / 100)}xx` }),
    /** Counts a webhook message, unless it was taken. */
    countMessage(outcome: WebhookOutcome) {
      if (outcome !== 'taken') refused.inc({ reason: REFUSALS[outcome] })
    },
    routes(app: FastifyInstance) {
      app.get('/metrics', async (_, reply) => {
        const measures = await measure(now())
        for (const set of settersOf) set(measures)
        return reply.type(all.contentType).send(await all.metrics())
      })
    },
  }
}

function processRegistry(): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
    for (const name of MISNAMED) ofProcess.removeSingleMetric(name)
  }
  return ofProcess
}

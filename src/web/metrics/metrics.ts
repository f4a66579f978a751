/**
 * /metrics for Prometheus. Most values are read from the store at each scrape. This process itself counts
 * requests for its pages, webhook messages that it refused, and its own resources.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Measures } from '../../jobs/measures.ts'
import type { AddRoutes } from '../server/server.ts'
import type { WebhookOutcome } from '../webhooks.ts'
import { DEFINITIONS, type Sample } from './definitions.ts'

interface Metrics {
  /** Counts an answer to a request for a page. */
  countAnswer(route: string | null, status: number): void
  /** Counts a webhook message. */
  countMessage(outcome: WebhookOutcome): void
  readonly routes: AddRoutes
  /** Every metric that /metrics shows. */
  readonly registry: Registry
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
  help: 'Requests for pages since this process started, by route and status class.',
  labels: ['route', 'status'],
} as const

const EVENTS_REFUSED = {
  name: 'leadsheet_events_refused_total',
  help: 'Refused requests to the webhook since this process started, by reason: the signature is not that of the source API, or too many came at once.',
  labels: ['reason'],
} as const
const REFUSALS = { refused: 'unverified', busy: 'busy' } as const

// Default metrics that are removed: gauges with names that end in `_total` like counters. Each is only the
// sum of other metrics.
const MISNAMED = ['active_handles', 'active_requests', 'active_resources'].map(
  (what) => `nodejs_${what}_total`,
)

// The registry of the metrics of this process. It is created only once, even if the pages are opened again,
// because its hooks cannot be removed.
let ofProcess: Registry | null = null

export function openMetrics({ measure, now, version }: MetricsOptions): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const settersOf = DEFINITIONS.map(({ name, help, type, labels, read }) => {
    const options = { name, help, labelNames: labels, registers }
    const put = type === 'gauge' ? putGauge(new Gauge(options)) : putCounter(new Counter(options))
    return (measures: Measures) => put(read(measures))
  })
  const build = new Gauge({ ...BUILD_INFO, labelNames: BUILD_INFO.labels, registers })
  build.set({ version, node: process.versions.node }, 1)
  const requests = new Counter({ ...HTTP_REQUESTS, labelNames: HTTP_REQUESTS.labels, registers })
  const refused = new Counter({ ...EVENTS_REFUSED, labelNames: EVENTS_REFUSED.labels, registers })
  for (const reason of Object.values(REFUSALS)) refused.inc({ reason }, 0)
  const all = Registry.merge([registry, processRegistry()])
  return {
    registry: all,
    countAnswer: (route, status) =>
      requests.inc({ route: route ?? 'unknown', status: `${Math.floor(status / 100)}xx` }),
    countMessage(outcome) {
      if (outcome !== 'taken') refused.inc({ reason: REFUSALS[outcome] })
    },
    routes(app) {
      app.get('/metrics', async (_, reply) => {
        const measures = await measure(now())
        for (const set of settersOf) set(measures)
        return reply.type(all.contentType).send(await all.metrics())
      })
    },
  }
}

function putGauge(gauge: Gauge): (samples: readonly Sample[]) => void {
  return (samples) => {
    gauge.reset()
    // The value of a gauge without labels is removed, because `reset` sets it to 0.
    if (samples.length === 0) gauge.remove({})
    for (const { labels, value } of samples) gauge.set(labels, value)
  }
}

/** Sets a counter to its total, because the store does not know the increase since the last scrape. */
function putCounter(counter: Counter): (samples: readonly Sample[]) => void {
  return (samples) => {
    counter.reset()
    for (const { labels, value } of samples) counter.inc(labels, value)
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

// @long
/**
 * Every metric, label and value in the shipped alerts and dashboards exists in a scrape of a daemon that has
 * synced and has messages to send. The documentation names every metric.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { openPgBossQueue } from '../../src/queue/pg-boss.ts'
import type { Store } from '../../src/store/db/store.ts'
import { saveEvents } from '../../src/store/events/event.ts'
import { openStore } from '../../src/store/open.ts'
import { addScheduledRun } from '../../src/store/schedule/scheduled-run.ts'
import { beginUptime } from '../../src/store/schedule/uptime.ts'
import { finishRun, noteLeadsAsOf, startRun } from '../../src/store/sync/sync-run.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { SILENT } from '../support/syncing.ts'
import { ask, NOW, openDashboard, TOKEN } from '../support/web/dashboard.ts'
import { type Metric, readMetrics } from '../support/web/prometheus.ts'

const AT = NOW.toISOString()
const PING = {
  id: 'msg_1',
  type: 'webhook.ping',
  occurredAt: AT,
  resource: null,
  resourceId: '',
  isDeletion: false,
  record: null,
  problem: null,
} as const
/** The labels that Prometheus adds to each series, and the series that it makes itself. */
const ADDED_LABELS = ['job', 'instance']
const ITS_OWN = 'up'

interface Rule {
  readonly alert: string
  readonly expr: string
}

interface Dashboard {
  readonly panels: readonly {
    readonly targets?: readonly { readonly expr: string }[]
  }[]
  readonly annotations: { readonly list: readonly { readonly expr?: string }[] }
}

const { groups } = parse(readFileSync('deploy/prometheus/leadsheet.rules.yaml', 'utf8'))
const rules: Rule[] = groups.flatMap((group: { rules: Rule[] }) => group.rules)
const dashboard: Dashboard = JSON.parse(readFileSync('deploy/grafana/leadsheet.json', 'utf8'))
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? [])

/**
 * Scrapes the daemon's server with the token.
 * @param open makes the store; by default in a file
 */
async function scrape(open?: typeof openShared): Promise<Map<string, Metric>> {
  const { url, store } = await openDashboard(
    undefined,
    'smtp: { url: "file:./outbox" }\nmail: { from: reports@example.com }\nrecipients: [ana@example.com]\nreports: [{ name: daily }]',
    open,
  )
  await store.write(async (trx) => {
    const runId = await startRun(trx, { mode: 'full', parts: ['leads'], at: AT })
    await noteLeadsAsOf(trx, runId, AT, 0)
    const none = { seen: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 }
    const counts = {
      leads: none,
      stats: 0,
      agents: 0,
      details: { read: 0, notFound: 0, failed: 0 },
      pages: 1,
    }
    const end = { runId, outcome: 'ok', complete: true, requests: 1, retries: 0, durationMs: 900 } as const
    await finishRun(trx, { ...end, ...counts, scan: null, problems: [], notBefore: null }, AT)
    await beginUptime(trx, { at: new Date().toISOString(), after: 'down' })
    const dueAt = { schedule: 'report:daily', due_at: AT, state: 'done', noted_at: AT } as const
    await addScheduledRun(trx, { ...dueAt, not_before: null, message: null })
    await saveEvents(trx, [PING], AT)
  })
  expect((await ask(`${url}/metrics`)).status).toBe(401)
  const headers = { authorization: `Bearer ${TOKEN}` }
  const answer = await ask(`${url}/metrics`, { headers })
  expect([answer.status, answer.headers['content-type']]).toEqual([
    200,
    expect.stringContaining('text/plain'),
  ])
  return readMetrics(answer.text)
}

/** Scrapes two workers that share a store, because neither exposes all metrics of the other. */
async function scrapeBoth(): Promise<Map<string, Metric>> {
  const metrics = await scrape()
  for (const [name, metric] of await scrape(openShared))
    if (!metrics.get(name)?.samples.length) metrics.set(name, metric)
  return metrics
}

async function openShared(_file: string, now: Date): Promise<Store> {
  const store = await openStore(await newDatabase(), now)
  if (store.place.kind !== 'postgres') throw new Error('it is in a file')
  await using _queue = await openPgBossQueue(store.place, SILENT)
  return store
}

interface Selector {
  readonly name: string
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[]
}

const WORDS = ['and', 'or', 'unless', 'bool', 'offset']

/** Returns the series that an expression of PromQL reads. */
function selectorsIn(expr: string): Selector[] {
  const bare = expr.replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)|\[\w+\]/g, '')
  const withMatchers = /([a-zA-Z_:][\w:]*)\{([^}]*)\}/g
  const names = bare.replaceAll(withMatchers, '').match(/\b[a-zA-Z_:][\w:]*\b(?!\s*\()/g) ?? []
  return [
    ...[...bare.matchAll(withMatchers)].map(([, name = '', matchers = '']) => ({
      name,
      matchers: [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
      ),
    })),
    ...names.filter((name) => !WORDS.includes(name)).map((name) => ({ name, matchers: [] })),
  ]
}

/** Returns the parts of a selector that no metric has. */
function missingIn({ name, matchers }: Selector, metrics: ReadonlyMap<string, Metric>): string[] {
  if (name === ITS_OWN) return []
  const metric = metrics.get(name)
  if (metric === undefined || metric.samples.length === 0) return [`${name} is not exposed`]
  return matchers
    .filter(({ label }) => !ADDED_LABELS.includes(label))
    .flatMap(({ label, operator, value }) => {
      const wanted = operator === '=~' ? value.split('|') : [value]
      return wanted
        .filter(
          (one) => !metric.samples.some(({ labels }) => new RegExp(`^${one}$`).test(labels[label] ?? '')),
        )
        .map((one) => `${name} has no ${label}="${one}"`)
    })
}

it('finds what is not exposed', () => {
  const metrics = readMetrics('# HELP a_total x\n# TYPE a_total counter\na_total{state="sent"} 1\n')
  const missing = (expr: string) => selectorsIn(expr).flatMap((selector) => missingIn(selector, metrics))
  expect(missing('sum by (state) (increase(a_total{job="x", state="sent"}[1h])) > 1.5e6')).toEqual([])
  expect(missing('rate(a_total{state=~"sent|gone", route="/"}[5m]) / b_total')).toEqual([
    'a_total has no state="gone"',
    'a_total has no route="/"',
    'b_total is not exposed',
  ])
})

it.skipIf(!hasPostgres)('alerts and panels of the dashboard ask for what is exposed', async () => {
  const metrics = await scrapeBoth()
  expect(rules.length).toBeGreaterThan(10)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, expr } of rules) {
    const missing = selectorsIn(expr).flatMap((selector) => missingIn(selector, metrics))
    expect(missing, alert).toEqual([])
  }
  const exprs = [...targets, ...dashboard.annotations.list].flatMap(({ expr }) => expr ?? [])
  expect(exprs.length).toBeGreaterThan(25)
  for (const expr of exprs) {
    expect(expr).toContain('job="$job"')
    expect(
      selectorsIn(expr).flatMap((selector) => missingIn(selector, metrics)),
      expr,
    ).toEqual([])
  }
})

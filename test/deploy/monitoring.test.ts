/**
 * Every metric, label and value in the shipped alerts and dashboards exists in a scrape of a daemon that has
 * synced and has messages to send. The documentation names every metric.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
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

const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Leadsheet[A-Z][A-Za-z]+$/),
          expr: z.string(),
          for: z.string().regex(/^\d+[mh]$/),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string(), remedy: z.string() }),
        }),
      ),
    }),
  ),
})
const targetSchema = z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })
const panelSchema = z.object({
  id: z.int(),
  type: z.enum(['row', 'stat', 'timeseries', 'state-timeline']),
  title: z.string().min(1),
  description: z.string().min(1).optional(),
  gridPos: z.strictObject({ h: z.int(), w: z.int().max(24), x: z.int(), y: z.int() }),
  datasource: z.strictObject({ type: z.literal('prometheus'), uid: z.literal(`\${datasource}`) }).optional(),
  targets: z.array(targetSchema).min(1).optional(),
  fieldConfig: z
    .object({ defaults: z.object({ unit: z.string().optional() }), overrides: z.array(z.object({})) })
    .optional(),
  options: z.object({}).optional(),
})
const dashboardSchema = z.object({
  uid: z.literal('leadsheet'),
  title: z.string(),
  schemaVersion: z.int().min(38),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  annotations: z.object({ list: z.array(z.object({ expr: z.string().optional() })) }),
  panels: z.array(panelSchema),
})

const { groups } = rulesSchema.parse(parse(readFileSync('deploy/prometheus/leadsheet.rules.yaml', 'utf8')))
const rules = groups.flatMap((group) => group.rules)
const dashboard = dashboardSchema.parse(JSON.parse(readFileSync('deploy/grafana/leadsheet.json', 'utf8')))
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

/** Returns the labels that a text fills in, in the notation of Prometheus or Grafana. */
function labelsIn(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}/g)].map(([, label = '']) => label)
}

function hasLabel(label: string, expr: string, metrics: ReadonlyMap<string, Metric>): boolean {
  return selectorsIn(expr).some(({ name }) =>
    metrics.get(name)?.samples.some(({ labels }) => labels[label] !== undefined),
  )
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

it.skipIf(!hasPostgres)('each alert asks for what is exposed, and says what to do', async () => {
  const metrics = await scrapeBoth()
  expect(rules.length).toBeGreaterThan(10)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, expr, annotations } of rules) {
    const missing = selectorsIn(expr).flatMap((selector) => missingIn(selector, metrics))
    expect(missing, alert).toEqual([])
    const unknown = Object.values(annotations)
      .flatMap(labelsIn)
      .filter((label) => !hasLabel(label, expr, metrics))
    expect(unknown, alert).toEqual([])
  }
})

it.skipIf(!hasPostgres)('each panel of the dashboard asks for what is exposed', async () => {
  const metrics = await scrapeBoth()
  const exprs = [...targets, ...dashboard.annotations.list].flatMap(({ expr }) => expr ?? [])
  expect(exprs.length).toBeGreaterThan(25)
  for (const expr of exprs) {
    expect(expr).toContain('job="$job"')
    expect(
      selectorsIn(expr).flatMap((selector) => missingIn(selector, metrics)),
      expr,
    ).toEqual([])
  }
  for (const { expr, legendFormat } of targets)
    for (const label of labelsIn(legendFormat)) expect(hasLabel(label, expr, metrics), expr).toBe(true)
})

it('the panels stand side by side, in rows, each with a place and a number of its own', () => {
  const { panels } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const taken = new Set<string>()
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`), title).toBe(false)
        taken.add(`${x} ${y}`)
      }
  }
  expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
    'Overview',
    'Data',
    'Syncs',
    'Events',
    'Reports and mail',
    'Workers',
    'Process and disk',
  ])
  expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job'])
})

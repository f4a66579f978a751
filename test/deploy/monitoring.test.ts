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
import { noteRun, saveSync, saveUptime } from '../support/data/operation.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { eventOf } from '../support/source/following.ts'
import { SILENT } from '../support/syncing.ts'
import { ask, NOW, openDashboard, TOKEN } from '../support/web/dashboard.ts'
import { type Metric, readMetrics } from '../support/web/prometheus.ts'

const AT = NOW.toISOString()
/** The labels that Prometheus adds to each series, and the series that it makes itself. */
const ADDED_LABELS = ['job', 'instance']
const ITS_OWN = 'up'
const RULES = 'deploy/prometheus/leadsheet.rules.yaml'

/** Returns the values of a field wherever it stands in a file. */
function valuesIn(file: string, field: 'expr' | 'alert'): string[] {
  const found: string[] = []
  JSON.stringify(parse(readFileSync(file, 'utf8')), (key, value) => {
    if (key === field) found.push(value)
    return value
  })
  return found
}

/**
 * Scrapes the daemon's server with the token.
 * @param open makes the store; by default in a file
 */
async function scrape(open?: typeof openShared): Promise<Map<string, Metric>> {
  const { url, store } = await openDashboard(
    undefined,
    'mail: { url: "file:./outbox", from: reports@example.com }\nrecipients: [ana@example.com]\nreports: [{ name: daily }]',
    open,
  )
  const now = new Date().toISOString()
  await saveUptime(store, now, now)
  await noteRun(store, { schedule: 'report:daily', due_at: AT, state: 'done' })
  await store.write(async (trx) => {
    await saveSync(trx, AT)
    await saveEvents(trx, [eventOf('ld_1')], AT)
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

/** Returns what an expression reads and no metric has. */
function missingIn(expr: string, metrics: ReadonlyMap<string, Metric>): string[] {
  return selectorsIn(expr).flatMap(({ name, matchers }) => {
    if (name === ITS_OWN) return []
    const samples = metrics.get(name)?.samples ?? []
    if (samples.length === 0) return [`${name} is not exposed`]
    return matchers
      .filter(({ label }) => !ADDED_LABELS.includes(label))
      .flatMap(({ label, operator, value }) => {
        const has = (one: string) =>
          samples.some(({ labels }) => new RegExp(`^${one}$`).test(labels[label] ?? ''))
        return (operator === '=~' ? value.split('|') : [value])
          .filter((one) => !has(one))
          .map((one) => `${name} has no ${label}="${one}"`)
      })
  })
}

it('finds what is not exposed', () => {
  const metrics = readMetrics('# HELP a_total x\n# TYPE a_total counter\na_total{state="sent"} 1\n')
  const missing = (expr: string) => missingIn(expr, metrics)
  expect(missing('sum by (state) (increase(a_total{job="x", state="sent"}[1h])) > 1.5e6')).toEqual([])
  expect(missing('rate(a_total{state=~"sent|gone", route="/"}[5m]) / b_total')).toEqual([
    'a_total has no state="gone"',
    'a_total has no route="/"',
    'b_total is not exposed',
  ])
})

it.skipIf(!hasPostgres)('alerts and panels of the dashboard ask for what is exposed', async () => {
  // Neither of two workers exposes all metrics of the other.
  const metrics = await scrape()
  for (const [name, metric] of await scrape(openShared))
    if (!metrics.get(name)?.samples.length) metrics.set(name, metric)
  const names = valuesIn(RULES, 'alert')
  expect(new Set(names).size).toBe(names.length)
  const alerts = valuesIn(RULES, 'expr')
  const panels = valuesIn('deploy/grafana/leadsheet.json', 'expr')
  expect(alerts.length).toBeGreaterThan(10)
  expect(panels.length).toBeGreaterThan(25)
  expect(panels.filter((expr) => !expr.includes('job="$job"'))).toEqual([])
  expect([...alerts, ...panels].flatMap((expr) => missingIn(expr, metrics))).toEqual([])
})

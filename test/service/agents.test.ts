/** The agents over two weeks: running, idle, failing, paused, and back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentListSchema, type WireAgent } from '../../src/contract/pipeline.ts'
import { HOUR_MS, startService, type TestService } from './support/service.ts'

interface Reading {
  readonly at: string
  readonly agents: readonly WireAgent[]
}

let api: TestService
const readings: Reading[] = []
beforeAll(async () => {
  api = await startService({ historyDays: 10 })
  for (let hour = 0; hour < 14 * 24; hour++) {
    const { data, as_of } = agentListSchema.parse((await api.get('/agents/status')).json)
    readings.push({ at: as_of, agents: data })
    await api.pass(HOUR_MS)
  }
})
afterAll(() => api[Symbol.asyncDispose]())

const states = (): readonly (WireAgent & { readonly at: string })[] =>
  readings.flatMap(({ at, agents }) => agents.map((agent) => ({ ...agent, at })))

test('the agents do as ever over two weeks: what they are, when they work, what they do and why they fail', async () => {
  const tally = (keys: readonly string[]) =>
    Object.fromEntries(
      [...Map.groupBy(keys, (key) => key)].map(([key, { length }]) => [key, length] as const).sort(),
    )
  const last = readings.at(-1)
  const story = {
    agents: readings[0]?.agents.map(({ id, name, kind }) => `${id} ${name} ${kind}`),
    'readings by weekday and status': tally(
      states().map(({ at, status }) => `${new Date(at).getUTCDay()} ${status}`),
    ),
    'readings by hour of those at work': tally(
      states().flatMap(({ at, status }) => (status === 'running' ? at.slice(11, 13) : [])),
    ),
    'tasks by type': tally(states().flatMap(({ current_task: task }) => task?.type ?? [])),
    'failures by message': tally(
      states().flatMap(({ status, last_error }) =>
        status === 'failing' ? (last_error?.message ?? 'none') : [],
      ),
    ),
    'most out at once': Math.max(
      ...readings.map(
        ({ agents }) => agents.filter(({ status }) => ['failing', 'paused'].includes(status)).length,
      ),
    ),
    'the last 24 hours': last?.agents.map(
      ({ id, last_24h: { tasks, errors } }) => `${id} ${tasks} ${errors}`,
    ),
  }
  await expect(`${JSON.stringify(story, null, 2)}\n`).toMatchFileSnapshot('golden/agents.json')
})

test.each(['2026-11-22T22:40:00Z', '2026-12-01T00:20:00Z'])(
  'at the present of a new history, at whatever hour, one fails and others work: %s',
  async (at) => {
    await using begun = await startService({ historyDays: 3, now: () => Date.parse(at) })
    const { data } = agentListSchema.parse((await begun.get('/agents/status')).json)
    const count = (status: string): number => data.filter((agent) => agent.status === status).length
    expect(count('failing')).toBe(1)
    expect(count('running')).toBeGreaterThan(0)
    expect(count('idle')).toBeGreaterThan(4)
  },
)

describe('an agent', () => {
  test('begins nothing for a pipeline before there is one', async () => {
    const made = await api.post('/pipelines', {
      name: 'Nordics',
      criteria: { countries: ['Sweden', 'India'] },
    })
    expect(made.status).toBe(201)
    const { id, created_at } = made.json as { id: string; created_at: string }
    const tasks: string[] = []
    for (let minute = 0; minute < 90; minute += 3) {
      await api.pass(3 * 60_000)
      const { data } = agentListSchema.parse((await api.get('/agents/status')).json)
      tasks.push(
        ...data.flatMap(({ current_task: task }) => (task?.pipeline_id === id ? [task.started_at] : [])),
      )
    }
    expect(tasks.length).toBeGreaterThan(3)
    expect(tasks.filter((startedAt) => startedAt < created_at)).toEqual([])
  })

  test('works on leads and pipelines that there are', () => {
    const ids = (table: string): string[] =>
      api.rows<{ id: string }>(`select id from ${table}`).map((row) => row.id)
    const leads = new Set([
      ...ids('lead'),
      ...api.rows<{ id: string }>('select lead_id as id from removed_lead').map((row) => row.id),
    ])
    const tasks = states().flatMap((agent) => agent.current_task ?? [])
    expect(tasks.filter((task) => task.lead_id !== null && !leads.has(task.lead_id))).toEqual([])
    expect(new Set(tasks.map((task) => task.pipeline_id)).difference(new Set(ids('pipeline')))).toEqual(
      new Set(),
    )
    expect(new Set(tasks.map((task) => task.type)).size).toBeGreaterThan(6)
  })

  test('that fails says why, and does nothing meanwhile', () => {
    const failing = states().filter((agent) => agent.status === 'failing')
    expect(failing.length).toBeGreaterThan(0)
    for (const agent of failing) {
      expect(agent.last_24h.errors).toBeGreaterThan(0)
      expect(agent.last_error?.message).toMatch(/HTTP|SMTP|timed out|failed|quota|expired|endpoint/)
      expect((agent.last_error?.at ?? '') >= agent.status_changed_at).toBe(true)
      const done = api.rows(
        `select 1 from activity where agent_id = '${agent.id}' and at between ${Date.parse(agent.status_changed_at)} and ${Date.parse(agent.at)}`,
      )
      expect(done).toEqual([])
    }
  })

  test('has the tasks and errors of the last 24 hours counted', () => {
    const last = readings.at(-1)
    const to = Date.parse(last?.at ?? '')
    const counts = (table: string, more: string): Record<string, number> => {
      const rows = api.rows<{ agent_id: string; n: number }>(
        `select agent_id, count(*) as n from ${table} where at > ${to - 24 * HOUR_MS} and at <= ${to} ${more} group by agent_id`,
      )
      return Object.fromEntries(rows.map((row) => [row.agent_id, row.n]))
    }
    const tasks = counts('activity', "and type != 'error'")
    const errors = counts('agent_error', '')
    for (const agent of last?.agents ?? []) {
      expect(agent.last_24h).toEqual({ tasks: tasks[agent.id] ?? 0, errors: errors[agent.id] ?? 0 })
    }
    expect(Object.keys(tasks).length).toBeGreaterThan(6)
  })
})

test('incidents are events: an agent goes out, and is told to be back', () => {
  const events = api.rows<{ agent_id: string; status: string }>(
    "select agent_id, data ->> 'status' as status from event where type = 'agent.status_changed' order by id",
  )
  expect(events.length).toBeGreaterThan(4)
  for (const [index, event] of events.entries()) {
    const expected = index % 2 === 0 ? ['failing', 'paused'] : ['idle']
    expect(expected).toContain(event.status)
    if (index % 2 === 1) expect(event.agent_id).toBe(events[index - 1]?.agent_id)
  }
})

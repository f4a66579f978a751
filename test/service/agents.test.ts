/** The agents over a week: running, idle, failing, paused, and back. */
import { expect, test } from 'vitest'
import { agentListSchema, type WireAgent } from '../../src/contract/pipeline.ts'
import { HOUR_MS, serviceOfFile, startService } from './support/service.ts'

const api = await serviceOfFile({ historyDays: 7 })
const readings: { readonly at: string; readonly agents: readonly WireAgent[] }[] = []
for (let hour = 0; hour < 7 * 24; hour++) {
  const { data, as_of } = agentListSchema.parse((await api.get('/agents/status')).json)
  readings.push({ at: as_of, agents: data })
  await api.pass(HOUR_MS)
}

const states = (): readonly (WireAgent & { readonly at: string })[] =>
  readings.flatMap(({ at, agents }) => agents.map((agent) => ({ ...agent, at })))

test('the agents do as ever over a week: what they are, when they work, what they do and why they fail', async () => {
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

test('an agent begins nothing for a pipeline before there is one', async () => {
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

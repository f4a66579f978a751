/** Compares the statistics with figures counted from the leads and their histories. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FUNNEL_STATUSES, leadDetailSchema, type WireLeadDetail } from '../../src/contract/lead.ts'
import { pipelineStatsSchema, type WirePipelineStats } from '../../src/contract/pipeline.ts'
import { DAY_MS, NOW, startService, type TestService } from './support/service.ts'

const PIPELINE = 'pl_american_business'
const FROM = new Date(NOW - 42 * DAY_MS).toISOString()
const TO = new Date(NOW - 20 * DAY_MS).toISOString()

let api: TestService
let leads: readonly WireLeadDetail[]
beforeAll(async () => {
  api = await startService({ historyDays: 45, rateLimitPerMinute: 10_000 })
  const listed = await api.walk(`pipeline_id=${PIPELINE}&limit=1000`)
  const details = await Promise.all(listed.map((lead) => api.get(`/leads/${lead.id}`)))
  leads = details.map((answer) => leadDetailSchema.parse(answer.json))
})
afterAll(() => api[Symbol.asyncDispose]())

async function stats(query = ''): Promise<WirePipelineStats> {
  return pipelineStatsSchema.parse((await api.get(`/pipelines/${PIPELINE}/stats${query}`)).json)
}

describe.each([
  ['the whole life', '', () => leads],
  [
    'a cohort',
    `?from=${FROM}&to=${TO}`,
    () => leads.filter((lead) => lead.created_at >= FROM && lead.created_at < TO),
  ],
] as const)('the statistics of %s', (_, query, cohort) => {
  test('count the leads by status', async () => {
    const count = (...statuses: string[]): number =>
      cohort().filter((lead) => statuses.includes(lead.status)).length
    const { totals, stages, win_rate } = await stats(query)
    expect(totals).toEqual({
      leads: cohort().length,
      open: cohort().length - count('won', 'lost', 'disqualified'),
      won: count('won'),
      lost: count('lost'),
      disqualified: count('disqualified'),
    })
    expect(totals.won).toBeGreaterThan(0)
    expect(stages.map((stage) => stage.current)).toEqual(FUNNEL_STATUSES.map((status) => count(status)))
    expect(win_rate).toBeCloseTo(count('won') / count('won', 'lost'), 4)
  })

  test('count as reached every stage up to the furthest, also of leads that were lost', async () => {
    const order: readonly string[] = FUNNEL_STATUSES
    const furthest = cohort().map((lead) =>
      Math.max(...lead.activity.map((one) => order.indexOf(one.to_status ?? ''))),
    )
    const reached = FUNNEL_STATUSES.map((_, index) => furthest.filter((stage) => stage >= index).length)
    const { stages } = await stats(query)
    expect(stages.map((stage) => stage.stage)).toEqual(FUNNEL_STATUSES)
    expect(stages.map((stage) => stage.reached)).toEqual(reached)
    expect(stages[0]?.conversion).toBeNull()
    for (const [index, stage] of stages.entries()) {
      if (index > 0)
        expect(stage.conversion).toBeCloseTo((reached[index] ?? 0) / (reached[index - 1] ?? 0), 3)
    }
  })

  test('give the median time of those that have left a stage', async () => {
    const { stages } = await stats(query)
    for (const { stage, median_hours } of stages) {
      const hours = cohort().flatMap((lead) => hoursIn(lead, stage))
      expect(median_hours).toEqual(hours.length === 0 ? null : expect.closeTo(median(hours), 1))
    }
    expect(stages.at(-1)?.median_hours).toBeNull()
  })

  test('sum the values of open and of won leads', async () => {
    const sum = (isMeant: (lead: WireLeadDetail) => boolean): number =>
      cohort()
        .filter(isMeant)
        .reduce((total, lead) => total + (lead.value?.amount ?? 0), 0)
    const { open_value, won_value } = await stats(query)
    const isOpen = (lead: WireLeadDetail): boolean => !['won', 'lost', 'disqualified'].includes(lead.status)
    expect(open_value).toEqual({ amount: sum(isOpen), currency: 'USD' })
    expect(won_value).toEqual({ amount: sum((lead) => lead.status === 'won'), currency: 'USD' })
  })
})

test('the statistics of a time without leads are zeros and nulls', async () => {
  const empty = await stats('?to=2020-01-01T00:00:00Z')
  expect(empty).toMatchObject({ totals: { leads: 0, open: 0 }, win_rate: null, won_value: { amount: 0 } })
  expect(empty.stages.every((stage) => stage.conversion === null && stage.median_hours === null)).toBe(true)
})

/** Returns the hours between each entry into a stage and the change of status that ended it. */
function hoursIn(lead: WireLeadDetail, stage: string): number[] {
  const changes = lead.activity.filter((one) => one.to_status !== null)
  return changes.flatMap((from, index) => {
    const to = changes[index + 1]
    return from.to_status === stage && to ? [(Date.parse(to.at) - Date.parse(from.at)) / 3_600_000] : []
  })
}

function median(numbers: readonly number[]): number {
  const inOrder = [...numbers].sort((a, b) => a - b)
  const middle = (inOrder.length - 1) / 2
  return ((inOrder[Math.floor(middle)] ?? 0) + (inOrder[Math.ceil(middle)] ?? 0)) / 2
}

/** The statistics of a pipeline as goldens, which were compared with its leads and their histories by hand. */
import { expect, test } from 'vitest'
import { leadDetailSchema, type WireLeadDetail } from '../../src/contract/lead.ts'
import { pipelineStatsSchema } from '../../src/contract/pipeline.ts'
import { DAY_MS, NOW, serviceOfFile } from './support/service.ts'

const PIPELINE = 'pl_american_business'
const FROM = new Date(NOW - 42 * DAY_MS).toISOString()
const TO = new Date(NOW - 20 * DAY_MS).toISOString()

const api = await serviceOfFile({ historyDays: 45, rateLimitPerMinute: 10_000 })
const listed = await api.walk(`pipeline_id=${PIPELINE}&limit=1000`)
const details = await Promise.all(listed.map((lead) => api.get(`/leads/${lead.id}`)))
const leads = details.map((answer) => leadDetailSchema.parse(answer.json))

test.each([
  ['the whole life', '', 'all-time', () => true],
  [
    'a cohort',
    `?from=${FROM}&to=${TO}`,
    'cohort',
    ({ created_at: at }: WireLeadDetail) => at >= FROM && at < TO,
  ],
  ['a time without leads', '?to=2020-01-01T00:00:00Z', 'empty', () => false],
] as const)('the statistics of %s', async (_, query, name, isOf) => {
  const stats = pipelineStatsSchema.parse((await api.get(`/pipelines/${PIPELINE}/stats${query}`)).json)
  await expect(`${JSON.stringify(stats, null, 2)}\n`).toMatchFileSnapshot(`golden/stats-${name}.json`)
  const cohort = leads.filter(isOf)
  const count = (status: string) => cohort.filter((lead) => lead.status === status).length
  expect(stats.totals).toMatchObject({ leads: cohort.length, won: count('won'), lost: count('lost') })
  expect(stats.stages.map(({ current }) => current)).toEqual(stats.stages.map(({ stage }) => count(stage)))
})

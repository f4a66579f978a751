/** The simulation is the same for the same seed, however it is interrupted, and it is plausible. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCompanies } from '../../../src/service/simulation/companies.ts'
import { openSimulation } from '../../../src/service/simulation/simulation.ts'
import { openServiceDatabase, type ServiceDatabase } from '../../../src/service/store/database.ts'
import { insertPipeline } from '../../../src/service/store/pipeline-stats.ts'
import { folderWith } from '../../support/folder.ts'
import { COMPANIES } from '../../support/service.ts'
import { DAY_MS, HOUR_MS, NOW, serviceOfFile } from '../support/service.ts'

const companies = readCompanies(COMPANIES)

interface Stop {
  readonly at: number
  readonly stretchMs: number
}

/** Plays a history, opening the store anew at each stop. Returns all its tables. */
async function play(seed: number, stops: readonly Stop[]): Promise<Record<string, unknown[]>> {
  const file = join(folderWith(), 'service.db')
  for (const [index, { at, stretchMs }] of stops.entries()) {
    await using db = await openServiceDatabase(file)
    const simulation = await openSimulation(db, { seed, companies, historyDays: 12, now: NOW })
    if (index === 0) await addPipeline(db)
    await simulation.advance(at, { stretchMs })
  }
  await using db = await openServiceDatabase(file)
  const tables = (await db.introspection.getTables()).map(
    async ({ name }) =>
      [
        name,
        await db
          .selectFrom(name as 'lead')
          .selectAll()
          .execute(),
      ] as const,
  )
  return Object.fromEntries(await Promise.all(tables))
}

/** Adds a pipeline as a client would, in the middle of the history, with a limit that is reached. */
async function addPipeline(db: ServiceDatabase): Promise<void> {
  const at = NOW - 8 * DAY_MS
  const criteria = JSON.stringify({ countries: ['India'], limit: 40 })
  await insertPipeline(db, {
    id: 'pl_client',
    name: 'India',
    criteria,
    status: 'active',
    created_at: at,
    updated_at: at,
  })
}

test('a history is the same for the same seed, however it was stopped and played, and another for another', async () => {
  const inOneGo = [{ at: NOW, stretchMs: DAY_MS }]
  const start = Math.floor(NOW / DAY_MS) * DAY_MS - 12 * DAY_MS
  const stops = [
    ...[1, 7919, 13 * HOUR_MS + 1234].map((after) => ({ at: start + after, stretchMs: HOUR_MS })),
    ...[2.5, 6, 6.001].map((days) => ({ at: start + days * DAY_MS, stretchMs: 5.3 * HOUR_MS })),
    { at: NOW - 1, stretchMs: 9 * DAY_MS },
    { at: NOW, stretchMs: DAY_MS },
  ]
  const whole = await play(7, inOneGo)
  expect(whole.lead?.length).toBeGreaterThan(150)
  expect(await play(7, stops)).toEqual(whole)
  expect((await play(8, inOneGo)).lead).not.toEqual(whole.lead)
})

describe('45 days of it', async () => {
  const api = await serviceOfFile({ historyDays: 45 })

  const count = (sql: string): number =>
    api.rows<{ n: number }>(`select count(*) as n from ${sql}`)[0]?.n ?? 0
  const counts = (key: string, table: string): Readonly<Record<string, number>> =>
    Object.fromEntries(
      api
        .rows<{ n: number; key: string }>(`select ${key} as key, count(*) as n from ${table} group by 1`)
        .map((row) => [row.key, row.n]),
    )

  test('are plausible, and the same as ever: their leads, moves, hours and values', async () => {
    const outreach = "activity join lead on lead.id = lead_id where activity.agent_id like 'agt_outreach%'"
    const met = "lead where id in (select lead_id from activity where to_status = 'meeting')"
    const open = "lead where status not in ('won', 'lost', 'disqualified')"
    const weekdayOf = (column: string) => `strftime('%w', ${column} / 1000, 'unixepoch')`
    const story = {
      'leads by status': counts('status', 'lead'),
      'leads by pipeline': counts('pipeline_id', 'lead'),
      'leads by weekday of creation': counts(weekdayOf('created_at'), 'lead'),
      'leads by week of creation': counts(`(created_at - ${NOW}) / ${7 * DAY_MS}`, 'lead'),
      'leads by owner': counts("ifnull(owner, 'nobody')", 'lead'),
      'leads by currency of their value': counts("ifnull(value_currency, 'none')", 'lead'),
      'values that are not round': counts('value_amount', 'lead where value_amount % 500 <> 0'),
      'open leads that stall': counts('status', `${open} and updated_at < ${NOW - 7 * DAY_MS}`),
      'leads without a score': counts('status', 'lead where score is null'),
      'leads of companies with more than 50 people': count('lead where employees > 50'),
      moves: counts("from_status || ' to ' || to_status", 'activity where from_status is not null'),
      'moves to a reply by pipeline': counts(
        'pipeline_id',
        "activity join lead on lead.id = lead_id where to_status = 'replied'",
      ),
      'entries by type': counts('type', 'activity'),
      'outreach by weekday': counts(weekdayOf('activity.at'), outreach),
      'outreach by region and hour': counts(
        "ifnull(region, 'no region') || strftime(' %H', activity.at / 1000, 'unixepoch')",
        outreach,
      ),
      'expected closes by weekday': counts(weekdayOf('expected_close_at'), met),
      'expected closes that have passed': counts('status', `${met} and expected_close_at < ${NOW}`),
    }
    await expect(`${JSON.stringify(story, null, 2)}\n`).toMatchFileSnapshot('golden/45-days.json')
  })

  test('have nothing in the future, and each lead as its history says', () => {
    const last = 'select max(at) from activity where lead_id = lead.id'
    for (const never of [
      `lead where max(created_at, updated_at, status_changed_at) > ${NOW}`,
      `activity where at > ${NOW}`,
      `event where at > ${NOW}`,
      `lead where updated_at != (${last})`,
      `lead where status_changed_at != (${last} and to_status is not null)`,
      `lead where status != (select to_status from activity
        where lead_id = lead.id and to_status is not null order by id desc limit 1)`,
      `lead where (value_amount is not null) != exists (${last} and to_status = 'qualified' having max(at) > 0)`,
      `lead where (expected_close_at is not null) != exists (${last} and to_status = 'meeting' having max(at) > 0)`,
      `lead where expected_close_at % ${DAY_MS} <> 0`,
      "(select lead_id from activity where type = 'scored' group by 1 having count(*) > 1)",
    ])
      expect(count(never), never).toBe(0)
  })
})

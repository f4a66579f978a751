/** The simulation is the same for the same seed, however it is interrupted, and it is plausible. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LEAD_STATUSES } from '../../../src/contract/lead.ts'
import { readCompanies } from '../../../src/service/simulation/companies.ts'
import { openSimulation } from '../../../src/service/simulation/simulation.ts'
import { openServiceDatabase, type ServiceDatabase } from '../../../src/service/store/database.ts'
import { insertPipeline } from '../../../src/service/store/pipeline-stats.ts'
import { folderWith } from '../../support/folder.ts'
import { COMPANIES } from '../../support/service.ts'
import { DAY_MS, HOUR_MS, NOW, startService, type TestService } from '../support/service.ts'

const companies = readCompanies(COMPANIES)
const TABLES = [
  'simulation',
  'pipeline',
  'lead',
  'removed_lead',
  'activity',
  'event',
  'agent_incident',
  'agent_error',
] as const

interface Stop {
  readonly at: number
  readonly stretchMs: number
}

/** Plays a history, opening the store anew at each stop. Returns all its tables. */
async function play(seed: number, stops: readonly Stop[]): Promise<Record<string, unknown[]>> {
  const file = join(folderWith(), 'service.db')
  for (const [index, { at, stretchMs }] of stops.entries()) {
    await using opened = await openDatabase(file)
    const simulation = await openSimulation(opened.db, { seed, companies, historyDays: 20, now: NOW })
    if (index === 0) await addPipeline(opened.db)
    await simulation.advance(at, { stretchMs })
  }
  await using opened = await openDatabase(file)
  const tables = TABLES.map(
    async (table) => [table, await opened.db.selectFrom(table).selectAll().execute()] as const,
  )
  return Object.fromEntries(await Promise.all(tables))
}

async function openDatabase(file: string): Promise<AsyncDisposable & { readonly db: ServiceDatabase }> {
  const db = await openServiceDatabase(file)
  return { db, [Symbol.asyncDispose]: () => db.destroy() }
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

describe('a history', () => {
  const inOneGo = [{ at: NOW, stretchMs: DAY_MS }]

  test('is the same for the same seed, another for another', async () => {
    const first = await play(7, inOneGo)
    expect(await play(7, inOneGo)).toEqual(first)
    expect((await play(8, inOneGo)).lead).not.toEqual(first.lead)
  })

  test('is the same however often the service was stopped, and in whatever stretches it was played', async () => {
    const start = Math.floor(NOW / DAY_MS) * DAY_MS - 20 * DAY_MS
    const stops = [
      ...[1, 7919, HOUR_MS, 13 * HOUR_MS + 1234].map((after) => ({ at: start + after, stretchMs: HOUR_MS })),
      ...[2.5, 6, 11.77, 12, 12.001, 15.5].map((days) => ({
        at: start + days * DAY_MS,
        stretchMs: 5.3 * HOUR_MS,
      })),
      { at: NOW - 1, stretchMs: 9 * DAY_MS },
      { at: NOW, stretchMs: DAY_MS },
    ]
    const whole = await play(7, inOneGo)
    expect(whole.lead?.length).toBeGreaterThan(350)
    expect(await play(7, stops)).toEqual(whole)
  })

  test('stands still when asked for a time that it has passed', async () => {
    const whole = await play(7, inOneGo)
    expect(await play(7, [...inOneGo, { at: NOW - DAY_MS, stretchMs: DAY_MS }])).toEqual(whole)
  })
})

describe('90 days of it', () => {
  interface Row {
    readonly n: number
    readonly key: string
  }
  let api: TestService
  /** CPU time, because wall time depends on the machine's other work. */
  let tookSeconds: number
  beforeAll(async () => {
    const before = process.cpuUsage()
    api = await startService({ historyDays: 90 })
    const { user, system } = process.cpuUsage(before)
    tookSeconds = (user + system) / 1e6
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const count = (sql: string): number =>
    api.rows<{ n: number }>(`select count(*) as n from ${sql}`)[0]?.n ?? 0
  const counts = (key: string, table: string): Readonly<Record<string, number>> =>
    Object.fromEntries(
      api
        .rows<Row>(`select ${key} as key, count(*) as n from ${table} group by 1`)
        .map((row) => [row.key, row.n]),
    )

  test('are played in seconds', () => {
    expect(tookSeconds).toBeLessThan(10)
  })

  test('give 20 to 35 new leads on a working day, most in mid-week and hardly any at weekends', () => {
    const days = counts("strftime('%w', created_at / 1000, 'unixepoch')", 'lead')
    const weeks = 90 / 7
    const perDay = [0, 1, 2, 3, 4, 5, 6].map((day) => (days[day] ?? 0) / weeks)
    const working = perDay.slice(1, 6).reduce((a, b) => a + b, 0) / 5
    expect(working).toBeGreaterThan(20)
    expect(working).toBeLessThan(35)
    expect(Math.min(perDay[2] ?? 0, perDay[3] ?? 0, perDay[4] ?? 0)).toBeGreaterThan(
      Math.max(perDay[1] ?? 0, perDay[5] ?? 0),
    )
    expect(Math.max(perDay[0] ?? 0, perDay[6] ?? 0)).toBeLessThan(working / 10)
  })

  test('end with more leads a week than they begin with', () => {
    const from = api.rows<{ at: number }>('select epoch_at as at from simulation')[0]?.at ?? 0
    const inWeeks = (first: number, last: number): number =>
      count(
        `lead where created_at >= ${from + first * 7 * DAY_MS} and created_at < ${from + last * 7 * DAY_MS}`,
      )
    expect(inWeeks(8, 12)).toBeGreaterThan(1.08 * inWeeks(0, 4))
  })

  test('qualify, win replies, meetings and deals at plausible rates that differ by pipeline', () => {
    const reached = (status: string): Readonly<Record<string, number>> =>
      counts(
        'pipeline_id',
        `(select distinct pipeline_id, lead_id from activity join lead on lead.id = lead_id where to_status = '${status}')`,
      )
    const total = (status: string): number => Object.values(reached(status)).reduce((a, b) => a + b, 0)
    expect(total('qualified') / (total('qualified') + total('disqualified'))).toBeCloseTo(0.6, 1)
    expect(total('contacted') / total('qualified')).toBeCloseTo(0.9, 1)
    expect(total('replied') / total('contacted')).toBeCloseTo(0.35, 1)
    expect(total('meeting') / total('replied')).toBeCloseTo(0.46, 1)
    const [replied, contacted] = [reached('replied'), reached('contacted')]
    const replies = Object.keys(contacted).map((id) => (replied[id] ?? 0) / (contacted[id] ?? 0))
    expect(replies).toHaveLength(4)
    expect(Math.max(...replies) - Math.min(...replies)).toBeGreaterThan(0.05)
    const lost = count(
      "lead where status = 'lost' and exists (select 1 from activity where lead_id = lead.id and to_status = 'meeting')",
    )
    expect(total('won') / (total('won') + lost)).toBeGreaterThan(0.28)
    expect(total('won') / (total('won') + lost)).toBeLessThan(0.48)
  })

  test('leave a few open leads stalled, at four statuses', () => {
    const open = "lead where status not in ('won', 'lost', 'disqualified')"
    const stalled = `${open} and updated_at < ${NOW - 7 * DAY_MS}`
    const share = count(stalled) / count(open)
    expect(share).toBeGreaterThan(0.04)
    expect(share).toBeLessThan(0.15)
    expect(Object.keys(counts('status', stalled)).sort()).toEqual([
      'contacted',
      'meeting',
      'qualified',
      'replied',
    ])
  })

  test('leave companies for many more days', () => {
    expect(count("pipeline where status = 'active'")).toBe(4)
    expect(count('lead')).toBeLessThan(companies.length * 0.4)
  })

  test('hold leads of every status', () => {
    expect(Object.keys(counts('status', 'lead')).sort()).toEqual([...LEAD_STATUSES].sort())
  })

  test('have nothing in the future, and each lead as its history says', () => {
    expect(count(`lead where max(created_at, updated_at, status_changed_at) > ${NOW}`)).toBe(0)
    expect(count(`activity where at > ${NOW}`)).toBe(0)
    expect(count(`event where at > ${NOW}`)).toBe(0)
    expect(count('lead where updated_at != (select max(at) from activity where lead_id = lead.id)')).toBe(0)
    expect(
      count(
        'lead where status_changed_at != (select max(at) from activity where lead_id = lead.id and to_status is not null)',
      ),
    ).toBe(0)
    expect(
      count(
        'lead where status != (select to_status from activity where lead_id = lead.id and to_status is not null order by id desc limit 1)',
      ),
    ).toBe(0)
  })

  test('move leads along the funnel one stage at a time, and some one back', () => {
    const moves = api.rows<{ move: string }>(
      "select distinct from_status || ' ' || to_status as move from activity where from_status is not null order by 1",
    )
    expect(moves.map((row) => row.move)).toEqual([
      'contacted lost',
      'contacted qualified',
      'contacted replied',
      'discovered enriched',
      'enriched disqualified',
      'enriched qualified',
      'meeting lost',
      'meeting replied',
      'meeting won',
      'qualified contacted',
      'qualified disqualified',
      'qualified lost',
      'replied lost',
      'replied meeting',
    ])
  })

  test('write to people on working days only, in the office hours of their region', () => {
    const outreach = api.rows<{ at: number; region: string | null }>(
      "select at, region from activity join lead on lead.id = lead_id where activity.agent_id like 'agt_outreach%'",
    )
    expect(outreach.length).toBeGreaterThan(3000)
    const hours = (region: string): readonly number[] => {
      const own = outreach.filter((row) => row.region === region).map((row) => new Date(row.at).getUTCHours())
      return [Math.min(...own), Math.max(...own)]
    }
    expect(outreach.filter(({ at }) => new Date(at).getUTCDay() % 6 === 0)).toEqual([])
    expect([hours('Europe'), hours('North America'), hours('South Asia')]).toEqual([
      [7, 15],
      [14, 22],
      [4, 12],
    ])
  })

  test('write to as many people on one working day as on another', () => {
    const days = counts("strftime('%w', at / 1000, 'unixepoch')", "activity where to_status = 'contacted'")
    expect(Object.keys(days)).toEqual(['1', '2', '3', '4', '5'])
    expect(Math.min(...Object.values(days))).toBeGreaterThan(0.6 * Math.max(...Object.values(days)))
  })

  test('are about companies that few people know', () => {
    expect(count('lead where employees > 50')).toBe(0)
  })

  test('value deals in round numbers of USD, from qualification on', () => {
    const odd = 'value_amount is null or value_amount % 500 != 0 or value_amount > 400000'
    expect(count(`lead where value_currency = 'USD' and (${odd})`)).toBe(0)
    expect(
      count(
        "lead where (value_amount is not null) != exists (select 1 from activity where lead_id = lead.id and to_status = 'qualified')",
      ),
    ).toBe(0)
  })

  test('give nine leads in ten to one of six people, about as many to each', () => {
    const leads = count('lead')
    const owned = counts("ifnull(owner, '')", 'lead')
    expect((owned[''] ?? 0) / leads).toBeGreaterThan(0.07)
    expect((owned[''] ?? 0) / leads).toBeLessThan(0.13)
    const people = Object.keys(owned).filter((name) => name !== '')
    expect(people).toHaveLength(6)
    for (const name of people) expect((owned[name] ?? 0) / leads).toBeGreaterThan(0.12)
  })

  test('expect each deal to close on a working day after its first meeting, and not all open ones do', () => {
    const met = "id in (select lead_id from activity where to_status = 'meeting')"
    expect(count(`lead where (expected_close_at is not null) <> (${met})`)).toBe(0)
    const weekday = "strftime('%w', expected_close_at / 1000, 'unixepoch')"
    expect(count(`lead where ${weekday} in ('0', '6') or expected_close_at % ${DAY_MS} <> 0`)).toBe(0)
    const passed = count(`lead where status = 'meeting' and expected_close_at < ${NOW}`)
    expect(passed).toBeGreaterThan(2)
    expect(passed).toBeLessThan(count("lead where status = 'meeting'") / 2)
  })

  test('score each lead once, before anything is decided', () => {
    expect(count("lead where score is null and status not in ('discovered', 'enriched')")).toBe(0)
    expect(count("(select lead_id from activity where type = 'scored' group by 1 having count(*) > 1)")).toBe(
      0,
    )
  })
})

/** The history of a scenario has what the scenario plants, and nothing else. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCompanies } from '../../../src/service/simulation/companies.ts'
import { parseScenario, readScenario, type Scenario } from '../../../src/service/simulation/scenario.ts'
import { openSimulation } from '../../../src/service/simulation/simulation.ts'
import type { LeadRow } from '../../../src/service/store/database.ts'
import { openServiceDatabase } from '../../../src/service/store/database.ts'
import { folderWith } from '../../support/folder.ts'
import { COMPANIES } from '../../support/service.ts'
import { DAY_MS, NOW } from '../support/service.ts'

const companies = readCompanies(COMPANIES)
const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS

/** Plays the history up to today's midnight and returns its leads. */
async function play(scenario: Scenario, seed = 3): Promise<LeadRow[]> {
  const db = await openServiceDatabase(join(folderWith(), 'service.db'))
  const simulation = await openSimulation(db, { seed, companies, historyDays: 1, scenario, now: NOW })
  await simulation.advance(TODAY, { stretchMs: 30 * DAY_MS })
  const leads = await db.selectFrom('lead').selectAll().execute()
  await db.destroy()
  return leads
}

const plant = (...effects: object[]): Scenario => parseScenario({ history_days: 140, effects }, 'a test')
const isLate = (lead: LeadRow): boolean => lead.created_at >= TODAY - 70 * DAY_MS
/** Returns the ratio of the leads of the last 70 days to those of the 70 days before. */
const growth = (leads: readonly LeadRow[]): number =>
  leads.filter(isLate).length / leads.filter((lead) => !isLate(lead)).length

test.each([1, 2])('nothing changes in a null history (seed %i)', async (seed) => {
  const leads = await play(plant(), seed)
  expect(leads.length / 140).toBeCloseTo(40 * (5.14 / 7), -1)
  expect(Math.abs(Math.log(growth(leads)))).toBeLessThan(0.12)
})

test.each([
  ['source', 'job board', (lead: LeadRow) => lead.source],
  ['agent', 'agt_scout_2', (lead: LeadRow) => lead.agent_id],
  ['pipeline', 'pl_fintech', (lead: LeadRow) => lead.pipeline_id],
  ['country', 'United States', (lead: LeadRow) => lead.country],
])('a planted cause changes its %s alone', async (condition, value, readValue) => {
  const effect = { effect: 'discoveries', times: 0, from_day: 70, [condition]: value }
  const leads = await play(plant(effect))
  // A lead that has moved has the agent of its last step.
  const found = condition === 'agent' ? leads.filter((lead) => lead.status === 'discovered') : leads
  const isCause = (lead: LeadRow): boolean => readValue(lead) === value
  expect(found.filter((lead) => isLate(lead) && isCause(lead))).toEqual([])
  if (condition !== 'agent') {
    expect(found.filter(isCause).length).toBeGreaterThan(50)
    const others = growth(found.filter((lead) => !isCause(lead)))
    expect(Math.abs(Math.log(others))).toBeLessThan(0.15)
  }
})

test('a planted shift is as large as planned and ends', async () => {
  const leads = await play(plant({ effect: 'discoveries', times: 1.4, from_day: 70, days: 35 }))
  const from = TODAY - 70 * DAY_MS
  const shifted = leads.filter((lead) => isLate(lead) && lead.created_at < from + 35 * DAY_MS).length
  const after = leads.filter((lead) => lead.created_at >= from + 35 * DAY_MS).length
  expect(shifted / after).toBeCloseTo(1.4, 0)
  expect(shifted / after).toBeGreaterThan(1.25)
})

test('leads never leave a dead stage', async () => {
  const leads = await play(plant({ effect: 'dead-stage', stage: 'replied', from_day: 20 }))
  const stuck = leads.filter((lead) => lead.status === 'replied')
  expect(stuck.length).toBeGreaterThan(100)
  expect(leads.filter((lead) => isLate(lead) && ['meeting', 'won'].includes(lead.status))).toEqual([])
})

test('a shift of wins leaves the leads as they are', async () => {
  const usual = await play(plant())
  const none = await play(plant({ effect: 'wins', times: 0 }))
  expect(usual.filter((lead) => lead.status === 'won').length).toBeGreaterThan(50)
  expect(none.filter((lead) => lead.status === 'won')).toEqual([])
  expect(none.map((lead) => lead.id)).toEqual(usual.map((lead) => lead.id))
})

test('more is won in the last month of a quarter', async () => {
  const leads = await play(readScenario('quarter-end'))
  const rate = (isEnd: boolean): number => {
    const closed = leads.filter(
      ({ status, status_changed_at: at }) =>
        ['won', 'lost'].includes(status) && (new Date(at).getUTCMonth() % 3 === 2) === isEnd,
    )
    return closed.filter(({ status }) => status === 'won').length / closed.length
  }
  expect(rate(true)).toBeGreaterThan(0.78)
  expect(rate(true)).toBeLessThan(0.84)
  expect(rate(false)).toBeGreaterThan(0.49)
  expect(rate(false)).toBeLessThan(0.57)
})

test('few leads are found on holidays', async () => {
  const leads = await play(plant({ effect: 'holidays', times: 0.1, dates: ['11-11'] }))
  const on = (day: string): number =>
    leads.filter(({ created_at: at }) => new Date(at).toISOString().startsWith(day)).length
  expect(on('2026-11-11')).toBeLessThan(15)
  expect(on('2026-11-04')).toBeGreaterThan(25)
})

test('refuses a scenario with each mistake in it', () => {
  const effects = [{ effect: 'wins', times: 11 }, { effect: 'nap' }]
  expect(() => parseScenario({ effects, days: 3 }, 'own.yaml')).toThrow(/effects\.0\.times(.|\n)*effects\.1/)
  expect(() => readScenario('nowhere.yaml')).toThrow(/The scenario nowhere\.yaml cannot be read/)
})

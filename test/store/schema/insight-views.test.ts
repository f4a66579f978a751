// @both-stores
/** Views for analysts hold the claims of an issue, with the numbers of its figures. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Insight, UrgentLead } from '../../../src/domain/insight.ts'
import type { ListedLead } from '../../../src/domain/lists.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { type Issue, saveIssue } from '../../../src/store/reports/issue.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { openEmptyStore } from '../../support/store.ts'

const STALLED = busyDay().stalled.rows[0] as ListedLead
const URGENT: UrgentLead = {
  ...STALLED,
  id: 'l1',
  companyName: 'Łódź "Ink"',
  pipelineId: 'p1',
  status: 'offer',
  value: { amount: 1200.5, currency: 'EUR' },
  stageDays: 40,
  limitDays: 42.5,
  isOfWinners: true,
  isNew: false,
}

const INSIGHT: Insight = {
  lastUnusual: {},
  expectations: [
    {
      figure: 'new_leads',
      pipeline: null,
      actual: 17,
      judgement: 'low',
      expected: 42.25,
      range: { low: 31, high: 54 },
      periods: { known: 60, needed: 8 },
      record: { hits: 350, of: 365 },
      band: [null, { low: 1, high: 2 }],
      shift: null,
    },
    {
      figure: 'won',
      pipeline: { id: 'p1', name: 'EU' },
      actual: 0,
      judgement: 'learning',
      expected: null,
      range: null,
      periods: { known: 3, needed: 8 },
      record: null,
      band: [],
      shift: { since: '2026-11-18', days: 3, actual: 2, expected: 6.5, isNew: true },
    },
  ],
  drivers: [
    {
      figure: 'new_leads',
      actual: 17,
      expected: 42,
      dimension: 'source',
      rest: -3,
      parts: [
        { name: 'web', actual: 1, expected: 20.5, difference: -20 },
        { name: null, actual: 0, expected: 2, difference: -2 },
      ],
    },
  ],
  winRates: [
    {
      pipeline: null,
      won: 40,
      decided: 98,
      judgement: 'high',
      range: { low: 20, high: 35 },
      expected: 0.28,
      periods: { known: 30, needed: 8 },
      record: { hits: 21, of: 22 },
    },
    {
      pipeline: { id: 'p1', name: 'EU' },
      won: 3,
      decided: 12,
      judgement: 'usual',
      range: { low: 1, high: 6 },
      expected: 0.25,
      periods: { known: 9, needed: 8 },
      record: null,
    },
  ],
  pace: [
    {
      figure: 'won_value',
      currency: 'EUR',
      pipelines: ['p1'],
      span: 'month',
      lastDay: '2026-11-30',
      goal: { name: 'Autumn', target: 9000, owner: 'Ana' },
      soFar: 4000.5,
      daysLeft: 10,
      perDay: 150.25,
      end: { low: 5000, high: 7000, expected: 6100.5, record: { hits: 41, of: 50 } },
    },
    {
      figure: 'won',
      currency: null,
      pipelines: null,
      span: 'quarter',
      lastDay: '2026-12-31',
      goal: null,
      soFar: 12,
      daysLeft: 41,
      perDay: 0.5,
      end: null,
    },
  ],
  urgent: { total: 2, rows: [URGENT, { ...URGENT, id: 'l2', value: null, isNew: true }] },
  oldLeads: null,
  notes: [],
}

const figures = busyDay()
function saveClaims(store: Store, report: string, insight: Insight | null): Promise<Issue> {
  return store.write((trx) =>
    saveIssue(trx, {
      report,
      period: figures.period,
      renderedAt: '2026-11-21T07:00:00.000Z',
      variant: '',
      figures: { ...figures, insight },
      programVersion: '1.2.3',
      subject: 's',
      html: 'h',
      text: 't',
    }),
  )
}

it('each range, end, part and urgent lead of an issue is a row, and an issue without claims has none', async () => {
  await using store = await openEmptyStore()
  await saveClaims(store, 'weekly', null)
  const { id } = await saveClaims(store, 'daily', INSIGHT)
  const read = async (view: string, order: string) => {
    const { rows } = await sql`SELECT * FROM ${sql.ref(view)} ORDER BY ${sql.raw(order)}`.execute(store.db)
    return rows
  }
  const of = {
    issue_id: id,
    report: 'daily',
    period_from: figures.period.from,
    period_to: figures.period.to,
  }
  const unknown = {
    shift_since: null,
    shift_days: null,
    shift_actual: null,
    shift_expected: null,
    shift_is_new: 0,
  }
  expect(await read('usual_range', 'figure')).toEqual([
    {
      ...of,
      figure: 'new_leads',
      pipeline_id: null,
      pipeline_name: null,
      actual: 17,
      low: 31,
      high: 54,
      expected: 42.25,
      judgement: 'low',
      known: 60,
      needed: 8,
      hits: 350,
      of_ranges: 365,
      ...unknown,
    },
    {
      ...of,
      figure: 'won',
      pipeline_id: 'p1',
      pipeline_name: 'EU',
      actual: 0,
      low: null,
      high: null,
      expected: null,
      judgement: 'learning',
      known: 3,
      needed: 8,
      hits: null,
      of_ranges: null,
      shift_since: '2026-11-18',
      shift_days: 3,
      shift_actual: 2,
      shift_expected: 6.5,
      shift_is_new: 1,
    },
  ])
  expect(await read('win_rate_range', 'decided DESC')).toEqual([
    {
      ...of,
      pipeline_id: null,
      pipeline_name: null,
      won: 40,
      decided: 98,
      low: 20,
      high: 35,
      expected: 0.28,
      judgement: 'high',
      known: 30,
      needed: 8,
      hits: 21,
      of_ranges: 22,
    },
    {
      ...of,
      pipeline_id: 'p1',
      pipeline_name: 'EU',
      won: 3,
      decided: 12,
      low: 1,
      high: 6,
      expected: 0.25,
      judgement: 'usual',
      known: 9,
      needed: 8,
      hits: null,
      of_ranges: null,
    },
  ])
  expect(await read('expected_end', 'span')).toEqual([
    {
      ...of,
      figure: 'won_value',
      currency: 'EUR',
      pipelines: '["p1"]',
      span: 'month',
      last_day: '2026-11-30',
      so_far: 4000.5,
      days_left: 10,
      per_day: 150.25,
      low: 5000,
      high: 7000,
      expected: 6100.5,
      hits: 41,
      of_ranges: 50,
      goal: 'Autumn',
      goal_target: 9000,
      goal_owner: 'Ana',
    },
    {
      ...of,
      figure: 'won',
      currency: null,
      pipelines: null,
      span: 'quarter',
      last_day: '2026-12-31',
      so_far: 12,
      days_left: 41,
      per_day: 0.5,
      low: null,
      high: null,
      expected: null,
      hits: null,
      of_ranges: null,
      goal: null,
      goal_target: null,
      goal_owner: null,
    },
  ])
  const driver = { ...of, figure: 'new_leads', figure_actual: 17, figure_expected: 42, dimension: 'source' }
  const parts = await read('driver_part', 'place NULLS LAST')
  expect(parts).toEqual([
    { ...driver, place: 1, part: 'web', actual: 1, expected: 20.5, difference: -20 },
    { ...driver, place: 2, part: null, actual: 0, expected: 2, difference: -2 },
    { ...driver, place: null, part: null, actual: null, expected: null, difference: -3 },
  ])
  const lead = {
    ...of,
    company_name: 'Łódź "Ink"',
    pipeline_id: 'p1',
    status: 'offer',
    stage_days: 40,
    limit_days: 42.5,
    is_of_winners: 1,
  }
  expect(await read('urgent_lead', 'place')).toEqual([
    { ...lead, place: 1, lead_id: 'l1', value_amount: 1200.5, value_currency: 'EUR', is_new: 0 },
    { ...lead, place: 2, lead_id: 'l2', value_amount: null, value_currency: null, is_new: 1 },
  ])
})

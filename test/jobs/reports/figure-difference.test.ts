import { describe, expect, test } from 'vitest'
import { compareFigures } from '../../../src/jobs/reports/recompute-issue.ts'
import { BLANK_LISTED } from '../../support/data/blank-lead.ts'

const LEAD = {
  ...BLANK_LISTED,
  ...{ id: 'l1', companyName: 'Acme', pipelineId: 'eu', pipelineName: 'EU', status: 'replied' },
  ...{ score: 91, source: 'web', value: { amount: 5, currency: 'EUR' }, idleDays: 20 },
  ...{ createdAt: '2026-11-01T00:00:00.000Z', changedAt: '2026-11-01T00:00:00.000Z' },
}
const KEPT = {
  leads: 100,
  newLeads: { current: 5, prior: 4 },
  won: { current: 1, prior: 0 },
  lost: { current: 0, prior: 0 },
  wonValue: { current: [{ amount: 9, currency: 'USD' }], prior: [] },
  winRate: { current: { part: 1, whole: 4 }, prior: { part: 0, whole: 3 } },
  openValue: { current: [], prior: [] },
  sparklines: { newLeads: [1, 2, null], won: [], winRate: [], openValue: [] },
  trend: [{ day: '2026-11-20', newLeads: 5, won: 1 }],
  changes: {
    since: '2026-11-19T23:00:00.000Z',
    coverage: { known: 1, of: 1 },
    kinds: [{ kind: 'won', total: 1, value: [], rows: [] }],
  },
  topLeads: { minScore: 80, total: 1, rows: [LEAD] },
  stalled: { days: 14, coverage: { known: 1, of: 1 }, total: 1, rows: [LEAD] },
  byPipeline: [],
  bySource: [
    {
      source: null,
      newLeads: { current: 5, prior: 4 },
      won: { current: 1, prior: 0 },
      winRate: { part: 1, whole: 4 },
    },
  ],
  failed: [],
} satisfies Parameters<typeof compareFigures>[0]

describe('figures that were kept, beside those of now', () => {
  test('are equal where nothing that a period tells has changed', () => {
    const renamed = { ...LEAD, companyName: 'Acme Inc.', contactName: 'Zoë', pipelineName: 'Europe' }
    expect(compareFigures(KEPT, { ...KEPT, topLeads: { ...KEPT.topLeads, rows: [renamed] } })).toEqual([])
    const changes = { ...KEPT.changes, coverage: { known: 86, of: 86 } }
    expect(compareFigures(KEPT, { ...KEPT, changes })).toEqual([])
  })

  test('differ by name, with both values', () => {
    const now = {
      ...KEPT,
      newLeads: { current: 6, prior: 4 },
      winRate: { ...KEPT.winRate, current: { part: 2, whole: 4 } },
      sparklines: { ...KEPT.sparklines, newLeads: [1, 2, 3] },
      trend: [{ day: '2026-11-20', newLeads: 6, won: 1 }],
      bySource: KEPT.bySource.map((line) => ({ ...line, newLeads: { current: 6, prior: 4 } })),
    }
    expect(compareFigures(KEPT, now)).toEqual([
      { figure: 'new_leads.current', kept: 5, now: 6 },
      { figure: 'win_rate.current.part', kept: 1, now: 2 },
      { figure: 'sparklines.new_leads.2', kept: null, now: 3 },
      { figure: 'trend.2026-11-20.new_leads', kept: 5, now: 6 },
      { figure: 'by_source.null.new_leads.current', kept: 5, now: 6 },
    ])
  })

  test('tell which leads a list has lost and gained, whatever their order', () => {
    const other = { ...LEAD, id: 'l2', companyName: 'Initech' }
    const kept = { ...KEPT, stalled: { ...KEPT.stalled, rows: [LEAD, other] } }
    const now = { ...KEPT, stalled: { ...KEPT.stalled, rows: [{ ...other, idleDays: 21 }] } }
    expect(compareFigures(kept, now)).toEqual([
      { figure: 'stalled.rows.l1', kept: 'Acme', now: null },
      { figure: 'stalled.rows.l2.idle_days', kept: 20, now: 21 },
    ])
    expect(compareFigures(kept, { ...kept, stalled: { ...kept.stalled, rows: [other, LEAD] } })).toEqual([])
  })

  test('do not differ in what could not be read on one side, nor in what is only warned of', () => {
    const failed = [{ block: 'stalled', query: null, message: 'x' }] as const
    const now = { ...KEPT, stalled: { ...KEPT.stalled, total: 0, rows: [] } }
    expect(compareFigures(KEPT, now)).not.toEqual([])
    expect(compareFigures(KEPT, { ...now, failed })).toEqual([])
    expect(compareFigures({ ...now, failed }, KEPT)).toEqual([])
  })

  test('tell amounts by their currency', () => {
    const now = { ...KEPT, wonValue: { current: [{ amount: 7, currency: 'EUR' }], prior: [] } }
    expect(compareFigures(KEPT, now)).toEqual([
      { figure: 'won_value.current.USD', kept: 9, now: null },
      { figure: 'won_value.current.EUR', kept: null, now: 7 },
    ])
  })
})

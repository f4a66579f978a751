/** The rules by which an issue is sent, and the reasons of those that are not. */
import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import { checkSendPolicy, reasonNotToSend } from '../../../src/jobs/reports/send-policy.ts'
import { busyDay, emptyDay } from '../../support/reports/figures.ts'

const EMPTY = emptyDay()
const QUIET: ReportFigures = {
  ...EMPTY,
  leads: 40,
  freshness: { ...EMPTY.freshness, coversPeriod: true },
  stalled: { ...EMPTY.stalled, total: 9 },
}

const reason = (figures: ReportFigures) => reasonNotToSend('if_rows', figures)

it.each<[string, Partial<ReportFigures>, boolean]>([
  ['a day without events, whatever stands still', {}, false],
  ['a new lead', { newLeads: { current: 1, prior: 0 } }, true],
  ['a lead won', { won: { current: 1, prior: 0 } }, true],
  ['a lead lost', { lost: { current: 1, prior: 0 } }, true],
  [
    'a lead that moved',
    { changes: { ...EMPTY.changes, kinds: [{ kind: 'back', total: 1, value: [], rows: [] }] } },
    true,
  ],
  ['rows of a query', { queries: [queryWith([['x']])] }, true],
  ['data that do not reach the end of the day', { freshness: EMPTY.freshness }, true],
  ['an agent that fails, however its service calls that', withAgent('Error'), true],
  ['an agent that does not', withAgent('idle'), false],
  [
    'events of the period before alone',
    { newLeads: { current: 0, prior: 5 }, queries: [queryWith([])] },
    false,
  ],
])('a report that is sent if_rows has an issue with %s: %j %s', (_, part, isSent) => {
  const quiet = 'quiet: nothing is new, won, lost or changed, and no agent is failing'
  expect(reason({ ...QUIET, ...part })).toBe(isSent ? null : quiet)
})

describe('sent if_threshold', () => {
  it.each([
    ['new_leads < 10', true],
    ['stalled > 20 OR leads >= 40', true],
    ['new_leads = 0 AND stalled = 9 -- why', true],
    ['stalled > 20', false],
    ['win_rate < 0.5', false],
    ['win_rate IS NULL', true],
  ])(
    'has an issue of which the condition is true, and every number of it is known: %s',
    (condition, isSent) => {
      const rule = { if_threshold: condition }
      expect(() => checkSendPolicy('daily', rule)).not.toThrow()
      expect(reasonNotToSend(rule, QUIET)).toBe(isSent ? null : `quiet: not ${condition}`)
    },
  )

  it.each([
    ['new_lead < 10', 'no such column: new_lead'],
    ['new_leads <', 'near ")": syntax error'],
    ['1) FROM number; DROP TABLE number', 'there is more than one statement'],
    ['(SELECT 1)', 'it holds a query of its own'],
    ["load_extension('x')", ''],
    ['', ''],
  ])('is refused at the start where it is %j', (condition, reason) => {
    expect(() => checkSendPolicy('daily', { if_threshold: condition })).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining(`if_threshold: ${condition} cannot be asked: ${reason}`),
        hint: expect.stringContaining('agents_failing'),
      }),
    )
  })
})

function withAgent(status: string): Partial<ReportFigures> {
  const { agents } = busyDay()
  return { agents: { ...agents, rows: agents.rows.slice(-1).map((row) => ({ ...row, status })) } }
}

function queryWith(rows: readonly string[][]) {
  return { name: 'q', title: 'Q', note: null, sql: 'SELECT 1', columns: ['a'], rows, isCut: false }
}

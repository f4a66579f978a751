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

describe('sent if_rows', () => {
  const reason = (figures: ReportFigures) => reasonNotToSend('if_rows', figures)

  it('is nothing on a day without events, whatever stands still', () => {
    expect(reason(QUIET)).toBe('quiet: nothing is new, won, lost or changed, and no agent is failing')
  })

  it.each<[string, Partial<ReportFigures>]>([
    ['a new lead', { newLeads: { current: 1, prior: 0 } }],
    ['a lead won', { won: { current: 1, prior: 0 } }],
    ['a lead lost', { lost: { current: 1, prior: 0 } }],
    [
      'a lead that moved',
      {
        changes: {
          since: '',
          coverage: { known: 1, of: 1 },
          kinds: [{ kind: 'back', total: 1, value: [], rows: [] }],
        },
      },
    ],
    ['rows of a query', { queries: [queryWith([['x']])] }],
    ['data that do not reach the end of the day', { freshness: EMPTY.freshness }],
  ])('is an issue with %s', (_, part) => {
    expect(reason({ ...QUIET, ...part })).toBeNull()
  })

  it('is an issue with an agent that fails, however its service calls that', () => {
    const { agents } = busyDay()
    const withAgent = (status: string): ReportFigures => ({
      ...QUIET,
      agents: { ...agents, rows: agents.rows.slice(-1).map((row) => ({ ...row, status })) },
    })
    expect(reason(withAgent('Error'))).toBeNull()
    expect(reason(withAgent('idle'))).not.toBeNull()
  })

  it('is nothing where only the period before had events', () => {
    expect(reason({ ...QUIET, newLeads: { current: 0, prior: 5 }, queries: [queryWith([])] })).not.toBeNull()
  })
})

describe('sent if_threshold', () => {
  const judge = (condition: string) => reasonNotToSend({ if_threshold: condition }, QUIET)

  it('is an issue of which the condition is true', () => {
    for (const condition of [
      'new_leads < 10',
      'stalled > 20 OR leads >= 40',
      'new_leads = 0 AND stalled = 9 -- why',
    ]) {
      expect(judge(condition)).toBeNull()
    }
  })

  it('is nothing where it is not, or where a number is not known', () => {
    expect(judge('stalled > 20')).toBe('quiet: not stalled > 20')
    expect(judge('win_rate < 0.5')).toBe('quiet: not win_rate < 0.5')
    expect(judge('win_rate IS NULL')).toBeNull()
  })

  it.each([
    ['new_lead < 10', 'no such column: new_lead'],
    ['new_leads <', 'near ")": syntax error'],
    ['1) FROM number; DROP TABLE number', 'there is more than one statement'],
    ['(SELECT 1)', 'it holds a query of its own'],
    ["load_extension('x')", ''],
    ['', ''],
  ])('is refused at the start where it is %j', (condition, reason) => {
    const check = (): void => checkSendPolicy('daily', { if_threshold: condition })
    expect(check).toThrow(`if_threshold: ${condition} cannot be asked: ${reason}`)
    expect(check).toThrow(
      expect.objectContaining({ code: 'config_invalid', hint: expect.stringContaining('agents_failing') }),
    )
  })

  it('is accepted at the start where it can be asked, before there is any number', () => {
    expect(() =>
      checkSendPolicy('daily', { if_threshold: 'new_leads < 10 OR stalled > 20 OR agents_failing > 0' }),
    ).not.toThrow()
  })
})

function queryWith(rows: readonly string[][]) {
  return { name: 'q', title: 'Q', note: null, sql: 'SELECT 1', columns: ['a'], rows, isCut: false }
}

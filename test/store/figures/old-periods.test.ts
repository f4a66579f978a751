/** The plans of SQLite for figures, of today and of long ago, read a time of an index and no other leads. */
import { describe, expect, it } from 'vitest'
import type { FigureName } from '../../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { explainFigure } from '../../../src/store/figures/query.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { openEmptyStore } from '../../support/store.ts'

const SCOPE = {
  from: '2025-11-20T00:00:00.000Z',
  to: '2025-11-21T00:00:00.000Z',
  filter: EVERY_LEAD,
  stalledDays: 7,
}

async function planOf(figure: FigureName): Promise<string> {
  await using store = await openEmptyStore()
  return await explainPlan(store, explainFigure(figure, SCOPE).replace(/;$/, ''))
}

describe('the figures of a period', () => {
  it('sum up the days before its end, and the events of its last day by their times', async () => {
    const plan = await planOf('open_value')
    expect(plan).toContain('SEARCH state USING INDEX lead_history_by_start (valid_from>? AND valid_from<?)')
    expect(plan).toContain('SEARCH state USING INDEX lead_history_by_end (valid_to>? AND valid_to<?)')
    expect(plan).toContain('SEARCH state USING INDEX lead_history_by_change (changed_at>? AND changed_at<?)')
    expect(plan).toContain(
      'SEARCH state USING INDEX lead_by_state (status_changed_at>? AND status_changed_at<?)',
    )
    expect(plan).toContain('lead_by_creation (created_at>? AND created_at<?)')
    expect(plan).not.toMatch(/SCAN (state|lead|lead_history)$/m)
  })

  it('find the closed leads by the times at which they were closed', async () => {
    const plan = await planOf('won')
    expect(plan).toContain('lead_by_state (status_changed_at>? AND status_changed_at<?)')
    expect(plan).toContain('stage_move_by_entry (from_status=? AND entered_at>? AND entered_at<?)')
    expect(plan).not.toContain('AUTOMATIC')
  })

  it('find the leads that had changed in the days before by the times of their changes', async () => {
    const plan = await planOf('stalled')
    expect(plan).toContain('lead_history_by_change (changed_at>? AND changed_at<?)')
    expect(plan).toContain('lead_by_change (updated_at>? AND updated_at<?)')
    expect(plan).not.toMatch(/SCAN (state|lead|lead_history)$/m)
  })
})

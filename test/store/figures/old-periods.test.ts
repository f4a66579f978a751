/** The plans of SQLite for figures of old periods do not go through all leads. */
import { describe, expect, it } from 'vitest'
import type { FigureName } from '../../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { explainFigure } from '../../../src/store/figures/query.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { openEmptyStore } from '../../support/store.ts'

const SCOPE = {
  from: '2025-11-20T00:00:00.000Z',
  to: '2025-11-21T00:00:00.000Z',
  ...{ filter: EVERY_LEAD, stalledDays: 7, asKnownAt: null },
}

async function planOf(figure: FigureName): Promise<string> {
  await using store = await openEmptyStore()
  return await explainPlan(store, explainFigure(figure, SCOPE).replace(/;$/, ''))
}

describe('the figures of a period long ago', () => {
  it('find the leads that have changed since by the ends of their states, and by one look at all rows', async () => {
    const plan = await planOf('stalled')
    expect(plan).toContain('SEARCH lead_history USING COVERING INDEX lead_history_by_end (valid_to>?)')
    expect(plan).toMatch(/^SCAN lead$/m)
    expect(plan).not.toMatch(/INTEGER PRIMARY KEY|lead_by_creation/)
  })

  it('find the stays that have ended since by the moves since', async () => {
    const plan = await planOf('won')
    expect(plan).toContain('SEARCH stage_move USING COVERING INDEX stage_move_by_time (moved_at>?)')
    expect(plan).not.toContain('AUTOMATIC')
  })

  it('find the leads that were read later by their arrival', async () => {
    const plan = await planOf('open_value')
    expect(plan).toMatch(/SEARCH lead USING( COVERING)? INDEX lead_by_arrival \(first_seen_at>\?\)/)
    expect(plan).not.toMatch(/lead_by_creation|SCAN lead$/m)
  })
})

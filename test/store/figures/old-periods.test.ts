/** The plans of SQLite for figures, of today and of long ago, read a time of an index and no other leads. */
import { expect, it } from 'vitest'
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

it('the figures of a period are found by times of indexes', async () => {
  await using store = await openEmptyStore()
  const found: string[] = []
  for (const figure of ['open_value', 'won', 'stalled'] as const) {
    const plan = await explainPlan(store, explainFigure(figure, SCOPE).replace(/;$/, ''))
    expect(plan, figure).not.toMatch(/SCAN (state|lead|lead_history)$|AUTOMATIC/m)
    found.push(`${figure}:`, ...new Set(plan.split('\n').filter((line) => line.includes('>? AND'))))
  }
  await expect(`${found.join('\n')}\n`).toMatchFileSnapshot('golden/plans.txt')
})

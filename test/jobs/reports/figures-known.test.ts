/** The figures of a past day stay the same when they are asked for later, while the service lives on. */
import { describe, expect, it } from 'vitest'
import { dayBefore } from '../../../src/domain/period.ts'
import { FIGURES } from '../../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import type { FigureScope } from '../../../src/store/figures/query.ts'
import { type Figures, readFigures } from '../../../src/store/figures/report-figures.ts'
import { liveThrough } from '../../support/source/living-service.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const FIRST = Date.parse('2026-11-12T06:00:00Z')
const DAYS = 5

/** The figures of the day before each morning, as read on that morning. */
interface Morning {
  readonly scope: FigureScope
  readonly at: string
  readonly figures: Figures
}

describe(`figures of the days of a service (SEED=${SEED})`, () => {
  it('change later only by facts that came in later', async () => {
    const mornings: Morning[] = []
    await liveThrough(
      { seed: SEED, first: FIRST, days: DAYS, historyDays: 15, isFull: (day) => day === 2 },
      async (store) => {
        expect(mornings).toHaveLength(DAYS)
        for (const { scope, at, figures } of mornings) {
          const [now] = await readFigures(store.db, [scope])
          expect(now?.size).toBe(FIGURES.length)
          // The list tells all of these about a day by the next morning. Only activity reaches further back.
          for (const name of [
            'leads',
            'new_leads',
            'won',
            'lost',
            'open',
            'open_value',
            'win_rate',
          ] as const) {
            expect(now?.get(name), `${name} ${at}`).toEqual(figures.get(name))
          }
        }
        const created = mornings.map(({ figures }) => figures.get('new_leads')?.[0]?.value ?? 0)
        expect(Math.max(...created)).toBeGreaterThan(5)
      },
      async (store, at) => {
        const { from, to } = dayBefore(at, 'Europe/Berlin')
        const scope = { from, to, filter: EVERY_LEAD, stalledDays: 3 }
        const [figures] = await readFigures(store.db, [scope])
        if (figures) mornings.push({ scope, at: at.toISOString(), figures })
      },
    )
  })
})

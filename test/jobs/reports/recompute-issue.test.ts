/** An edition asked for again, from a service that lives on meanwhile. */
import { expect, test } from 'vitest'
import { dayBefore, daysUpTo, periodsUpTo, priorOf } from '../../../src/domain/period.ts'
import { compareEdition } from '../../../src/jobs/reports/recompute-issue.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { type Edition, findLastSent, saveEdition, toldUpTo } from '../../../src/store/reports/issue.ts'
import { enqueueLetter, LETTER } from '../../support/letter.ts'
import { liveThrough } from '../../support/living-service.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const FIRST = Date.parse('2026-11-12T06:00:00Z')
const DAYS = 4

test(`editions are later, by what was known then, what they were then (SEED=${SEED})`, async () => {
  const editions: Edition[] = []
  await liveThrough(
    { seed: SEED, first: FIRST, days: DAYS, historyDays: 15, isFull: () => true },
    async (store) => {
      const later: number[] = []
      for (const edition of editions) {
        expect((await compareEdition(store, edition, true)).differences).toEqual([])
        const { differences, leadsKnownLater } = await compareEdition(store, edition, false)
        if (leadsKnownLater === 0) expect(differences).toEqual([])
        later.push(leadsKnownLater)
      }
      expect(later.at(0)).toBeGreaterThan(0)
      expect(later.at(-1)).toBe(0)
    },
    async (store, at) => void editions.push(await keepDaily(store, at)),
  )
})

/** The edition of the day before, and a letter of it, so that the next tells changes since. */
async function keepDaily(store: Store, at: Date): Promise<Edition> {
  const period = dayBefore(at, 'Europe/Berlin')
  const renderedAt = at.toISOString()
  const key = { report: 'daily', period, variant: '', renderedAt }
  const last = await findLastSent(store.db, { ...key, kind: 'day' }, period.to)
  const figures = await readReportFigures(store.db, {
    ...{ kind: 'day', period, prior: priorOf('day', period), filter: EVERY_LEAD, asKnownAt: null },
    ...{ stalledDays: 3, topScore: 80, rowsMax: 7, since: last && toldUpTo(last) },
    sparkPeriods: periodsUpTo('day', period),
    trendDays: daysUpTo(period.to, 96, period.timeZone),
  })
  return store.write(async (trx) => {
    const said = { subject: 's', html: 'h', text: 't', programVersion: '1.2.3', notSent: null }
    const edition = await saveEdition(trx, { ...key, ...said, figures })
    await enqueueLetter(trx, edition.id, { ...LETTER, messageId: `<${edition.id}>` }, renderedAt)
    return edition
  })
}

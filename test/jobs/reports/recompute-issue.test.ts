/** An issue is computed again, while the service lives on. */
import { expect, test } from 'vitest'
import { dayBefore, daysUpTo, periodsUpTo, priorOf } from '../../../src/domain/period.ts'
import { compareIssue } from '../../../src/jobs/reports/recompute-issue.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../../src/store/figures/report-figures.ts'
import { findLastSent, type Issue, reportedUpTo, saveIssue } from '../../../src/store/reports/issue.ts'
import { enqueueMessage, MESSAGE } from '../../support/mail/message.ts'
import { liveThrough } from '../../support/source/living-service.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const FIRST = Date.parse('2026-11-12T06:00:00Z')
const DAYS = 4

test(`issues are later, by what was known then, what they were then (SEED=${SEED})`, async () => {
  const issues: Issue[] = []
  await liveThrough(
    { seed: SEED, first: FIRST, days: DAYS, historyDays: 15, isFull: () => true },
    async (store) => {
      const later: number[] = []
      for (const issue of issues) {
        expect((await compareIssue(store, issue, true)).differences).toEqual([])
        const { differences, leadsKnownLater } = await compareIssue(store, issue, false)
        if (leadsKnownLater === 0) expect(differences).toEqual([])
        later.push(leadsKnownLater)
      }
      expect(later.at(0)).toBeGreaterThan(0)
      expect(later.at(-1)).toBe(0)
    },
    async (store, at) => void issues.push(await keepDaily(store, at)),
  )
})

/** Saves the issue of the day before with a message, so that the next issue lists the changes since. */
async function keepDaily(store: Store, at: Date): Promise<Issue> {
  const period = dayBefore(at, 'Europe/Berlin')
  const renderedAt = at.toISOString()
  const key = { report: 'daily', period, variant: '', renderedAt }
  const last = await findLastSent(store.db, { ...key, kind: 'day' }, period.to)
  const figures = await readReportFigures(store.db, {
    ...{ kind: 'day', period, prior: priorOf('day', period), filter: EVERY_LEAD, asKnownAt: null },
    ...{ stalledDays: 3, topScore: 80, rowsMax: 7, since: last && reportedUpTo(last) },
    sparkPeriods: periodsUpTo('day', period),
    trendDays: daysUpTo(period.to, 96, period.timeZone),
  })
  return store.write(async (trx) => {
    const said = { subject: 's', html: 'h', text: 't', programVersion: '1.2.3', notSent: null }
    const issue = await saveIssue(trx, { ...key, ...said, figures })
    await enqueueMessage(trx, issue.id, { ...MESSAGE, messageId: `<${issue.id}>` }, renderedAt)
    return issue
  })
}

/** An edition asked for again, from a service that lives on meanwhile. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { compareEdition } from '../../src/jobs/recompute-edition.ts'
import { dayBefore, daysUpTo, periodsUpTo, priorOf } from '../../src/report/period.ts'
import { openService } from '../../src/service/open.ts'
import { enqueueLetter } from '../../src/store/delivery.ts'
import { type Edition, saveEdition } from '../../src/store/edition.ts'
import { findToldBefore } from '../../src/store/edition-list.ts'
import { EVERY_LEAD } from '../../src/store/figures/lead-filter.ts'
import { readReportFigures } from '../../src/store/figures/report.ts'
import type { Store } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { LETTER } from '../support/letter.ts'
import { openSyncing } from '../support/syncing.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))
const DAY_MS = 86_400_000
const FIRST = Date.parse('2026-11-12T06:00:00Z')
const DAYS = 4

test(`editions are later, by what was known then, what they were then (SEED=${SEED})`, {
  timeout: 60_000,
}, async () => {
  let nowMs = FIRST
  await using service = await openService({
    file: join(folderWith(), 'service.db'),
    companiesFile: COMPANIES,
    seed: SEED,
    historyDays: 15,
    now: () => nowMs,
  })
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key)
  const editions: Edition[] = []
  for (let day = 0; day < DAYS; day++) {
    nowMs = FIRST + day * DAY_MS
    await service.catchUp()
    syncing.clock.now = new Date(nowMs)
    // Activity of some leads only: what is read of it later tells moves of days long past.
    const details = { top: null, perRun: 60, concurrency: 4 }
    expect((await syncing.sync({ pageSize: 500, full: true, details })).outcome).toBe('ok')
    editions.push(await keepDaily(syncing.store, new Date(nowMs)))
  }

  const later: number[] = []
  for (const edition of editions) {
    expect((await compareEdition(syncing.store, edition, true)).differences).toEqual([])
    const { differences, leadsKnownLater } = await compareEdition(syncing.store, edition, false)
    if (leadsKnownLater === 0) expect(differences).toEqual([])
    later.push(leadsKnownLater)
  }
  expect(later.at(0)).toBeGreaterThan(0)
  expect(later.at(-1)).toBe(0)
})

/** The edition of the day before, and a letter of it, so that the next tells changes since. */
async function keepDaily(store: Store, at: Date): Promise<Edition> {
  const period = dayBefore(at, 'Europe/Berlin')
  const renderedAt = at.toISOString()
  const key = { report: 'daily', period, variant: '', renderedAt }
  const figures = await readReportFigures(store.db, {
    ...{ kind: 'day', period, prior: priorOf('day', period), filter: EVERY_LEAD, asKnownAt: null },
    ...{ stalledDays: 3, topScore: 80, rowsMax: 7, since: await findToldBefore(store.db, key) },
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

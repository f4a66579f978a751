/** Figures of a past day are the same when they are asked for later, from a service that lives on meanwhile. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { dayBefore } from '../../src/report/period.ts'
import { openService } from '../../src/service/open.ts'
import { FIGURES } from '../../src/store/figures/definition.ts'
import { EVERY_LEAD } from '../../src/store/figures/lead-filter.ts'
import type { FigureScope } from '../../src/store/figures/query.ts'
import { type Figures, readFigures } from '../../src/store/figures/read.ts'
import { folderWith } from '../support/folder.ts'
import { openSyncing } from '../support/syncing.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const COMPANIES = fileURLToPath(new URL('../../data/companies.ndjson', import.meta.url))
const DAY_MS = 86_400_000
const FIRST = Date.parse('2026-11-12T06:00:00Z')
const DAYS = 5

/** Of the day before each morning, as read that morning. */
interface Morning {
  readonly scope: FigureScope
  readonly at: string
  readonly figures: Figures
}

describe(`figures of the days of a service (SEED=${SEED})`, () => {
  it('are later, by what was known then, what they were then; and else change only by facts that came in later', async () => {
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
    const mornings: Morning[] = []
    for (let day = 0; day < DAYS; day++) {
      nowMs = FIRST + day * DAY_MS
      await service.catchUp()
      syncing.clock.now = new Date(nowMs)
      // Activity of some leads only: it tells moves of days long past.
      const details = { top: null, perRun: 60, concurrency: 4 }
      const result = await syncing.sync({ pageSize: 500, full: day === 2, details })
      expect(result.outcome).toBe('ok')
      const { from, to } = dayBefore(new Date(nowMs), 'Europe/Berlin')
      const scope = { from, to, filter: EVERY_LEAD, stalledDays: 3, asKnownAt: null }
      const [figures] = await readFigures(syncing.store.db, [scope])
      if (figures) mornings.push({ scope, at: syncing.clock.now.toISOString(), figures })
    }

    expect(mornings).toHaveLength(DAYS)
    for (const { scope, at, figures } of mornings) {
      const [known, now] = await readFigures(syncing.store.db, [{ ...scope, asKnownAt: at }, scope])
      expect(Object.fromEntries(known ?? []), at).toEqual(Object.fromEntries(figures))
      expect(now?.size).toBe(FIGURES.length)
      // What the list tells of a day is whole the next morning; only activity reaches further back.
      for (const name of ['leads', 'new_leads', 'won', 'lost', 'open', 'open_value', 'win_rate'] as const) {
        expect(now?.get(name), `${name} ${at}`).toEqual(figures.get(name))
      }
    }
    const created = mornings.map(({ figures }) => figures.get('new_leads')?.[0]?.value ?? 0)
    expect(Math.max(...created)).toBeGreaterThan(5)
  }, 60_000)
})

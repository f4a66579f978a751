/**
 * A PostgreSQL that crashes again and again under those who read a list of leads: it forgets what it had committed and
 * not yet on its disk, is back before anybody has noticed, and yet no lead is missing in the end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../src/errors.ts'
import { sync } from '../../src/jobs/sync/run-sync.ts'
import type { SyncOptions } from '../../src/jobs/sync/sync-context.ts'
import type { Store } from '../../src/store/db/store.ts'
import { findViolations } from '../../src/store/invariants/invariants.ts'
import { openStore } from '../../src/store/open.ts'
import { openSource } from '../../src/upstream/open.ts'
import type { Source } from '../../src/upstream/source.ts'
import { startOwnPostgres } from '../support/own-postgres.ts'
import { hasPostgres } from '../support/postgres.ts'
import { random } from '../support/random.ts'
import { SILENT } from '../support/syncing.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { crash } from './support/crash.ts'
import { IS_FULL, SEED } from './support/scale.ts'

const CRASHES = IS_FULL ? 70 : 2
const LEADS = IS_FULL ? 600 : 200
const PAGE_SIZE = 20
const FIRST = Date.parse('2026-11-01T00:00:00Z')
const MINUTE_MS = 60_000
/** About as long as a sync takes. */
const CRASH_WITHIN_MS = 4 * LEADS
/** Longer than a page takes to be written. */
const REST_MS = 300

const OPTIONS: SyncOptions = {
  full: true,
  parts: ['leads'],
  pageSize: PAGE_SIZE,
  overlapMs: 0,
  pipelineIds: [],
  signal: new AbortController().signal,
}

const now = (): Date => new Date()

describe.skipIf(!hasPostgres)(`a PostgreSQL that crashes ${CRASHES} times, SEED=${SEED}`, () => {
  it('while leads are read has all of them after each sync', async () => {
    const next = random(SEED)
    const postgres = await startOwnPostgres()
    await using upstream = await startUpstream(0)
    const open = (): Source =>
      openSource({
        ...{ baseUrl: upstream.url, apiKey: 'key', maxWaitMs: 60_000, log: SILENT, now },
        backoff: { attempts: 5, baseMs: 0, maxMs: 0 },
      })
    await using store = await openStore(postgres.url, now())
    const found = { crashes: 0, syncsBegunAnew: 0, leadsMissing: 0 }
    const deps = { source: open(), store, log: SILENT, now }
    const readAll = async (): Promise<boolean> => {
      try {
        return (await sync(deps, OPTIONS)).complete
      } catch (thrown) {
        if (!(thrown instanceof LeadsheetError && thrown.code === 'store_unreachable')) throw thrown
        return false
      }
    }
    for (; found.crashes < CRASHES; found.crashes++) {
      changeAll(upstream, found.crashes)
      // While all wait for a page, or in the midst of whatever is done.
      const crashed =
        found.crashes % 2 === 0
          ? crashBetweenPages(upstream, next, () => crash(postgres, next))
          : sleep(next() * CRASH_WITHIN_MS).then(() => crash(postgres, next))
      while (!(await readAll())) found.syncsBegunAnew++
      await crashed
      found.leadsMissing += countMissing(upstream, await readCopy(store))
    }
    // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
    console.info(found)
    expect(found.leadsMissing).toBe(0)
    expect(await findViolations(store.db, now().toISOString(), 'all')).toEqual([])
  }, 2_400_000)
})

/** At a page that is asked for, and answered only when the server is back. */
function crashBetweenPages(
  { faults }: Upstream,
  next: () => number,
  befall: () => Promise<void>,
): Promise<void> {
  const crashed = Promise.withResolvers<void>()
  const before = 2 + Math.floor(next() * (LEADS / PAGE_SIZE - 4))
  faults.push(...Array.from({ length: before }, () => () => false))
  faults.push((_, response) => {
    sleep(REST_MS)
      .then(befall)
      .then(crashed.resolve, crashed.reject)
      .finally(() => response.destroy())
    return true
  })
  return crashed.promise
}

function changeAll(upstream: Upstream, round: number): void {
  for (let number = 0; number < LEADS; number++) {
    const updated_at = new Date(FIRST + (round * LEADS + number) * MINUTE_MS).toISOString()
    upstream.put(number, { score: round % 101, updated_at })
  }
}

async function readCopy({ db }: Store): Promise<ReadonlyMap<string, number | null>> {
  const rows = await db.selectFrom('lead').where('deleted_at', 'is', null).select(['id', 'score']).execute()
  return new Map(rows.map(({ id, score }) => [id, score]))
}

function countMissing({ leads }: Upstream, copy: ReadonlyMap<string, number | null>): number {
  return [...leads.values()].filter(({ id, score }) => copy.get(id) !== score).length
}

/**
 * A PostgreSQL that crashes again and again while a sync reads a list of leads. It forgets commits that were
 * not on disk, and is back before anybody notices. In the end no lead is missing.
 */
import { describe, expect, it } from 'vitest'
import type { SyncProgress } from '../../../src/domain/sync.ts'
import { LeadsheetError } from '../../../src/errors.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import { openStore } from '../../../src/store/open.ts'
import { findScan } from '../../../src/store/sync/scan.ts'
import { openSource } from '../../../src/upstream/source.ts'
import { type OwnPostgres, startOwnPostgres } from '../../support/postgres/own-postgres.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { random } from '../../support/random.ts'
import { SILENT, SYNC_OPTIONS } from '../../support/syncing.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { listOf, readCopy } from '../support/contents.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'

const CRASHES = IS_FULL ? 70 : 3
/** The limit for additional crashes. They follow until one has lost a page that is not read again anyway. */
const CRASHES_MAX = CRASHES + 20
const LEADS = IS_FULL ? 600 : 200
const PAGE_SIZE = 20
const FIRST = Date.parse('2026-11-01T00:00:00Z')
const MINUTE_MS = 60_000
const OPTIONS: SyncOptions = { ...SYNC_OPTIONS, full: true, parts: ['leads'], pageSize: PAGE_SIZE }

const now = (): Date => new Date()

describe.skipIf(!hasPostgres)(`a PostgreSQL that crashes ${CRASHES} times, SEED=${SEED}`, () => {
  it('while leads are read has all of them after each sync', async () => {
    const next = random(SEED)
    const postgres = await startOwnPostgres()
    await using upstream = await startUpstream(0)
    const source = openSource({
      baseUrl: upstream.url,
      apiKey: 'key',
      maxWaitMs: 60_000,
      log: SILENT,
      now,
      backoff: { attempts: 5, baseMs: 0, maxMs: 0 },
    })
    await using store = await openStore(postgres.url, now())
    const found = { crashes: 0, pagesLost: 0, syncsBegunAnew: 0, leadsMissing: 0 }
    const deps = { source, store, log: SILENT, now }
    const readAll = async (onProgress: (progress: SyncProgress) => void): Promise<boolean> => {
      try {
        return (await sync(deps, { ...OPTIONS, onProgress })).complete
      } catch (thrown) {
        if (!(thrown instanceof LeadsheetError && thrown.code === 'store_unreachable')) throw thrown
        return false
      }
    }
    const isEnough = (): boolean =>
      found.crashes >= CRASHES_MAX || (found.crashes >= CRASHES && found.pagesLost > 0)
    for (; !isEnough(); found.crashes++) {
      changeAll(upstream, found.crashes)
      const pages = 2 + Math.floor(next() * (LEADS / PAGE_SIZE - 4))
      const acknowledged = Promise.withResolvers<void>()
      const isBetweenPages = found.crashes % 2 === 0
      const crashed = acknowledged.promise.then(async () => {
        await crash(postgres, next)
        // The server may have flushed the page. A page of the first load is always read again, because other
        // leads get the numbers of the lost ones and the scan counts too few.
        if (!isBetweenPages || found.crashes === 0) return
        found.pagesLost += pages - ((await findScan(store.db))?.pages ?? 0)
      })
      if (isBetweenPages) holdUpPageAfter(upstream, pages, crashed)
      const onProgress = (progress: SyncProgress): void => {
        if (progress.pages === pages) acknowledged.resolve()
      }
      while (!(await readAll(onProgress))) found.syncsBegunAnew++
      await crashed
      const copy = new Set((await readCopy(store)).map(String))
      found.leadsMissing += listOf(upstream).filter((line) => !copy.has(String(line))).length
    }
    // biome-ignore lint/suspicious/noConsole: the figures are what one runs it for
    console.info(found)
    expect(found.pagesLost).toBeGreaterThan(0)
    expect(found.leadsMissing).toBe(0)
    await expectSound(postgres.url)
  })
})

/** Crashes a server: all processes end and it is started again, or one process ends and it recovers by itself. */
async function crash(postgres: OwnPostgres, next: () => number): Promise<void> {
  if (next() < 0.5) return postgres.killProcess()
  await postgres.stop('immediate')
  await postgres.start()
}

/** Makes the reader wait for its next page until a promise is settled. Then it asks for that page again. */
function holdUpPageAfter({ faults }: Upstream, pages: number, until: Promise<void>): void {
  faults.push(...Array.from({ length: pages }, () => () => false))
  faults.push((_, response) => {
    const cut = (): void => void response.destroy()
    until.then(cut, cut)
    return true
  })
}

function changeAll(upstream: Upstream, round: number): void {
  for (let number = 0; number < LEADS; number++) {
    const updated_at = new Date(FIRST + (round * LEADS + number) * MINUTE_MS).toISOString()
    upstream.put(number, { score: round % 101, updated_at })
  }
}

/**
 * Keeps the record of what reports claim in memory for the dashboard. It is tested anew after a sync or a new
 * annotation when the page is opened, in a child process, because it takes up to seconds of computing.
 */
import { errorText } from '../../errors.ts'
import type { Backtest } from '../../insight/backtest.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/db/store.ts'
import { askChild, programFile } from '../../store/db/subprocess.ts'
import { listAnnotations } from '../../store/insight/annotation.ts'
import { findLastWholeRun } from '../../store/sync/sync-run.ts'
import { readTested } from './read-backtest.ts'

const CHILD = programFile(import.meta.url, 'record-child')

export interface KeptRecord {
  /** The last record; null if there is none yet. */
  readonly record: Backtest | null
  /** The reason why the last test failed; null if it succeeded. */
  readonly failure: string | null
}

export interface RecordKeeper extends AsyncDisposable {
  read(): Promise<KeptRecord>
}

/** @param folder the working directory of the child process */
export function openRecord(deps: {
  readonly store: Pick<Store, 'db'>
  readonly timeZone: string
  readonly holidays: readonly string[]
  readonly folder: string
  readonly log: Log
}): RecordKeeper {
  const { store, timeZone, holidays, folder, log } = deps
  const closing = new AbortController()
  let kept: (KeptRecord & { readonly key: string }) | null = null
  let testing: Promise<string | null> | null = null

  async function test(asOf: string, key: string): Promise<string | null> {
    try {
      const tested = await readTested(store, { asOf, timeZone, pipelineIds: null, holidays })
      kept = { key, record: await askChild(CHILD, tested, { folder, signal: closing.signal }), failure: null }
      return null
    } catch (thrown) {
      if (!closing.signal.aborted)
        log.error({ err: thrown }, `the record cannot be tested: ${errorText(thrown)}`)
      return errorText(thrown)
    }
  }

  return {
    async read() {
      const whole = await findLastWholeRun(store.db)
      if (whole === undefined) return { record: null, failure: null }
      // Annotations change which days are tested.
      const key = JSON.stringify([whole.asOf, await listAnnotations(store.db)])
      if (kept?.key === key) return { record: kept.record, failure: null }
      testing ??= test(whole.asOf, key).finally(() => {
        testing = null
      })
      const failure = await testing
      return { record: kept?.record ?? null, failure }
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await testing
    },
  }
}

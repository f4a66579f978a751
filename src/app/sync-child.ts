/** The child process that runs one scheduled sync with its own store and connection. */
import { setFlagsFromString } from 'node:v8'
import type { Config } from '../config/config.ts'
import { pasteSettings } from '../config/secrets.ts'
import { syncAndPrune } from '../jobs/sync/scheduled-sync.ts'
import { openLog } from '../log.ts'
import { withoutLearnedSecrets } from '../redaction.ts'
import { answerParent, type Parent } from '../store/db/subprocess.ts'
import { openStore } from '../store/open.ts'
import { borrowLease } from '../store/schedule/lease.ts'
import { reportTimeZones } from './configured-schedules.ts'
import { openSourceOf, syncOptions } from './configured-upstream.ts'
import type { SyncAnswer, SyncJob } from './sync-process.ts'

// These settings of the engine keep the heap small; `main.ts` explains them.
setFlagsFromString('--semi-space-growth-factor=1')
setFlagsFromString('--heap-growing-percent=100')

answerParent(
  async ({ settings, file, full, lease, logLevel }: SyncJob, parent: Parent): Promise<SyncAnswer> => {
    const config = configOf(settings)
    // The parent process formats the lines and removes the secrets.
    const log = await openLog({
      level: logLevel,
      pretty: false,
      color: false,
      secrets: [],
      write: parent.tell,
    })
    await using store = await openStore(file, new Date(), 'refuse')
    const source = openSourceOf(config, log)
    try {
      const work = {
        source,
        store,
        log,
        now: () => new Date(),
        retention: config.retention,
        timeZones: reportTimeZones(config),
        syncOptions: (signal: AbortSignal) => syncOptions(config, signal),
      }
      const { signal } = parent
      const result = await syncAndPrune(work, full, borrowLease(store, lease, signal), signal)
      return { result, clockAheadMs: source.clockAheadMs() }
    } catch (thrown) {
      // The parent process shows the stack of a bug, and does not know the tokens of this process.
      if (thrown instanceof Error) thrown.stack = withoutLearnedSecrets(thrown.stack ?? '')
      throw thrown
    } finally {
      await source.close()
    }
  },
)

function configOf(settings: unknown): Config {
  const config = pasteSettings(settings) as Config
  const { profile } = config.api
  // A function cannot be passed to a process, so `nameOf` is replaced. The new function names only the file
  // of a mistake, because the daemon has already reported mistakes with their lines.
  return {
    ...config,
    api: { ...config.api, profile: profile && { ...profile, nameOf: () => profile.origin } },
  }
}

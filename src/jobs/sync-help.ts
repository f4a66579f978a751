/** What workers do for a sync that one of them runs: they read parts of its list, and details of its leads. */
import type { Log } from '../log.ts'
import type { Queue } from '../queue/queue.ts'
import type { Source } from '../source/open.ts'
import type { Store } from '../store/open.ts'
import { createDetailCrew } from './detail-crew.ts'
import { logFailure } from './failure.ts'
import type { Lane } from './lane.ts'
import { aborted } from './shared-lane.ts'
import type { SyncDeps } from './sync.ts'
import { createPartReader } from './sync-part.ts'
import type { PartHelpers } from './sync-run.ts'

export interface SyncHelpDeps {
  readonly queue: Queue
  readonly source: Source
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  readonly pageSize: number
  /** Leads whose details this worker reads at once. */
  readonly concurrency: number
}

export interface SyncHelp {
  /** For the syncs that this worker runs. */
  readonly help: Required<Pick<SyncDeps, 'helpers' | 'crew'>>
  /** For those of others: takes what they offer, and needs no poke. */
  readonly lane: Lane
}

export function createSyncHelp(deps: SyncHelpDeps): SyncHelp {
  const { queue, log } = deps
  const crew = createDetailCrew(deps)
  /** The last one that this worker has run. */
  let ownRun: string | null = null
  const readPart = createPartReader(deps, (runId) => runId === ownRun)
  let inHand = 0
  let opened: AbortSignal | null = null
  let ended: Promise<void> | null = null

  const takeUntil = async (signal: AbortSignal): Promise<void> => {
    const taking = await queue.work('sync-part', { concurrency: 1 }, async ({ data, signal: untilLost }) => {
      inHand++
      await readPart(data.part, untilLost).finally(() => inHand--)
    })
    await aborted(signal)
    await taking.stop()
  }
  return {
    help: {
      crew,
      helpers: partHelpersOf(queue, (runId) => {
        ownRun = runId
      }),
    },
    lane: {
      poke: () => undefined,
      open(signal) {
        opened = signal
        ended = takeUntil(signal).catch((thrown: unknown) => logFailure(log, thrown, { queue: 'sync-part' }))
        crew.open(signal)
      },
      isBusy: () => inHand > 0 || crew.isBusy(),
      async idle() {
        if (opened?.aborted) await ended
        await crew.idle()
      },
    },
  }
}

function partHelpersOf(queue: Queue, onOffer: (runId: string) => void): PartHelpers {
  return {
    async offer(runId, parts) {
      onOffer(runId)
      await queue.sendAll(
        'sync-part',
        parts.map((part) => ({ data: { part }, key: `part ${part}` })),
      )
    },
    takeOne: (signal, read) => queue.takeOne('sync-part', signal, ({ data }) => read(data.part)),
  }
}

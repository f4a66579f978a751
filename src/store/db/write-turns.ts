/**
 * Lets the main thread write first. SQLite has one writer at a time, and knows no queue: a sync in another
 * thread, which writes page after page, would keep the short writes of the daemon waiting.
 */
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

/** The longest wait of another thread before one of its transactions, so that its work always goes on. */
const GIVE_WAY_MS = 250

/** The number of transactions that the main thread has begun or waits to begin, shared by all threads. */
const started = sharedCount()

/** Resolves when this thread should begin a transaction: in the main thread at once. */
export async function awaitTurn(): Promise<void> {
  if (isMainThread) return
  const until = performance.now() + GIVE_WAY_MS
  for (let left = GIVE_WAY_MS; left > 0; left = until - performance.now()) {
    const count = Atomics.load(started, 0)
    if (count === 0) return
    await Atomics.waitAsync(started, 0, count, left).value
  }
}

/** Tells the other threads that the main thread wants to write. */
export function takeTurn(): void {
  if (isMainThread) Atomics.add(started, 0, 1)
}

/** Ends what {@link takeTurn} began. */
export function endTurn(): void {
  if (!isMainThread) return
  Atomics.sub(started, 0, 1)
  Atomics.notify(started, 0)
}

function sharedCount(): Int32Array<SharedArrayBuffer> {
  const known = getEnvironmentData('leadsheet writes')
  if (known instanceof SharedArrayBuffer) return new Int32Array(known)
  const made = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  setEnvironmentData('leadsheet writes', made)
  return new Int32Array(made)
}

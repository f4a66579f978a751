/** A clock for the client. It moves only while the client waits. */
import type { Timer } from '../../../src/upstream/client/retrying-client.ts'

export interface FakeTimer extends Timer {
  /** The milliseconds waited so far. */
  ms: number
}

export function fakeTimer(): FakeTimer {
  const timer: FakeTimer = {
    ms: 0,
    now: () => timer.ms,
    wait: async (ms, signal) => {
      signal.throwIfAborted()
      timer.ms += ms
    },
  }
  return timer
}

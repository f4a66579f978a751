/** A clock for the client. It moves only while the client waits. */

export function fakeTimer() {
  const timer = {
    /** The milliseconds waited so far. */
    ms: 0,
    /** Each wait in milliseconds. */
    waits: [] as number[],
    now: (): number => timer.ms,
    wait: async (ms: number, signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted()
      timer.ms += ms
      if (ms > 0) timer.waits.push(ms)
    },
  }
  return timer
}

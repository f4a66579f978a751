/** When to break off a message that is under way: at once while nothing of it has left, else only after some time. */

interface StopSignal {
  readonly signal: AbortSignal
  /** From now on the message leaves. */
  leaves(): void
  /** The message is done with. */
  end(): void
}

/** @param patienceMs how long the answer to a message that has left is waited for once all is to stop */
export function createStopSignal(stop: AbortSignal, patienceMs: number): StopSignal {
  const broken = new AbortController()
  let hasLeft = false
  let timer: NodeJS.Timeout | undefined
  const breakOff = (): void => broken.abort(stop.reason)
  const onStop = (): void => {
    if (hasLeft) timer = setTimeout(breakOff, patienceMs)
    else breakOff()
  }
  stop.addEventListener('abort', onStop, { once: true })
  if (stop.aborted) onStop()
  return {
    signal: broken.signal,
    leaves: () => {
      hasLeft = true
    },
    end: () => {
      clearTimeout(timer)
      stop.removeEventListener('abort', onStop)
    },
  }
}

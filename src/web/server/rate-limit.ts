/** How often one network may ask: counted in memory, from minute to minute. */
import { isIPv6 } from 'node:net'

export interface RateLimit {
  /** Counts one request; false where there were too many in this minute. */
  allows(address: string): boolean
}

const WINDOW_MS = 60_000

/** @param now in milliseconds */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  const counts = new Map<string, number>()
  let minute = Number.NaN
  return {
    allows: (address) => {
      const current = Math.floor(now() / WINDOW_MS)
      if (current !== minute) counts.clear()
      minute = current
      const network = networkOf(address)
      const count = (counts.get(network) ?? 0) + 1
      counts.set(network, count)
      return count <= perMinute
    },
  }
}

/** Of IPv6 the first half: one customer has all addresses that begin so. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [start = '', end] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  const after = end === undefined || end === '' ? [] : end.split(':')
  const missing = end === undefined ? 0 : 8 - groups.length - after.length
  return [...groups, ...Array<string>(missing).fill('0'), ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

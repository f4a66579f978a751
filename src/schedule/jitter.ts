/** By how much later a due time begins: always the same for the same one, so that a restart changes nothing. */
import { createHash } from 'node:crypto'

/**
 * From 0 up to so many seconds, spread evenly over all seeds.
 * @param seed what tells the due time from all others: installation, schedule, instant
 */
export function jitterMs(seed: string, seconds: number): number {
  const hash = createHash('sha256').update(seed).digest().readUInt32BE(0)
  return Math.floor((hash / 2 ** 32) * seconds * 1000)
}

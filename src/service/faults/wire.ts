/** Faults of the wire: bodies that break off, come slowly, or are far more than they seem. */
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

const MIB = 1024 * 1024
/** For what was written to reach the other side before the connection ends. */
const FLUSH_MS = 20

/** So many bytes, and then `end`, which ends the connection. */
export function breakingOff(bytes: Buffer, end: () => void): Readable {
  return Readable.from(
    (async function* () {
      if (bytes.length > 0) yield bytes
      await delay(FLUSH_MS)
      end()
    })(),
    { objectMode: false },
  )
}

/** The signal ends it early. */
export function dripping(body: Buffer, bytes: number, everyMs: number, signal: AbortSignal): Readable {
  return Readable.from(
    (async function* () {
      for (let start = 0; start < body.length; start += bytes) {
        if (start > 0) await delay(everyMs, undefined, { signal })
        yield body.subarray(start, start + bytes)
      }
    })(),
    { objectMode: false },
  )
}

/** Gzip that unpacks to `mib` MiB of spaces: members one after another (RFC 1952, 2.2), a kilobyte each. */
export function bomb(mib: number): Readable {
  const member = gzipSync(Buffer.alloc(MIB, ' '), { level: 9 })
  return Readable.from(
    (function* () {
      for (let sent = 0; sent < mib; sent++) yield member
    })(),
    { objectMode: false },
  )
}

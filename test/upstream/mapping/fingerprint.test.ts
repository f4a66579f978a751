import { describe, expect, it } from 'vitest'
import { fingerprintBytes } from '../../../src/upstream/mapping/raw-record.ts'
import { generateLead } from '../../bench/generate.ts'

function fingerprintOf(bytes: Uint8Array, from = 0, to = bytes.length): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { high, low } = fingerprintBytes(view, from, to)
  return (BigInt(high) << 32n) | BigInt(low)
}

describe('the fingerprint of bytes', () => {
  it('is the same wherever in a page they stand', () => {
    const bytes = Buffer.from('{"id":"ld_01","name":"Zoë"}')
    for (let before = 0; before < 9; before++) {
      const page = Buffer.concat([Buffer.alloc(before, 'x'), bytes, Buffer.from(',{}')])
      expect(fingerprintOf(page, before, before + bytes.length)).toBe(fingerprintOf(bytes))
    }
  })

  it('is another for each single bit that changes, and half of its own bits change with it', () => {
    const bytes = Buffer.from(JSON.stringify(generateLead(1)))
    const before = fingerprintOf(bytes)
    const met = new Set([before])
    let flipped = 0
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const other = Buffer.from(bytes)
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const after = fingerprintOf(other)
      met.add(after)
      flipped += (before ^ after).toString(2).replaceAll('0', '').length
    }
    expect(met.size).toBe(bytes.length * 8 + 1)
    expect(flipped / (bytes.length * 8)).toBeGreaterThan(31)
    expect(flipped / (bytes.length * 8)).toBeLessThan(33)
  })
})

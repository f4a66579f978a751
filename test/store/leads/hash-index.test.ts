import { expect, it } from 'vitest'
import { createNumberIndex } from '../../../src/store/leads/fingerprints.ts'
import { countCases, random } from '../../support/random.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const CHANGES = countCases(10_000, 50_000)

it(`an index of numbers finds what a map would, through ${CHANGES} random changes and its growth (SEED=${SEED})`, () => {
  const next = random(SEED)
  const index = createNumberIndex()
  const byHash = new Map<string, number>()
  const hashes = new Map<number, readonly [number, number]>()
  // There are few low halves, so that many hashes share a slot.
  const hash = (): readonly [number, number] => [Math.floor(next() * 2 ** 32), Math.floor(next() * 50)]
  const forget = (no: number): void => {
    const before = hashes.get(no)
    if (before) byHash.delete(before.join())
    hashes.delete(no)
  }
  let last = 0
  for (let change = 0; change < CHANGES; change++) {
    const dice = next()
    const no = dice < 0.5 ? ++last : 1 + Math.floor(next() * last)
    forget(no)
    if (dice > 0.9) {
      index.forget(no)
      continue
    }
    const [high, low] = hash()
    index.set(no, high, low)
    hashes.set(no, [high, low])
    byHash.set([high, low].join(), no)
  }
  for (const [no, [high, low]] of hashes) expect(index.find(high, low)).toBe(no)
  for (let miss = 0; miss < 1_000; miss++) {
    const [high, low] = hash()
    expect(index.find(high, low)).toBe(byHash.get([high, low].join()) ?? null)
  }
  index.set(last + 1, 0, 0)
  // The hash that stands for none.
  expect(index.find(0, 0)).toBeNull()
})

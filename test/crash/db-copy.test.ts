/** A copy of a store into PostgreSQL is killed again and again. It leaves nothing behind, and its source as it was. */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyStore } from '../../src/store/copy/copy.ts'
import { fileOf, placeOf } from '../../src/store/db/place.ts'
import { openStore } from '../../src/store/open.ts'
import { openFurnishedStore } from '../support/data/furnished-store.ts'
import { hasPostgres } from '../support/postgres.ts'
import { random } from '../support/random.ts'
import { newStoreUrl } from '../support/store.ts'

const SCRIPT = join(import.meta.dirname, 'support/copy-store.ts')
const KILLS = 10
const NOW = new Date('2026-11-21T09:00:00Z')

test.skipIf(!hasPostgres)(
  'a copy that is killed ten times leaves an empty store each time, and its source as it was',
  async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    const next = random(seed)
    const source = await openFurnishedStore()
    await source.close()
    const file = fileOf(source)
    const before = hashOf(file)
    const there = await newStoreUrl()
    const shares: number[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const share = next() * 0.9
      shares.push(share)
      await copyAndKill(file, there, share)
      await using left = await openStore(there, NOW)
      expect(left.installationId, `SEED=${seed}: ${shares}`).not.toBe(source.installationId)
    }
    await using again = await openStore(file, NOW)
    const signal = new AbortController().signal
    await copyStore(again, placeOf(there), { now: () => NOW, signal, onProgress: () => {} })
    await again.close()
    expect(hashOf(file)).toBe(before)
    await using copied = await openStore(there, NOW)
    expect(copied.installationId).toBe(source.installationId)
  },
)

/** Starts a copy, which is killed when it has done this share of its work. */
async function copyAndKill(from: string, to: string, share: number): Promise<void> {
  const [, signal] = await once(fork(SCRIPT, [from, to, String(share)]), 'exit')
  expect(signal).toBe('SIGKILL')
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

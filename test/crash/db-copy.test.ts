/**
 * A move of a store into PostgreSQL is killed again and again. It ends with the same rows as a move without
 * kills.
 */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Moved, moveStore } from '../../src/store/copy/copy.ts'
import { fileOf, placeOf } from '../../src/store/db/place.ts'
import { openStore } from '../../src/store/open.ts'
import { openFurnishedStore } from '../support/data/furnished-store.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { random } from '../support/random.ts'
import { migratedDatabase } from '../support/store.ts'

const SCRIPT = join(import.meta.dirname, 'support/move-store.ts')
const KILLS = 10
const NOW = new Date('2026-11-21T09:00:00Z')

test.skipIf(!hasPostgres)(
  'a move that is killed ten times is one move, and its source stays as it was',
  async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    const next = random(seed)
    const source = await openFurnishedStore()
    await source.close()
    const file = fileOf(source)
    const before = hashOf(file)

    const there = await newDatabase({ template: await migratedDatabase() })
    const lives: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      // The first kills come early and the last ones late, so that every table is hit.
      const steps = Math.floor(next() * (kill < KILLS - 3 ? 6 : 60))
      lives.push(await moveAndKill(file, there, steps, next() * 20))
    }
    const how = `SEED=${seed}: killed at ${lives.join(', ')}`
    expect(lives, how).toContain('copy')
    const killed = await move(file, there)

    const unkilled = await move(file, await newDatabase({ template: await migratedDatabase() }))
    expect(killed, how).toEqual({ ...unkilled, state: killed.state })
    expect(killed.violations).toEqual([])
    expect(hashOf(file)).toBe(before)
    await using moved = await openStore(there, NOW)
    expect(moved.installationId).toBe(source.installationId)
  },
)

async function move(from: string, to: string): Promise<Moved> {
  await using source = await openStore(from, NOW)
  const signal = new AbortController().signal
  return await moveStore(source, placeOf(to), { now: () => NOW, signal, onProgress: () => {} })
}

/**
 * Starts a move and kills it so many steps and milliseconds after its first step. Returns the last step that
 * it reported.
 */
async function moveAndKill(from: string, to: string, steps: number, delayMs: number): Promise<string> {
  const child = fork(SCRIPT, [from, to])
  let last = 'opening'
  let told = 0
  child.on('message', (message) => {
    last = typeof message === 'string' ? message : 'done'
    if (++told === steps + 1) setTimeout(() => child.kill('SIGKILL'), delayMs)
  })
  await once(child, 'exit')
  return last
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/**
 * A store for a process that may be killed at any moment. After the kill, nothing that the process does has
 * any effect.
 */
import type { Store } from '../../src/store/db/store.ts'

export type MortalStore = ReturnType<typeof mortal>

/** @param store stays open for the next process */
export function mortal(store: Store) {
  let left = Number.POSITIVE_INFINITY
  let dies: 'before' | 'after' = 'before'
  const assertAlive = (): void => {
    if (left <= 0) throw new Error('killed')
  }
  const guarded =
    (write: Store['write']): Store['write'] =>
    async (work) => {
      assertAlive()
      left--
      if (dies === 'before') assertAlive()
      const result = await write(work)
      assertAlive()
      return result
    }
  return {
    ...store,
    get db() {
      assertAlive()
      return store.db
    },
    write: guarded(store.write),
    writeSoon: guarded(store.writeSoon),
    isDead: () => left <= 0,
    /** Kills the process at a write, where 1 is the next one: before it begins, or after it is on disk. */
    dieAt(write: number, when: 'before' | 'after'): void {
      left = write
      dies = when
    },
  }
}

/** A store as a process has it that may be killed at any moment: from then on nothing that it does has any effect. */
import type { Store } from '../../src/store/db/store.ts'

export interface MortalStore extends Store {
  readonly isDead: () => boolean
  /** Dies at a write, 1 being the next: as it would begin, or just when it is on the disk. */
  dieAt(write: number, when: 'before' | 'after'): void
}

/** @param store goes on living, for the process that comes next */
export function mortal(store: Store): MortalStore {
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
    dieAt(write, when) {
      left = write
      dies = when
    },
  }
}

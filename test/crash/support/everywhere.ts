/**
 * The harness of what is killed at every point: the program is killed in a new copy of a folder, may end, and must leave
 * what one leaves that was never killed.
 */
import { rmSync } from 'node:fs'
import { expect } from 'vitest'
import { folderWith } from '../../support/folder.ts'
import { listPoints, type Program, run, runKilledAt } from './program.ts'
import { forEachCase, sampleOf } from './scale.ts'
import { expectSound } from './store.ts'
import { copyOf, databaseIn } from './world.ts'

/** A program in a folder, and what must hold. */
export interface Case extends Partial<AsyncDisposable> {
  readonly program: Program
  /** Looks after each kill. */
  checkKilled?(): void
  /** Looks when the program has ended. */
  check?(): void
  /** Returns what must be the same as of a program that was never killed. */
  result?(): unknown
}

interface Options {
  /** The number of times that the program is killed at the same point before it may end. */
  readonly rounds?: number
  /** The number of points in the sample. */
  readonly samples?: number
  /** The points that count. */
  readonly points?: RegExp
  /** The sources of the version that opens the store in the end. */
  readonly sources?: string
}

export async function killEverywhere(
  base: string,
  open: (folder: string) => Case | Promise<Case>,
  { rounds = 1, samples = 2, points: counted = /^/, sources }: Options = {},
): Promise<void> {
  const copies = folderWith()
  const end = async (one: Case): Promise<unknown> => {
    one.check?.()
    await expectSound(databaseIn(one.program.cwd), [], sources)
    return one.result?.()
  }
  const unkilled = await open(copyOf(base, copies, 'unkilled'))
  const points = await listPoints(unkilled.program)
  const expected = await end(unkilled)
  await unkilled[Symbol.asyncDispose]?.()
  const all = points.flatMap((name, index) => (counted.test(name) ? [index + 1] : []))
  expect(all.length).toBeGreaterThan(30)
  const numbers = sampleOf(all, samples)
  let killed = 0
  await forEachCase(numbers, async (point) => {
    const folder = copyOf(base, copies, String(point))
    const one = await open(folder)
    try {
      for (let round = 0; round < rounds; round++) {
        if (await runKilledAt(point, one.program)) killed++
        one.checkKilled?.()
      }
      await run(one.program)
      expect(await end(one)).toEqual(expected)
    } catch (cause) {
      throw new Error(`after ${rounds} kills at point ${point}, ${points[point - 1]}`, { cause })
    } finally {
      await one[Symbol.asyncDispose]?.()
    }
    rmSync(folder, { recursive: true })
  })
  expect(killed).toBeGreaterThanOrEqual(numbers.length - 1)
}

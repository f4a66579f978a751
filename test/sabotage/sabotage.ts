/**
 * A bug that the tests have to notice, made by changing a few words of the program in a copy of it. It breaks a promise
 * quietly: the program goes on, and only a crash, a lost answer or a strange record tells the difference.
 */
import type { Edit } from './project-copy.ts'

export interface Sabotage {
  /** What the broken program does. */
  readonly name: string
  readonly edits: readonly Edit[]
  /** Each of these tests, wherever it is, must fail by the bug: what it says matches `because`. */
  readonly caughtBy: readonly { readonly title: string; readonly because: RegExp }[]
}

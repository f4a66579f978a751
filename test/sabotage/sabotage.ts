/**
 * A bug that the tests must notice, made by changing a few words in a copy of the program. It quietly breaks
 * a promise: the program goes on, and only a crash, a lost answer or a strange record shows the difference.
 */
import type { Edit } from './project-copy.ts'

export interface Sabotage {
  /** The behaviour of the broken program. */
  readonly name: string
  readonly edits: readonly Edit[]
  /**
   * The tests that must fail because of the bug, in any file. The message of the failure matches `because`.
   */
  readonly caughtBy: readonly { readonly title: string; readonly because: RegExp }[]
}

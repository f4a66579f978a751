/**
 * A bug that the tests have to notice, made by changing a few words of the program in a copy of it. It breaks a promise
 * quietly: the program goes on, and only a crash, a lost answer or a strange record tells the difference.
 */
import type { NamedTest } from '../support/named-test.ts'
import type { Edit } from './project-copy.ts'

export interface Sabotage {
  /** What the broken program does. */
  readonly name: string
  readonly edits: readonly Edit[]
  /** Each of them must fail, and by the bug: what it says matches `because`. */
  readonly caughtBy: readonly (NamedTest & { readonly because: RegExp })[]
}

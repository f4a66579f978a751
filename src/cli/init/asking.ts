/** What the questions of `leadsheet init` share: what is given already is told, and not asked for. */
import type { Check } from '../../source/checkup.ts'
import type { Prompter } from '../prompter.ts'
import { type Answer, type Given, said } from './answers.ts'
import type { TrialDeps } from './trials.ts'

/** After a trial that did not end well. */
export const AGAIN_OR_KEEP = ['Once more (again), or keep it (keep)', ['again', 'keep']] as const

export interface Asking extends TrialDeps {
  readonly prompter: Prompter
  readonly given: Given
  /** Tells how a trial ended. */
  readonly tell: (check: Check) => void
  readonly now: Date
}

export interface Asks {
  readonly text: string
  readonly standard?: string | undefined
  readonly fault: (answer: string) => string | null
}

export async function answerOf(
  prompter: Prompter,
  given: Answer | undefined,
  question: Asks,
): Promise<Answer> {
  if (given === undefined) return said(await prompter.ask(question))
  prompter.say(`  ${question.text}: ${given.value}${given.variable === null ? '' : ` (${given.variable})`}`)
  return given
}

/** What can be answered otherwise: the environment stays as it is. */
export function changeable(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, answer]) => answer?.variable))
}

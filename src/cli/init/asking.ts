/** What the questions of `leadsheet init` share: what is given already is told, and not asked for. */
import type { Check } from '../../upstream/checkup.ts'
import type { Prompter } from '../prompter.ts'
import { type Answer, type Given, said } from './answers.ts'
import type { TrialDeps } from './trials.ts'

const PATIENCE_MS = 1_500

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

/** Says so where a trial takes its time. */
export async function patiently<T>(prompter: Prompter, trial: Promise<T>): Promise<T> {
  const timer = setTimeout(() => prompter.say('  waiting for an answer …'), PATIENCE_MS)
  try {
    return await trial
  } finally {
    clearTimeout(timer)
  }
}

/** What can be answered otherwise: the environment stays as it is. */
export function changeable(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, answer]) => answer?.variable))
}

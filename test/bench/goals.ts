/** The goals of speed, size and memory: goals.md, which the bench judges and docs/explanation/performance.md shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Goal {
  readonly name: string
  /** The first word of the name. */
  readonly subject: string
  readonly title: string
  /** The steps that are measured, by their names in the parts. */
  readonly of: string
  /** The step for comparison. */
  readonly against: string | undefined
  /**
   * `share`: ours divided by theirs. `speed`: theirs divided by ours. `growth`: the time of a lead among the
   * most leads, divided by that among the fewest.
   */
  readonly as: 'share' | 'speed' | 'growth' | 'value'
  readonly kinds: readonly ('cpu' | 'wall')[] | null
  readonly at: 'most' | 'least'
  readonly limit: number
  readonly unit: string
  /** The measured numbers of leads that the goal is about. */
  readonly leads: 'each' | 'largest' | 'smallest'
}

export const GOALS: readonly Goal[] = readFileSync(join(import.meta.dirname, 'goals.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| [a-z]/.test(line))
  .map((line) =>
    readGoal(
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    ),
  )

export const SUBJECTS: readonly string[] = [...new Set(GOALS.map(({ subject }) => subject))]

function readGoal([name = '', title = '', measured = '', limited = '', leads, time = '']: string[]): Goal {
  const [, growth, of = '', against] = /^(growth of )?(.*?)(?: \/ (.*))?$/.exec(measured) ?? []
  const [sign, limit, unit = ''] = limited.split(' ')
  const at = sign === '≤' ? 'most' : 'least'
  const compared = at === 'most' ? 'share' : 'speed'
  return {
    name,
    subject: name.split('-')[0] ?? '',
    title,
    of,
    against,
    as: growth ? 'growth' : against === undefined ? 'value' : compared,
    kinds: time === '–' ? null : (time.split(', ') as ('cpu' | 'wall')[]),
    at,
    limit: Number(limit),
    unit,
    leads: leads as Goal['leads'],
  }
}

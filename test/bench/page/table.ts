/** The results of the bench as a table: for a terminal, and in Markdown for the page. */
import { GOALS } from '../goals.ts'
import type { Result } from '../measurement.ts'
import type { Outcome } from './page.ts'

const KINDS = { cpu: 'CPU', wall: 'wall' } as const

/** Returns one line for each result: its name, measured value, goal and verdict. */
export function tableOf({ date, node, machine, load, rounds, notes, results, medians }: Outcome): string {
  const rows = results.map((result) => [
    result.goal,
    result.leads.toLocaleString('en'),
    result.kind === null ? '' : KINDS[result.kind],
    measuredOf(result),
    goalOf(result),
    result.verdict,
  ])
  const steps = medians.map(({ what, leads, median, samples }) => [
    ...[what, leads.toLocaleString('en'), median.toFixed(1), String(samples)],
  ])
  return [
    `Node ${node}, ${machine}, load ${load.join(' to ')}; ${date}; ${rounds} rounds`,
    ...notes,
    '',
    ...alignedOf([['goal', 'leads', 'time', 'measured', 'limit', 'verdict'], ...rows]),
    '',
    ...alignedOf([['what was measured', 'leads', 'median', 'samples'], ...steps]),
  ].join('\n')
}

/** Returns one line for each measured goal, with the numbers of leads side by side. Wall time stands only where there is no CPU time. */
export function markdownOf({ leads, results }: Pick<Outcome, 'leads' | 'results'>): string {
  const titles = leads.map((count) => count.toLocaleString('en'))
  const rows = GOALS.filter(({ name }) =>
    results.some((result) => result.goal === name && result.verdict !== 'not measured'),
  ).map(({ name, title }) => {
    const all = results.filter(({ goal }) => goal === name)
    const own = all.some(({ kind }) => kind === 'cpu') ? all.filter(({ kind }) => kind !== 'wall') : all
    const cells = leads.map((count) =>
      own
        .filter((result) => result.leads === count)
        .map(cellOf)
        .join(', '),
    )
    const [first] = own
    return [title, first === undefined ? '' : goalOf(first), ...cells]
  })
  const lines = [['What', 'Goal', ...titles], ['---', '---', ...titles.map(() => '---')], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ').replaceAll(' ×', '×')} |`).join('\n')
}

const MARKS = { met: '✓', 'not met': '✗', 'not measured': '–' } as const

function cellOf(result: Result): string {
  if (result.verdict === 'not measured') return MARKS[result.verdict]
  const kind = result.kind === 'wall' ? ` ${KINDS.wall}` : ''
  return `${measuredOf(result)}${kind} ${MARKS[result.verdict]}`
}

export function measuredOf({ measured, unit }: Result): string {
  if (measured === null) return '–'
  const digits = measured < 10 ? 2 : measured < 100 ? 1 : 0
  return `${Number(measured.toFixed(digits)).toLocaleString('en')} ${unit}`.trim()
}

function goalOf({ at, limit, unit }: Result): string {
  return `${at === 'most' ? '≤' : '≥'} ${limit.toLocaleString('en')} ${unit}`.trim()
}

function alignedOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  '),
  )
}

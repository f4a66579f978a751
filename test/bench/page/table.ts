/** The results of the bench as tables in Markdown. */
import type { Outcome } from '../bench.ts'
import { GOALS } from '../goals.ts'
import type { Result } from '../measurement.ts'

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
  const kind = result.kind === 'wall' ? ' wall' : ''
  return `${measuredOf(result)}${kind} ${MARKS[result.verdict]}`
}

function measuredOf({ measured, unit }: Result): string {
  if (measured === null) return '–'
  const digits = measured < 10 ? 2 : measured < 100 ? 1 : 0
  return `${Number(measured.toFixed(digits)).toLocaleString('en')} ${unit}`.trim()
}

function goalOf({ at, limit, unit }: Result): string {
  return `${at === 'most' ? '≤' : '≥'} ${limit.toLocaleString('en')} ${unit}`.trim()
}

/** The contenders of a step, the floor first. */
const CONTENDERS = {
  first: ['floor', 'ours', 'plain-batches', 'python'],
  unchanged: ['fetch and parse', 'ours', 'plain-batches', 'python'],
}
const NAMES: Readonly<Record<string, string>> = {
  floor: 'floor: one statement a table and page',
  'fetch and parse': 'floor: fetched and parsed',
  ours: '**leadsheet**',
  'plain-batches': 'Node script: undici, Kysely',
  python: 'Python script: requests, sqlite3',
}

/** The number of blocks that stand for the longest time. */
const BLOCKS = 24

/** Returns a bar for the CPU time of a lead by each contender, among the fewest leads. */
export function timesOf({ leads: [leads = 0], medians }: Pick<Outcome, 'leads' | 'medians'>): string {
  const rows = Object.entries(CONTENDERS).flatMap(([step, names]) =>
    names.map((name) => {
      const what = name.startsWith('fetch') ? `${name} cpu` : `${name} ${step} cpu`
      const found = medians.find((each) => each.what === what && each.leads === leads)
      return { step, name, time: found?.median ?? null }
    }),
  )
  const most = Math.max(...rows.map(({ time }) => time ?? 0))
  const lines = rows.map(({ step, name, time }) => {
    const bar = '█'.repeat(Math.max(1, Math.round(((time ?? 0) / most) * BLOCKS)))
    return `| ${step} | ${NAMES[name]} | ${time === null ? '–' : `${bar} ${time.toFixed(1)}`} |`
  })
  return ['| Sync | By | µs a lead |', '| --- | --- | --- |', ...lines].join('\n')
}

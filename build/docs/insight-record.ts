/** Writes the measured record of what reports claim into its page, from the results of the bench. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Goal, Result } from '../../test/bench/insight/result.ts'
import { table } from './markdown.ts'

export const RECORD_PAGE = 'docs/explanation/what-a-report-claims.md'
const ROOT = join(import.meta.dirname, '../..')
const RESULTS = join(ROOT, 'docs/explanation/insight-record.json')
const PLACE = /(?<=<!-- the measured record -->\n\n)[\s\S]*?(?=\n\n<!-- its end -->)/
/** The series of real numbers are named after the launches of companies. */
const REAL = /^launches/

const CLAIMS: Readonly<Record<Goal, { readonly title: string; readonly isShare: boolean }>> = {
  'coverage-95': { title: 'The range of 95 % holds', isShare: true },
  'coverage-95-of-weeks': { title: 'The range of 95 % of a week or month holds', isShare: true },
  'coverage-80': { title: 'The range of 80 % holds', isShare: true },
  'false-headlines': { title: 'False headlines in 30 reports', isShare: false },
  'shift-found': { title: 'A change of 40 % is found within 3 days', isShare: true },
  'shift-of-few-found': { title: 'A change of 40 % of few leads is found within 3 days', isShare: true },
  'small-shift-found': { title: 'A change of 20 % is found within 10 days', isShare: true },
  'pace-hits': { title: 'The range of the expected end holds', isShare: true },
  'pace-error': { title: 'Error of the expected end, where 1 is the better naive way', isShare: false },
  'cause-named': { title: 'The cause is named', isShare: true },
  'cause-wrong': { title: 'Another cause is named', isShare: true },
  'cause-adds-up': { title: 'The parts add up', isShare: true },
  'cause-of-nothing': { title: 'A cause is named though nothing changed', isShare: true },
  'share-hits': { title: 'A printed share of winners comes true', isShare: true },
}

/** Returns the page with the table of the last results in the place of the one that it has. */
export function recordPage(): string {
  const { date, isShort, results }: { date: string; isShort: boolean; results: Result[] } = JSON.parse(
    readFileSync(RESULTS, 'utf8'),
  )
  const missed = results.filter(({ verdict }) => verdict === 'not met').length
  const met = results.filter(({ verdict }) => verdict === 'met').length
  const withheld = results.length - met - missed
  const text = `Measured on ${date}${isShort ? ', in the short form' : ''}: ${met} results meet their goal, ${missed} miss it, and reports withhold ${withheld}. [insight-record.json](insight-record.json) has each series.`
  return readFileSync(join(ROOT, RECORD_PAGE), 'utf8').replace(
    PLACE,
    () => `${text}\n\n${summaryOf(results)}`,
  )
}

/** One line for each claim: how many series meet its goal, and what was measured, of simulated and of real numbers. */
function summaryOf(results: readonly Result[]): string {
  const rows = [...Map.groupBy(results, ({ goal }) => goal).values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const [real, simulated] = [true, false].map((isReal) =>
      cellOf(group.filter(({ series }) => REAL.test(series) === isReal)),
    )
    return [[CLAIMS[first.goal as Goal].title, goalOf(first), simulated ?? '', real ?? '']]
  })
  return table(['Claim', 'Goal', 'Simulated series', 'Real series'], rows)
}

function cellOf(group: readonly Result[]): string {
  const known = group.filter(({ verdict }) => verdict !== 'withheld')
  const [first] = known
  if (first === undefined) return '–'
  const measured = known.map((each) => each.measured)
  const met = known.filter(({ verdict }) => verdict === 'met').length
  return `${met} of ${known.length}: ${rangeOf(first, Math.min(...measured), Math.max(...measured))}`
}

function goalOf(result: Result): string {
  const { least, most } = result
  if (least !== null && most !== null) return rangeOf(result, least, most)
  return least === null ? `at most ${shown(result, most ?? 0)}` : `at least ${shown(result, least)}`
}

function rangeOf(result: Result, least: number, most: number): string {
  return least === most
    ? shown(result, least)
    : `${shown(result, least).replace(' %', '')}–${shown(result, most)}`
}

function shown({ goal }: Result, value: number): string {
  return CLAIMS[goal as Goal].isShare ? `${Number((100 * value).toFixed(1))} %` : String(value)
}

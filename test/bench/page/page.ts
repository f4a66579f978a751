/** Makes the parts of the page about performance from a run of the bench: its results and their tables. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from '../bench.ts'
import { markdownOf, timesOf } from './table.ts'

const FOLDER = join(import.meta.dirname, '../../../docs/explanation')
export const PAGE = join(FOLDER, 'performance.md')
export const RESULTS = join(FOLDER, 'performance.json')
const TABLE = /(?<=<!-- the table of the bench -->\n\n)[\s\S]*?(?=\n\n<!-- its end -->)/

export function writePage(outcome: Outcome): void {
  writeFileSync(RESULTS, `${JSON.stringify(outcome, null, 2)}\n`)
  writeFileSync(PAGE, pageOf(outcome, readFileSync(PAGE, 'utf8')))
}

/** Returns the page with the tables of these results in place of its old ones. */
export function pageOf(outcome: Outcome, page: string): string {
  return page.replace(TABLE, () => summaryOf(outcome))
}

/** Returns where and when the bench was run, and the tables of its results. */
export function summaryOf(outcome: Outcome): string {
  const { date, node, machine, load, rounds } = outcome
  const about = `Measured on ${date} with Node ${node.slice(1)} on ${machine.trim()}: ${rounds} rounds, at a load of ${load.join(' to ')}.`
  const times = `The processor that one of ${outcome.leads[0]?.toLocaleString('en')} leads takes:\n\n${timesOf(outcome)}`
  return [about, markdownOf(outcome), times].join('\n\n')
}

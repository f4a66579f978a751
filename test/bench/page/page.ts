/** Makes the parts of the page about performance from a run of the bench: its results, a table and a chart. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Medians, Result } from '../measurement.ts'
import { chartOf } from './chart.ts'
import { markdownOf } from './table.ts'

export interface Outcome {
  readonly date: string
  readonly node: string
  readonly machine: string
  /** The load of the machine before and after. */
  readonly load: readonly number[]
  readonly leads: readonly number[]
  readonly rounds: number
  readonly isShort: boolean
  /** The failed measurements with their reasons. */
  readonly notes: readonly string[]
  readonly results: readonly Result[]
  readonly medians: ReturnType<Medians['list']>
}

const FOLDER = join(import.meta.dirname, '../../../docs/explanation')
export const PAGE = join(FOLDER, 'performance.md')
export const RESULTS = join(FOLDER, 'performance.json')
export const CHART = join(import.meta.dirname, '../../../docs/pictures/performance.svg')
const TABLE = /(?<=<!-- the table of the bench -->\n\n)[\s\S]*?(?=\n\n<!-- its end -->)/

export function writePage(outcome: Outcome): void {
  writeFileSync(RESULTS, `${JSON.stringify(outcome, null, 2)}\n`)
  writeFileSync(CHART, chartOf(outcome))
  writeFileSync(PAGE, pageOf(outcome, readFileSync(PAGE, 'utf8')))
}

/** Returns the page with the table of these results in place of its old one. */
export function pageOf(outcome: Outcome, page: string): string {
  const { date, node, machine, load, rounds } = outcome
  const about = `Measured on ${date} with Node ${node.slice(1)} on ${machine.trim()}: ${rounds} rounds, at a load of ${load.join(' to ')}.`
  return page.replace(TABLE, () => `${about}\n\n${markdownOf(outcome)}`)
}

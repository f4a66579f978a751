/**
 * How long the charts of an issue take and whether drawing many of them takes more and more memory:
 * `npx node test/bench/charts.ts [issues]`, by default 200, each with other numbers.
 */
import { type ChartFile, drawCharts } from '../../src/report/charts/draw.ts'
import { random } from '../support/random.ts'
import { labelsIn, trendOf } from '../support/trend.ts'

const ISSUES = 200
/** Memory is told after each of these parts. */
const PARTS = 10

const next = random(1)
const labels = labelsIn('de-DE')
const issues = Number(process.argv[2] ?? ISSUES)
const times: number[] = []
let bytes = 0
console.log('issues\tMB of memory')
for (let issue = 1; issue <= issues; issue++) {
  const start = performance.now()
  const { files } = await drawCharts(figures(), labels)
  times.push(performance.now() - start)
  bytes += sizeOf(files)
  if (issue % Math.ceil(issues / PARTS) === 0)
    console.log(`${issue}\t${megabytes(process.memoryUsage.rss())}`)
}
const [first = 0, ...warm] = times
console.log(`the first\t${first.toFixed(0)} ms`)
console.log(`median of the others\t${(warm.sort((a, b) => a - b)[warm.length >> 1] ?? 0).toFixed(0)} ms`)
console.log(`slowest of the others\t${(warm.at(-1) ?? 0).toFixed(0)} ms`)
console.log(`files of an issue\t${(bytes / issues / 1000).toFixed(1)} kB`)
console.log(`peak memory\t${megabytes(process.resourceUsage().maxRSS * 1024)} MB`)

function figures() {
  const counts = (length: number, most: number) => Array.from({ length }, () => Math.floor(next() * most))
  return {
    trend: trendOf(
      96,
      () => Math.floor(next() * 90),
      () => Math.floor(next() * 12),
    ),
    sparklines: {
      newLeads: counts(14, 90),
      won: counts(14, 12),
      winRate: counts(14, 100).map((percent) => percent / 100),
      openValue: counts(14, 1e6),
    },
  }
}

function sizeOf(files: readonly ChartFile[]): number {
  return files.reduce((sum, { content }) => sum + content.length, 0)
}

function megabytes(size: number): string {
  return (size / 1e6).toFixed(0)
}

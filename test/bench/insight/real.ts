/**
 * The ranges on real numbers: each file of the folder real/ has lines of a series, a day and a count above 0. A
 * file is also judged as one series of all its counts. launches.csv has the launches of the companies of
 * data/companies.ndjson by industry; its licence is data/companies.LICENSE.txt.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { countHits, grouped, noRangeHits, resultsOf } from './ranges.ts'
import type { Result } from './result.ts'

const DAY_MS = 86_400_000
/** A series with fewer counts than this is not judged. */
const COUNTED_MIN = 200
/** A list is rarely complete at its end, so that its last days are left out. */
const LEFT_OUT_DAYS = 30

export function measureReal(): Result[] {
  return globSync(join(import.meta.dirname, 'real/*.csv'))
    .sort()
    .flatMap(measureFile)
}

function measureFile(file: string): Result[] {
  const [, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  const counted = lines.map((line) => {
    const [series = '', day = '', count = ''] = line.split(',')
    return { series, day: Date.parse(day) / DAY_MS, count: Number(count) }
  })
  const days = counted.map(({ day }) => day)
  const first = Math.min(...days)
  // A series begins on a Monday; day 4 since 1970 was one.
  const start = first + ((11 - (first % 7)) % 7)
  const end = Math.max(...days) - LEFT_OUT_DAYS
  return [null, ...new Set(counted.map(({ series }) => series))].flatMap((wanted) => {
    const counts = new Array<number>(end - start).fill(0)
    for (const { series, day, count } of counted) {
      if ((wanted !== null && series !== wanted) || day < start || day >= end) continue
      counts[day - start] = (counts[day - start] ?? 0) + count
    }
    if (counts.reduce((sum, each) => sum + each, 0) < COUNTED_MIN) return []
    return (['day', 'week', 'month'] as const).flatMap((scale) => {
      const hits = noRangeHits()
      countHits(grouped(counts, scale), hits)
      return resultsOf(hits, `${basename(file, '.csv')}, ${wanted ?? 'all'}`, scale)
    })
  })
}

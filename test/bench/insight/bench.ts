/**
 * `npm run bench:insight`: how often what a report claims is right, on simulated years and on real numbers, with
 * a verdict for each goal of result.ts.
 *
 *     npm run bench:insight -- [--short] [--json] [--page]
 *
 * `--page` writes the results to docs/explanation/insight-record.json.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureCauses } from './causes.ts'
import { measureFalseHeadlines, measureShifts } from './headlines.ts'
import { measurePaces } from './paces.ts'
import { measureRanges } from './ranges.ts'
import { measureRates } from './rates.ts'
import { measureReal } from './real.ts'
import { measureWinners } from './winners.ts'

const { values: given } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
})

const size = given.short ? 0.1 : 1
const times = (rounds: number) => Math.max(1, Math.round(rounds * size))
const results = [
  ...measureFalseHeadlines(times(1000)),
  ...measureShifts(times(400)),
  ...measureRanges(times(24)),
  ...measureRates(times(300)),
  ...measurePaces(times(12)),
  ...measureCauses(times(120)),
  ...(await measureWinners(times(10))),
  ...measureReal(),
]
const outcome = { date: new Date().toISOString().slice(0, 10), isShort: given.short, results }
if (given.page) writeFileSync('docs/explanation/insight-record.json', `${JSON.stringify(outcome, null, 2)}\n`)
if (given.json) console.log(JSON.stringify(outcome, null, 2))
else console.table(results)

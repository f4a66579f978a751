/**
 * `npm run bench`: measures every goal of goals.ts, and says of each whether it is met. Contenders run one after
 * the other, each in a process of its own, round by round; what counts are medians and ratios of medians.
 *
 *     npm run bench -- [--short] [--only first,figures] [--leads 100000,1000000] [--rounds 5] [--json]
 *       [--page]
 *
 * `--page` writes the results and the tables of docs/explanation/performance.md.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { GOALS, SUBJECTS } from './goals.ts'
import { judge, mediansOf, type Part, type Sample } from './measurement.ts'
import { summaryOf, writePage } from './page/page.ts'
import { BURST } from './parts/burst.ts'
import { FIGURES } from './parts/figures.ts'
import { IDLE_DAEMON } from './parts/idle.ts'
import { LOOP } from './parts/loop.ts'
import { MAILS } from './parts/mails.ts'
import { POSTGRES } from './parts/postgres.ts'
import { SIZE } from './parts/size.ts'
import { SLOW } from './parts/slow.ts'
import { SNAPSHOT } from './parts/snapshot.ts'
import { START } from './parts/start.ts'
import { SYNC } from './parts/sync.ts'
import { installProgram } from './programs.ts'

const PARTS: readonly Part[] = [
  SIZE,
  START,
  IDLE_DAEMON,
  SYNC,
  SLOW,
  FIGURES,
  MAILS,
  SNAPSHOT,
  LOOP,
  BURST,
  POSTGRES,
]

const { values: given } = parseArgs({
  options: {
    leads: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string', default: SUBJECTS.join() },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
})

const sizes = (given.leads ?? (given.short ? '100000' : '100000,1000000')).split(',').map(Number)
const [fewest = 0, most = fewest] = [sizes.at(0), sizes.at(-1)]
const rounds = Number(given.rounds ?? (given.short ? 3 : 5))
const subjects = new Set(given.only.split(','))
for (const name of subjects)
  if (!SUBJECTS.includes(name)) throw new Error(`found ${name}, expected some of ${SUBJECTS.join(', ')}`)

await using _program = await installProgram()
const samples: Sample[] = []
const notes: string[] = []
const loadBefore = loadavg()[0] ?? 0
for (const part of PARTS) {
  if (!part.subjects.some((subject) => subjects.has(subject))) continue
  const note = await part
    .measure(
      { leads: sizes, fewest, most, rounds, isShort: given.short },
      (what, leads, value) => void samples.push({ what, leads, value }),
    )
    .catch((thrown: Error) => thrown.message)
  if (note !== null) notes.push(`${part.subjects[0]}: ${note}`)
}

export type Outcome = typeof outcome

const medians = mediansOf(samples)
const outcome = {
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  machine: `${cpus().length} × ${cpus()[0]?.model}`,
  /** The load of the machine before and after. */
  load: [loadBefore, loadavg()[0] ?? 0].map((load) => Number(load.toFixed(1))),
  leads: sizes,
  rounds,
  isShort: given.short,
  /** The failed measurements with their reasons. */
  notes,
  results: GOALS.filter(({ subject }) => subjects.has(subject)).flatMap((goal) =>
    judge(goal, medians, sizes),
  ),
  medians,
}
if (given.json) console.log(JSON.stringify(outcome, null, 2))
else {
  console.log([...notes, summaryOf(outcome)].join('\n'))
  console.table(medians)
}
if (given.page) writePage(outcome)

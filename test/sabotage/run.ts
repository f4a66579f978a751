/**
 * `npm run test:sabotage`: breaks the program on purpose, in a copy, one bug at a time, and asks whether the tests
 * notice: those named with each bug are green without the bug and red with it, because of it.
 *
 *     npm run test:sabotage -- [WORD]        only those with this in their name
 *     npm run test:sabotage -- --sample 4    so many of them, by the day or by SEED
 *     npm run test:sabotage -- --check       runs none, and lists those whose texts or tests are no longer there
 */
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findTest, type NamedTest } from '../support/docs/named-test.ts'
import { random } from '../support/random.ts'
import { applyEdits, copyProject, type ProjectCopy } from './project-copy.ts'
import type { Sabotage } from './sabotage.ts'
import { listMisfits, SABOTAGES } from './sabotages.ts'
import { runTests } from './test-run.ts'

const ROOT = join(import.meta.dirname, '../..')
const WORKERS = Math.min(2, cpus().length)
const NOT_RUN = 'it was not run: skipped on this machine, or not loaded'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, check: { type: 'boolean' } },
})
const named = SABOTAGES.filter(({ name }) => name.includes(positionals[0] ?? ''))
const chosen = values.sample === undefined ? named : sampleOf(named, Number(values.sample))
const misfits = chosen.flatMap((sabotage) => listMisfits(sabotage).map((why) => `${sabotage.name}: ${why}`))
for (const misfit of misfits) say(`does not fit: ${misfit}`)
if (misfits.length > 0 || values.check) {
  process.exitCode = misfits.length > 0 ? 1 : 0
} else {
  const copies = Array.from({ length: WORKERS }, () => copyProject(ROOT))
  try {
    const tests = chosen.flatMap(({ caughtBy }) => caughtBy.map(({ title }) => findTest(title)))
    process.exitCode = (await areGreen(copies, tests)) && (await areCaught(copies)) ? 0 : 1
  } finally {
    for (const copy of copies) copy[Symbol.dispose]()
  }
}

/** Returns a sample, which differs from day to day. */
function sampleOf(sabotages: readonly Sabotage[], count: number): Sabotage[] {
  const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000))
  say(`a sample of ${count} of ${sabotages.length} (SEED=${seed})`)
  const next = random(seed)
  const ranked = sabotages.map((sabotage) => ({ sabotage, rank: next() })).sort((a, b) => a.rank - b.rank)
  return ranked.slice(0, count).map(({ sabotage }) => sabotage)
}

/** True if the tests pass without a bug. Otherwise their failures would prove nothing. */
async function areGreen(copies: readonly ProjectCopy[], tests: readonly NamedTest[]): Promise<boolean> {
  const files = [...new Set(tests.map(({ file }) => file))]
  const red: string[] = []
  await inParallel(copies, files, async (file, folder) => {
    const ofFile = tests.filter((test) => test.file === file)
    const outcomes = await runTests(folder, ofFile)
    outcomes.forEach((cases, index) => {
      const isGreen = cases.length > 0 && cases.every(({ status }) => status === 'passed')
      const why = cases.length === 0 ? NOT_RUN : cases.map(({ failure }) => failure).join('\n')
      if (!isGreen) red.push(`${file}: ${ofFile[index]?.title}: ${why}`)
    })
  })
  for (const each of red) say(`not green without sabotage: ${each}`)
  const count = new Set(tests.map(({ file, title }) => `${file} ${title}`)).size
  if (red.length === 0) say(`${count} tests are green as long as nothing is broken`)
  return red.length === 0
}

async function areCaught(copies: readonly ProjectCopy[]): Promise<boolean> {
  let caught = 0
  await inParallel(copies, chosen, async (sabotage, folder) => {
    const began = performance.now()
    const verdicts = await judge(folder, sabotage).catch((thrown: unknown): HeadlineText[] => [
      { title: 'the sabotage itself', flaw: String(thrown), failure: '' },
    ])
    const isCaught = verdicts.every(({ flaw }) => flaw === null)
    const seconds = Math.round((performance.now() - began) / 1000)
    if (isCaught) caught++
    say(`${isCaught ? 'caught' : 'MISSED'}  ${sabotage.name} (${seconds} s)`)
    for (const { title, flaw, failure } of verdicts) say(`        ${title}: ${flaw ?? firstLine(failure)}`)
  })
  say(`${caught} of ${chosen.length} caught`)
  return caught === chosen.length
}

interface HeadlineText {
  readonly title: string
  /** The reason why the test proves nothing; null if it fails because of the bug. */
  readonly flaw: string | null
  readonly failure: string
}

async function judge(folder: string, { edits, caughtBy }: Sabotage): Promise<HeadlineText[]> {
  using _broken = applyEdits(folder, edits)
  const outcomes = await runTests(
    folder,
    caughtBy.map(({ title }) => findTest(title)),
  )
  return caughtBy.map(({ title, because }, index) => {
    const cases = outcomes[index] ?? []
    const failed = cases.filter(({ status }) => status === 'failed')
    const telling = failed.find(({ failure }) => because.test(failure))
    const failure = (telling ?? failed[0])?.failure ?? ''
    if (cases.length === 0) return { title, flaw: NOT_RUN, failure }
    if (failed.length === 0) return { title, flaw: 'stays green', failure }
    return { title, flaw: telling ? null : `fails not by ${because} but by ${failure}`, failure }
  })
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 120)
}

/** Works on the items in parallel. Each worker has its own copy. */
async function inParallel<T>(
  copies: readonly ProjectCopy[],
  items: readonly T[],
  work: (item: T, folder: string) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const worker = async (folder: string): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item, folder)
  }
  await Promise.all(copies.map(({ folder }) => worker(folder)))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/**
 * `npm run test:sabotage`: breaks functions that keep a promise, in a copy of the project, and asks whether the
 * tests, which are green without a bug, notice. Of each function it tries up to three mutants, chosen by SEED, and
 * fails if no test notices any.
 *
 *     npm run test:sabotage -- [WORD]        only the targets with this in their file or function
 *     npm run test:sabotage -- --sample 4    so many of them, by the day or by SEED
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { random, shuffled } from '../support/random.ts'
import { listMutants, type Mutant } from './mutants.ts'
import { listTargets, type Target } from './targets.ts'

const ROOT = join(import.meta.dirname, '../..')
const WORKERS = Math.min(2, cpus().length)
/** How many mutants of a function are tried. Some change nothing that matters. */
const TRIES = 3
const LIMIT_MS = 300_000

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' } },
})
const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000))
const next = random(seed)
const named = listTargets().filter((target) => `${target.file} ${target.of}`.includes(positionals[0] ?? ''))
const chosen = values.sample === undefined ? named : shuffled(named, next).slice(0, Number(values.sample))
say(`${chosen.length} targets (SEED=${seed})`)
const tried = chosen.map((target) => ({ target, mutants: shuffled(mutantsOf(target), next) }))
let noticed = 0
await Promise.all(Array.from({ length: WORKERS }, work))
say(`${noticed} of ${chosen.length} noticed`)
process.exitCode = noticed === chosen.length ? 0 : 1

function mutantsOf({ file, of }: Target): Mutant[] {
  return listMutants(file, readFileSync(join(ROOT, file), 'utf8')).filter((mutant) => mutant.of === of)
}

/** Breaks one function after the other. Each worker has a copy of the project of its own. */
async function work(): Promise<void> {
  const folder = copyProject()
  for (let each = tried.shift(); each !== undefined; each = tried.shift()) {
    const { target, mutants } = each
    if (!(await areGreen(folder, target.tests))) {
      say(`RED without a mutant: ${target.tests.join(', ')}`)
      continue
    }
    for (const mutant of mutants.slice(0, TRIES)) {
      const isNoticed = await isNoticedBy(folder, target, mutant)
      if (isNoticed) noticed++
      if (isNoticed) break
    }
  }
  rmSync(folder, { recursive: true })
}

/** Copies the project, which itself never changes, without what tests never read. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-sabotage-'))
  const isCopied = (path: string) => !['.git', 'node_modules'].includes(basename(path))
  cpSync(ROOT, folder, { recursive: true, filter: isCopied })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

async function isNoticedBy(folder: string, { file, of, tests }: Target, mutant: Mutant): Promise<boolean> {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const began = performance.now()
  writeFileSync(path, text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end))
  const isNoticed = !(await areGreen(folder, tests))
  writeFileSync(path, text)
  const seconds = Math.round((performance.now() - began) / 1000)
  const where = `${file}:${mutant.line} ${of} (${mutant.kind})`
  say(`${isNoticed ? 'noticed' : 'MISSED '}  ${where}, ${seconds} s`)
  return isNoticed
}

/** Runs tests up to the first red one. Those that hang count as red. */
async function areGreen(folder: string, tests: readonly string[]): Promise<boolean> {
  // In SQLite alone: PostgreSQL runs the same tests once more.
  const projects = ['--project', 'sqlite', '--project', 'long']
  const args = ['run', ...projects, '--bail', '1', '--maxWorkers', '1', '--reporter', 'dot', ...tests]
  const child = spawn(process.execPath, [join(folder, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: folder,
    stdio: 'ignore',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  const [status] = await once(child, 'close')
  clearTimeout(timer)
  return status === 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

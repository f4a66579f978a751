/**
 * `npm run bench`: the sync against a floor and against what one would write instead, in one run: every
 * contender in a process and a file of its own, one after the other, round by round; medians, and ratios of
 * medians. An upstream in another process serves generated leads over loopback.
 *
 *     npm run bench -- [--leads 10000,100000] [--rounds 5] [--only ours,floor] [--markdown]
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { Step } from './step.ts'

const { values: options } = parseArgs({
  options: {
    leads: { type: 'string', default: '10000,100000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    markdown: { type: 'boolean', default: false },
  },
})

/** Slow ones run only as often as their medians need, and not where they would take longer than all else. */
const CONTENDERS = [
  { name: 'fetch', file: 'fetch.ts', most: Number.POSITIVE_INFINITY },
  { name: 'floor', file: 'floor.ts', most: Number.POSITIVE_INFINITY },
  { name: 'ours', file: 'ours.ts', most: Number.POSITIVE_INFINITY },
  { name: 'plain-batches', file: 'plain-batches.ts', most: Number.POSITIVE_INFINITY },
  { name: 'plain-rows', file: 'plain-rows.ts', most: 100_000 },
  { name: 'python', file: 'plain.py', most: Number.POSITIVE_INFINITY },
  { name: 'slow', file: 'slow.ts', most: 50_000 },
]

/** Each line of the result: what is measured, against what, and the ratio that is wanted. */
const GOALS: readonly { step: string; of: string; against: string; at: 'most' | 'least'; ratio: number }[] = [
  { step: 'ours first', of: 'time', against: 'floor first', at: 'most', ratio: 1.5 },
  { step: 'ours first', of: 'speed', against: 'plain-batches first', at: 'least', ratio: 5 },
  { step: 'ours first', of: 'speed', against: 'plain-rows first', at: 'least', ratio: 5 },
  { step: 'ours first', of: 'speed', against: 'python first', at: 'least', ratio: 5 },
  { step: 'ours unchanged', of: 'time', against: 'fetch fetch and parse', at: 'most', ratio: 2 },
  { step: 'ours unchanged', of: 'time', against: 'fetch bytes', at: 'most', ratio: 2 },
  { step: 'ours unchanged', of: 'speed', against: 'plain-batches unchanged', at: 'least', ratio: 20 },
  { step: 'ours unchanged', of: 'speed', against: 'plain-rows unchanged', at: 'least', ratio: 20 },
  { step: 'ours unchanged', of: 'speed', against: 'python unchanged', at: 'least', ratio: 20 },
  { step: 'ours changed', of: 'time', against: 'ours unchanged', at: 'most', ratio: 1.6 },
  { step: 'ours incremental', of: 'time', against: 'ours unchanged', at: 'most', ratio: 0.03 },
  { step: 'slow numbered first', of: 'speed', against: 'slow plain first', at: 'least', ratio: 4.5 },
  { step: 'slow numbered unchanged', of: 'speed', against: 'slow plain unchanged', at: 'least', ratio: 6 },
  { step: 'slow cursor first', of: 'time', against: 'slow fetches alone', at: 'most', ratio: 1.05 },
  { step: 'slow cursor unchanged', of: 'time', against: 'slow fetches alone', at: 'most', ratio: 1.05 },
]

interface Measured {
  readonly leads: number
  readonly name: string
  readonly step: string
  readonly us: number
  readonly peakMb: number
  readonly blockedMs: number
  readonly requests: number | null
}

const sizes = options.leads.split(',').map(Number)
const rounds = Number(options.rounds)
const only = options.only?.split(',')
const hasPython = spawnSync('python3', ['-c', 'import requests, sqlite3']).status === 0
if (!hasPython) console.error('python3 with requests is not here: the Python script is left out')

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${new Date().toISOString().slice(0, 10)}; ${rounds} rounds; generated leads 0 to n, 500 a page`,
)
const medians = new Map<string, Measured>()
for (const leads of sizes) {
  const measured: Measured[] = []
  const upstream = await startUpstream(leads)
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const contender of CONTENDERS) {
        if (only !== undefined && !only.includes(contender.name)) continue
        if (leads > contender.most || (contender.name === 'python' && !hasPython)) continue
        process.stderr.write(`\r${leads} leads, round ${round}, ${contender.name.padEnd(20)}`)
        measured.push(...(await runContender(contender, upstream.url, leads)))
      }
    }
  } finally {
    upstream.child.kill()
  }
  process.stderr.write(`\r${' '.repeat(60)}\r`)
  printMedians(leads, measured)
}
printGrowth()

async function runContender(
  contender: { name: string; file: string },
  url: string,
  leads: number,
): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-bench-'))
  const script = join(import.meta.dirname, 'contenders', contender.file)
  const program = contender.file.endsWith('.py') ? 'python3' : process.execPath
  const child = spawn(program, [script, url, join(folder, 'leads.db'), String(leads)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const steps: Measured[] = []
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) {
    const step: Step = JSON.parse(line)
    steps.push({
      leads,
      name: contender.name,
      step: step.step,
      us: (step.ms * 1000) / leads,
      peakMb: step.peakMb,
      blockedMs: step.blockedMs ?? 0,
      requests: step.requests ?? null,
    })
  }
  const [status] = await ended
  await rm(folder, { recursive: true })
  if (status !== 0) throw new Error(`${contender.name} ended with ${status}`)
  return steps
}

function printMedians(leads: number, measured: readonly Measured[]): void {
  const groups = Map.groupBy(measured, ({ name, step }) => `${name} ${step}`)
  const rows = [...groups].map(([key, runs]) => {
    const row: Measured = {
      leads,
      name: runs[0]?.name ?? '',
      step: runs[0]?.step ?? '',
      us: median(runs.map((run) => run.us)),
      peakMb: median(runs.map((run) => run.peakMb)),
      blockedMs: median(runs.map((run) => run.blockedMs)),
      requests: runs[0]?.requests ?? null,
    }
    medians.set(`${leads} ${key}`, row)
    return [
      key,
      row.us.toFixed(1),
      Math.round(1e6 / row.us).toLocaleString('en'),
      row.peakMb.toFixed(0),
      row.blockedMs === 0 ? '' : row.blockedMs.toFixed(0),
      row.requests?.toLocaleString('en') ?? '',
    ]
  })
  console.log(`\n${leads.toLocaleString('en')} leads\n`)
  printTable(['what', 'µs a lead', 'leads/s', 'peak MB', 'blocked ms', 'requests'], rows)
  const ratios = GOALS.flatMap(({ step, of, against, at, ratio }) => {
    const ours = medians.get(`${leads} ${step}`)
    const theirs = medians.get(`${leads} ${against}`)
    if (ours === undefined || theirs === undefined) return []
    const found = of === 'time' ? ours.us / theirs.us : theirs.us / ours.us
    const isMet = at === 'most' ? found <= ratio : found >= ratio
    const how = of === 'time' ? 'the time of' : 'as fast as'
    return [
      [`${step}: ${how} ${against}`, `${found.toFixed(2)} ×`, `at ${at} ${ratio} ×`, isMet ? 'yes' : 'no'],
    ]
  })
  console.log()
  printTable(['ratio', 'measured', 'goal', 'met'], ratios)
}

/** Whether a lead costs the same among many, and how much more memory many take. */
function printGrowth(): void {
  const [small, large] = [sizes.at(0), sizes.at(-1)]
  if (small === undefined || large === undefined || small === large) return
  const rows = ['ours first', 'ours unchanged', 'ours changed'].flatMap((key) => {
    const [few, many] = [medians.get(`${small} ${key}`), medians.get(`${large} ${key}`)]
    if (few === undefined || many === undefined) return []
    return [[key, `${(many.us / few.us).toFixed(2)} ×`, `+${(many.peakMb - few.peakMb).toFixed(0)} MB`]]
  })
  console.log(`\nfrom ${small.toLocaleString('en')} to ${large.toLocaleString('en')} leads\n`)
  printTable(['what', 'time a lead', 'memory'], rows)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function printTable(titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, index) =>
      index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
    )
    return options.markdown ? `| ${padded.join(' | ')} |` : padded.join('  ')
  }
  console.log(line(titles))
  if (options.markdown) {
    console.log(
      `|${widths.map((width, index) => `${'-'.repeat(width + 1)}${index === 0 ? '-' : ':'}`).join('|')}|`,
    )
  }
  for (const row of rows) console.log(line(row))
}

async function startUpstream(leads: number): Promise<{ url: string; child: ChildProcess }> {
  const script = join(import.meta.dirname, 'upstream.ts')
  const child = spawn(process.execPath, ['--max-old-space-size=8192', script, String(leads)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [address] = await once(child.stdout, 'data')
  return { url: String(address).trim(), child }
}

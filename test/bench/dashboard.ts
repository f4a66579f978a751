/**
 * Measures the time of each page of the dashboard: `npx node test/bench/dashboard.ts [leads] [seed]`. By
 * default there are 1,000,000 leads with 3 moves each, a month of syncs and agents, and a year of daily
 * issues. The times are from the request to the last byte, for one request after another: the median and the
 * 95th of 100. On Linux it also prints the CPU time of the daemon, which does not depend on other work of the
 * machine.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAddress } from '../support/process/daemon-address.ts'
import { clockAt } from '../support/process/shifted-clock.ts'
import { furnish } from './furnish.ts'
import { generateHistory, NOW } from './history.ts'

const LIMIT_MS = 50
const ROUNDS = 100
const WARM_ROUNDS = 3
const MAIN = join(import.meta.dirname, '../../src/main.ts')
const SETTINGS = `
data_dir: data
time_zone: Europe/Berlin
api: { url: "http://127.0.0.1:9/", key: nobody-listens-there }
smtp: { url: "file:./outbox" }
mail: { from: reports@example.com }
recipients: [ana@example.com, ben@example.com]
reports: [{ name: daily }]
snapshot: { when: never }
web: { listen: "127.0.0.1:0" }
`

const leads = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 1)
const file = await generateHistory(join(tmpdir(), 'leadsheet-history'), leads, seed)
const folder = await mkdtemp(join(tmpdir(), 'leadsheet-dashboard-'))
try {
  await mkdir(join(folder, 'data'))
  await symlink(file, join(folder, 'data', 'leadsheet.db'))
  await writeFile(join(folder, 'leadsheet.yaml'), SETTINGS)
  await furnish(file, () => run(['report', 'send', 'daily', '--at', NOW.toISOString()]))
  const daemon = start(['run'])
  try {
    await measure(await readAddress(daemon.stderr), daemon.pid ?? 0)
  } finally {
    daemon.kill('SIGTERM')
    await ended(daemon)
  }
} finally {
  await rm(folder, { recursive: true })
}

async function measure(url: string, pid: number): Promise<void> {
  const [, issue = ''] = /href="(\/archive\/[^"/]+)"/.exec(await read(`${url}/archive`)) ?? []
  const [, mail = ''] = /<iframe src="([^"]+)"/.exec(await read(url + issue)) ?? []
  const paths = [
    ...['/', '/archive', '/archive?q=won', issue, mail.replaceAll('&amp;', '&')],
    ...['/agents', '/metrics', '/readyz'],
  ]
  console.log(
    `${leads} leads, seed ${seed}; milliseconds, of ${ROUNDS} requests each; the limit is ${LIMIT_MS}`,
  )
  console.log('page\tmedian\tp95\tprocessor\tkB')
  for (const path of paths) {
    const { median, p95, cpu, bytes } = await time(url + path, pid)
    const name = path.replace(issue, '/archive/…').replace(/mail\/[^/?]+/, 'mail/…')
    const figures = [median, p95, cpu].map((ms) => ms.toFixed(1)).join('\t')
    const verdict = p95 > LIMIT_MS ? '\tover the limit' : ''
    console.log(`${name}\t${figures}\t${(bytes / 1000).toFixed(0)}${verdict}`)
  }
}

interface Timed {
  readonly median: number
  readonly p95: number
  /** The CPU time of a request. */
  readonly cpu: number
  readonly bytes: number
}

async function time(url: string, pid: number): Promise<Timed> {
  let bytes = 0
  for (let round = 0; round < WARM_ROUNDS; round++) bytes = Buffer.byteLength(await read(url))
  const times: number[] = []
  const cpuBefore = readCpuMs(pid)
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    await read(url)
    times.push(performance.now() - began)
  }
  const cpu = (readCpuMs(pid) - cpuBefore) / ROUNDS
  times.sort((one, other) => one - other)
  const at = (share: number) => times[Math.ceil(share * ROUNDS) - 1] ?? 0
  return { median: at(0.5), p95: at(0.95), cpu, bytes }
}

/**
 * Returns the CPU time of all threads of a process since its start, in ms. The kernel counts hundredths of a
 * second (proc(5)).
 */
function readCpuMs(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = rest.split(' ').slice(11, 13).map(Number)
  return 10 * ((user ?? 0) + (system ?? 0))
}

async function read(url: string): Promise<string> {
  const answer = await fetch(url)
  const text = await answer.text()
  // The daemon's own requests get no answer here, so it is not ready. The page is complete all the same.
  if (answer.ok || url.endsWith('/readyz')) return text
  throw new Error(`${url} is answered with ${answer.status}: ${text}`)
}

function start(args: readonly string[]) {
  const env = { ...process.env, ...clockAt(NOW.toISOString()) }
  return spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
}

async function run(args: readonly string[]): Promise<void> {
  const program = start(args)
  let told = ''
  program.stderr.on('data', (chunk) => {
    told += chunk
  })
  const status = await ended(program)
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${told}`)
}

function ended(program: ReturnType<typeof start>): Promise<number | null> {
  return new Promise((resolve) => {
    if (program.exitCode !== null) resolve(program.exitCode)
    else program.once('exit', resolve)
  })
}

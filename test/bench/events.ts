/**
 * How a daemon takes a burst of events: `npx node test/bench/events.ts [leads] [messages] [seconds]`, by default 10,000
 * signed messages in a minute, about the 2,000 of 100,000 leads that have changed. First to a bare server that answers
 * 204, which is the floor; then to a daemon; then to another one that reads the whole list meanwhile. Upstream, sender
 * and receiver are processes of their own on this machine.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { readAddress } from '../support/daemon-address.ts'
import type { Sent } from './events/sender.ts'

const LIMIT_MS = 50
const MAIN = join(import.meta.dirname, '../../src/main.ts')
const SECRET = `whsec_${Buffer.from('a secret of the bench, 32 bytes.').toString('base64')}`
/** Since then has changed what the messages tell of; the leads of the bench are as they were made before. */
const CHANGED_SINCE = '2026-11-02'
const RIGHT_WITHIN_MS = 120_000
const LOOK_MS = 50
const NEVER = '0 4 1 1 *'

const [leads = 100_000, messages = 10_000, seconds = 60] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'leadsheet-events-'))
const children: ChildProcess[] = []
try {
  const upstream = await startScript('upstream.ts', [String(leads)])
  await loadFirst(`${upstream}/v1`)
  console.log(`${leads} leads, ${messages} messages in ${seconds} s; load ${loadavg()[0]?.toFixed(1)}`)
  console.log(
    'receiver\tp50 ms\tp99 ms\tmost ms\tanswers\tMB before\tMB at most\trequests\tright after ms\tprocessor s',
  )
  const floor = await startScript('events/floor.ts', [])
  printRow('floor', await send(floor), [])
  await measure('daemon', `${upstream}/v3`, NEVER)
  await measure('daemon that syncs', `${upstream}/v3`, '* * * * *')
} finally {
  for (const child of children) child.kill()
  await rm(folder, { recursive: true })
}

/** A folder with its settings. */
async function install(name: string, url: string, full: string): Promise<string> {
  const cwd = join(folder, name)
  await mkdir(join(cwd, 'data'), { recursive: true })
  const settings = `
data_dir: data
api: { url: "${url}", key: bench }
web: { listen: "127.0.0.1:0" }
events: { secret: ${SECRET} }
sync: { schedule: "${NEVER}", full_schedule: "${full}" }
enrichment: { policy: none }
snapshot: { when: never }
reports: []
`
  await writeFile(join(cwd, 'leadsheet.yaml'), settings, { mode: 0o600 })
  return cwd
}

/** A daemon begins with a sync, which is then behind those that are measured. */
async function loadFirst(url: string): Promise<void> {
  const cwd = await install('first', url, NEVER)
  const daemon = startDaemon(cwd)
  await readAddress(daemon.stderr)
  const database = new Database(join(cwd, 'data', 'leadsheet.db'), { readonly: true })
  const ended = database.prepare('SELECT 1 FROM sync_run WHERE finished_at IS NOT NULL')
  while (ended.get() === undefined) await delay(LOOK_MS)
  database.close()
  await stop(daemon)
}

async function measure(name: string, url: string, full: string): Promise<void> {
  const cwd = await install(name.replaceAll(' ', '-'), url, full)
  const file = join(cwd, 'data', 'leadsheet.db')
  await copyFile(join(folder, 'first', 'data', 'leadsheet.db'), file)
  const daemon = startDaemon(cwd)
  try {
    const address = await readAddress(daemon.stderr)
    const before = residentMb(daemon, 'VmRSS')
    const counted = await countFetches(url)
    const cpuBefore = readCpuSeconds(daemon)
    const sent = await send(address)
    const rightMs = await untilRight(file)
    const fetched = (await countFetches(url)) - counted
    const most = residentMb(daemon, 'VmHWM')
    const cpu = readCpuSeconds(daemon) - cpuBefore
    printRow(name, sent, [before, most, fetched, Math.round(rightMs), Number(cpu.toFixed(1))])
  } finally {
    await stop(daemon)
  }
}

async function send(address: string): Promise<Sent> {
  const script = join(import.meta.dirname, 'events/sender.ts')
  const args = [`${address}/webhooks/leads`, SECRET, String(messages), String(seconds), String(leads)]
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  let told = ''
  for await (const chunk of child.stdout) told += chunk
  return JSON.parse(told)
}

function printRow(name: string, sent: Sent, more: readonly number[]): void {
  const times = [sent.p50Ms, sent.p99Ms, sent.maxMs].map((ms) => ms.toFixed(1))
  const answers = Object.entries(sent.statuses).map(([status, count]) => `${count} × ${status}`)
  const verdict = sent.p99Ms > LIMIT_MS ? [`over the limit of ${LIMIT_MS} ms`] : []
  console.log([name, ...times, answers.join(', '), ...more, ...verdict].join('\t'))
  if (sent.latestMs > LIMIT_MS)
    console.log(`  the sender itself was late by up to ${sent.latestMs.toFixed(0)} ms`)
}

/** Milliseconds until all that has changed is in the copy, and nothing waits any more. */
async function untilRight(file: string): Promise<number> {
  const began = performance.now()
  const database = new Database(file, { readonly: true })
  const lacking = database
    .prepare<[number, string], number>(
      `SELECT ? - (SELECT count(*) FROM lead WHERE updated_at >= ?) + (SELECT count(*) FROM event_queue)`,
    )
    .pluck()
  try {
    while (lacking.get(changedLeads(), CHANGED_SINCE) !== 0) {
      if (performance.now() - began > RIGHT_WITHIN_MS) throw new Error('the copy does not become right')
      await delay(LOOK_MS)
    }
    return performance.now() - began
  } finally {
    database.close()
  }
}

/** Those whose numbers end in 07 and 13. */
function changedLeads(): number {
  return [7, 13].reduce((sum, ending) => sum + Math.floor((leads - ending - 1) / 100) + 1, 0)
}

/** Single leads that the upstream was asked for. */
async function countFetches(url: string): Promise<number> {
  const answer = await fetch(new URL('/counts', url))
  const { fetched } = (await answer.json()) as { fetched: number }
  return fetched
}

/** @param figure of /proc: VmRSS (now) or VmHWM (at most) */
function residentMb({ pid }: ChildProcess, figure: string): number {
  if (process.platform !== 'linux') return Number.NaN
  const [, kb = ''] =
    new RegExp(`${figure}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1024)
}

/** Of all its threads since it began, as the kernel counts it (proc(5)). */
function readCpuSeconds({ pid }: ChildProcess): number {
  if (process.platform !== 'linux') return Number.NaN
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = rest.split(' ').slice(11, 13).map(Number)
  return ((user ?? 0) + (system ?? 0)) / 100
}

/** @returns the address that it prints */
async function startScript(script: string, args: readonly string[]): Promise<string> {
  const path = join(import.meta.dirname, script)
  const child = spawn(process.execPath, ['--max-old-space-size=8192', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const [address] = await once(child.stdout, 'data')
  return String(address).trim()
}

function startDaemon(cwd: string) {
  return spawn(process.execPath, [MAIN, 'run'], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
}

async function stop(daemon: ChildProcess): Promise<void> {
  daemon.kill('SIGTERM')
  await once(daemon, 'exit')
}

/**
 * What more workers are worth: `npx node test/bench/workers.ts [leads] [ms] [page]`, by default 20,000 leads, 100 a page,
 * of which each takes 50 ms. The pages fetched and dropped, a sync into SQLite, and into a PostgreSQL of its own with 1, 2
 * and 4 workers, processes that share the processors with the server: a first load, and everything read again.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { createDatabase, openPostgresServer, withClient } from '../support/postgres-server.ts'
import { pagesOf } from './contenders/pages.ts'
import type { Step } from './step.ts'

const WORKERS = [1, 2, 4]
const SHARED_BUFFERS = '256MB'

const leads = Number(process.argv[2] ?? 20_000)
const answerMs = Number(process.argv[3] ?? 50)
const pageSize = Number(process.argv[4] ?? 100)

console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}; ${leads} leads, ${pageSize} a page, ${answerMs} ms each`,
)
const upstream = startProcess('upstream.ts', [leads, answerMs])
const url = await upstream.nextLine()
const floorMs = await timePages()
console.log(`pages fetched and dropped\t${speedOf(floorMs)}`)
await benchFile()
await benchPostgres()
upstream.child.kill()

async function timePages(): Promise<number> {
  const start = performance.now()
  for await (const _ of pagesOf(url, { size: pageSize }));
  return performance.now() - start
}

async function benchFile(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-bench-'))
  tell('SQLite', await runWorkers(join(folder, 'leads.db'), 1))
  await rm(folder, { recursive: true })
}

async function benchPostgres(): Promise<void> {
  await using server = await openPostgresServer(true)
  await withClient(server.adminUrl, (admin) =>
    admin.query(`ALTER SYSTEM SET shared_buffers = '${SHARED_BUFFERS}'`),
  )
  await server.stop('fast')
  await server.start()
  for (const count of WORKERS) {
    const address = await withClient(server.adminUrl, (admin) => createDatabase(admin))
    tell(`PostgreSQL, ${count} ${count === 1 ? 'worker' : 'workers'}`, await runWorkers(address, count))
  }
}

/** The steps of the one that syncs, and the most memory that one of them had. */
async function runWorkers(
  address: string,
  count: number,
): Promise<{ steps: readonly Step[]; peakMb: number }> {
  const start = (role: 'sync' | 'help') => startProcess('worker.ts', [url, address, pageSize, role])
  // The first makes the tables.
  const helpers: Worker[] = []
  for (let number = 1; number < count; number++) {
    const helper = start('help')
    await helper.nextLine()
    helpers.push(helper)
  }
  const syncing = start('sync')
  const steps: Step[] = [JSON.parse(await syncing.nextLine()), JSON.parse(await syncing.nextLine())]
  const helped = await Promise.all(
    helpers.map(async (helper): Promise<Step> => {
      helper.child.stdin.end()
      return JSON.parse(await helper.nextLine())
    }),
  )
  await Promise.all([syncing, ...helpers].map(({ ended }) => ended))
  return { steps, peakMb: Math.max(...[...steps, ...helped].map((step) => step.peakMb)) }
}

interface Worker {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly ended: Promise<unknown>
  /** @throws Error where it ended before */
  nextLine(): Promise<string>
}

function startProcess(file: string, args: readonly (string | number)[]): Worker {
  const script = join(import.meta.dirname, 'workers', file)
  const child = spawn(process.execPath, [script, ...args.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: Interface = createInterface({ input: child.stdout })
  const reading = lines[Symbol.asyncIterator]()
  return {
    child,
    ended: once(child, 'close'),
    async nextLine() {
      const { value, done } = await reading.next()
      if (done) throw new Error(`${file} has ended`)
      return value
    },
  }
}

function tell(name: string, { steps, peakMb }: { steps: readonly Step[]; peakMb: number }): void {
  for (const { step, ms, requests } of steps)
    console.log(`${name}, ${step}\t${speedOf(ms)}\t${requests} requests\t${peakMb.toFixed(0)} MB at most`)
}

function speedOf(ms: number): string {
  const perSecond = Math.round((leads / ms) * 1000).toLocaleString('en')
  return `${(ms / 1000).toFixed(1)} s\t${perSecond} leads/s\t${(floorMs / ms).toFixed(2)} of the pages alone`
}

/**
 * `npm run bench`: leads a second of a first sync and of a re-sync that finds nothing changed, from an
 * upstream in another process over loopback. `npm run bench -- 1000000` takes another number of leads.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { pino } from 'pino'
import { sync } from '../../src/jobs/sync.ts'
import { openSource } from '../../src/source/open.ts'
import { openStore } from '../../src/store/open.ts'

const PAGE_SIZE = 500
const leads = Number(process.argv[2] ?? 100_000)

// As in main.ts, which is not part of what is measured.
setFlagsFromString('--semi-space-growth-factor=1')
const log = pino({ level: 'silent' })
const folder = await mkdtemp(join(tmpdir(), 'leadsheet-bench-'))
const { url, child } = await startUpstream()
const store = await openStore(join(folder, 'leadsheet.db'), new Date())
const source = openSource({ baseUrl: url, apiKey: 'bench', maxWaitMs: 0, log })
const startMb = Math.round(process.memoryUsage().rss / 1024 / 1024)
try {
  console.log(
    `${leads.toLocaleString('en')} leads, ${PAGE_SIZE} a page; Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}`,
  )
  await measure('first sync')
  await measure('unchanged re-sync')
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(`peak memory        ${peakMb} MB, ${peakMb - startMb} MB above the start`)
} finally {
  await source.close()
  await store.close()
  child.kill()
  await rm(folder, { recursive: true })
}

async function measure(name: string): Promise<void> {
  const result = await sync(
    { source, store, log, now: () => new Date() },
    {
      full: true,
      parts: ['leads'],
      pageSize: PAGE_SIZE,
      overlapMs: 0,
      pipelineIds: [],
      signal: new AbortController().signal,
    },
  )
  if (result.leads.seen !== leads) throw new Error(`${name} saw ${result.leads.seen} of ${leads} leads`)
  const perSecond = Math.round((leads / result.durationMs) * 1000)
  const microseconds = ((result.durationMs * 1000) / leads).toFixed(1)
  console.log(
    `${name.padEnd(18)} ${perSecond.toLocaleString('en').padStart(8)} leads/s  ${microseconds.padStart(6)} µs a lead  ${(result.durationMs / 1000).toFixed(1)} s`,
  )
}

async function startUpstream(): Promise<{ url: string; child: ChildProcess }> {
  const script = fileURLToPath(new URL('upstream.ts', import.meta.url))
  const child = spawn(process.execPath, [script, String(leads), String(PAGE_SIZE)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [address] = await once(child.stdout, 'data')
  return { url: String(address).trim(), child }
}

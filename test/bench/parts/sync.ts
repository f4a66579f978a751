/**
 * The sync compared with fetches, floors and scripts. Each contender has its own process and file, and they
 * run one after the other, round by round. The first round compares each copy with the upstream.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Checksum, readChecksum } from '../checksum.ts'
import type { AddSample, BenchOptions, Part } from '../measurement.ts'
import { hasPython, runContender, startUpstream } from '../programs.ts'

interface Contender {
  readonly name: string
  readonly file: string
  /** The state of the leads in the copy at the end; null for contenders without a copy. */
  readonly state: string | null
  /** The largest number of leads for which the contender is run. */
  readonly most?: number
  /** The required Python modules. */
  readonly modules?: string
}

const CONTENDERS: readonly Contender[] = [
  { name: 'fetch', file: 'fetch.ts', state: null },
  { name: 'floor-prepared', file: 'floor-prepared.ts', state: 'v1' },
  { name: 'floor-jsonb', file: 'floor-jsonb.ts', state: 'v1' },
  { name: 'ours', file: 'ours.ts', state: 'v3' },
  { name: 'plain-batches', file: 'plain-batches.ts', state: 'v1' },
  { name: 'python', file: 'plain.py', state: 'v1', modules: 'requests, sqlite3' },
  // dlt keeps no whole records, so only its time is compared.
  { name: 'dlt', file: 'dlt_pipeline.py', state: null, modules: 'dlt, sqlalchemy', most: 100_000 },
]

export const SYNC: Part = {
  name: 'sync',
  subjects: ['first', 'unchanged', 'changed', 'incremental', 'growth', 'memory'],
  async measure({ leads: sizes, rounds }, add) {
    const present = CONTENDERS.filter(({ modules }) => modules === undefined || hasPython(modules))
    const absent = CONTENDERS.filter((contender) => !present.includes(contender))
    for (const leads of sizes) {
      await using upstream = await startUpstream(leads)
      const checksums = new Map<string, Promise<Checksum>>()
      const checksumOf = (state: string): Promise<Checksum> => {
        const known = checksums.get(state) ?? fetchChecksum(upstream.address, state)
        checksums.set(state, known)
        return known
      }
      for (let round = 1; round <= rounds; round++) {
        for (const contender of present) {
          if (leads > (contender.most ?? Number.POSITIVE_INFINITY)) continue
          process.stderr.write(`${leads} leads, round ${round}, ${contender.name}\n`)
          const expected = round === 1 && contender.state !== null ? await checksumOf(contender.state) : null
          await measureContender(contender, { url: upstream.address, leads, expected }, add)
        }
      }
    }
    return absent.length === 0 ? null : `not installed: ${absent.map(({ name }) => name).join(', ')}`
  },
}

async function measureContender(
  { name, file }: Contender,
  { url, leads, expected }: { url: string; leads: number; expected: Checksum | null },
  add: AddSample,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-bench-'))
  try {
    const database = join(folder, 'leads.db')
    const cpu = new Map<string, number>()
    for await (const { step, ms, cpuMs, peakMb } of runContender(file, [url, database, String(leads)])) {
      add(`${name} ${step} wall`, leads, (ms * 1000) / leads)
      add(`${name} ${step} cpu`, leads, (cpuMs * 1000) / leads)
      cpu.set(step, cpuMs)
      if (name === 'ours' && step === 'changed') add('memory', leads, peakMb)
    }
    const [unchanged, changed] = [cpu.get('unchanged'), cpu.get('changed')]
    if (unchanged !== undefined && changed !== undefined)
      add('changed lead cpu', leads, ((changed - unchanged) * 1000) / (leads / 100))
    if (expected !== null) check(name, readChecksum(database), expected)
  } finally {
    await rm(folder, { recursive: true })
  }
}

export function check(name: string, found: Checksum, expected: Checksum): void {
  if (found.count === expected.count && found.sum === expected.sum) return
  throw new Error(`${name}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`)
}

export async function fetchChecksum(url: string, state: string): Promise<Checksum> {
  return (await (await fetch(`${url}/checksum/${state}`)).json()) as Checksum
}

/** Returns the numbers of leads for parts that are not measured with a million. */
export function fewLeads({ leads }: BenchOptions): number {
  return leads[0] ?? 0
}

/**
 * The sync compared with fetches, a floor and scripts. Each contender has its own process and file, and they
 * run one after the other, round by round. The first round compares each copy with the upstream.
 */
import { join } from 'node:path'
import { checkCopy, readChecksum } from '../checksum.ts'
import { type AddSample, addTimes, type Part } from '../measurement.ts'
import { hasPython, newFolder, runContender, startUpstream } from '../programs.ts'

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
  { name: 'floor', file: 'floor.ts', state: 'v1' },
  { name: 'ours', file: 'ours.ts', state: 'v3' },
  { name: 'plain-batches', file: 'plain-batches.ts', state: 'v1' },
  { name: 'python', file: 'plain.py', state: 'v1', modules: 'requests, sqlite3' },
  // dlt keeps no whole records, so only its time is compared.
  { name: 'dlt', file: 'dlt_pipeline.py', state: null, modules: 'dlt, sqlalchemy', most: 100_000 },
]

export const SYNC: Part = {
  subjects: ['first', 'unchanged', 'changed', 'incremental', 'growth', 'memory'],
  async measure({ leads: sizes, rounds }, add) {
    const present = CONTENDERS.filter(({ modules }) => modules === undefined || hasPython(modules))
    const absent = CONTENDERS.filter((contender) => !present.includes(contender))
    for (const leads of sizes) {
      await using upstream = await startUpstream(leads)
      for (let round = 1; round <= rounds; round++) {
        for (const contender of present) {
          if (leads > (contender.most ?? Number.POSITIVE_INFINITY)) continue
          process.stderr.write(`${leads} leads, round ${round}, ${contender.name}\n`)
          await measureContender(contender, { url: upstream.address, leads, isChecked: round === 1 }, add)
        }
      }
    }
    return absent.length === 0 ? null : `not installed: ${absent.map(({ name }) => name).join(', ')}`
  },
}

async function measureContender(
  { name, file, state }: Contender,
  { url, leads, isChecked }: { url: string; leads: number; isChecked: boolean },
  add: AddSample,
): Promise<void> {
  await using folder = await newFolder()
  const database = join(folder.path, 'leads.db')
  const cpu = new Map<string, number>()
  for await (const { step, peakMb, ...time } of runContender(file, [url, database, String(leads)])) {
    addTimes(add, `${name} ${step}`, leads, time, leads / 1000)
    cpu.set(step, time.cpuMs)
    if (name === 'ours' && step === 'changed') add('memory', leads, peakMb)
  }
  const [unchanged, changed] = [cpu.get('unchanged'), cpu.get('changed')]
  if (unchanged !== undefined && changed !== undefined)
    add('changed lead cpu', leads, ((changed - unchanged) * 1000) / (leads / 100))
  if (isChecked && state !== null) await checkCopy(name, readChecksum(database), url, state)
}

/** An upstream that takes 50 ms for a page, read by numbered pages and by cursors. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Part } from '../measurement.ts'
import { runContender, startUpstream } from '../programs.ts'
import { fewLeads } from './sync.ts'

const LEADS_MAX = 50_000
const SHORT_LEADS_MAX = 20_000

export const SLOW: Part = {
  name: 'slow',
  subjects: ['slow'],
  async measure(options, add) {
    const size = fewLeads(options)
    const leads = Math.min(size, options.isShort ? SHORT_LEADS_MAX : LEADS_MAX)
    await using upstream = await startUpstream(leads)
    for (let round = 1; round <= (options.isShort ? 1 : options.rounds); round++) {
      process.stderr.write(`slow upstream, round ${round}\n`)
      const folder = await mkdtemp(join(tmpdir(), 'leadsheet-bench-'))
      const steps = runContender('slow.ts', [upstream.address, join(folder, 'leads.db'), String(leads)])
      for await (const { step, ms } of steps) add(`slow ${step} wall`, size, (ms * 1000) / leads)
      await rm(folder, { recursive: true })
    }
    return null
  },
}

/** An upstream that takes 50 ms for a page, read by numbered pages and by cursors. */
import { join } from 'node:path'
import type { Part } from '../measurement.ts'
import { newFolder, runContender, startUpstream } from '../programs.ts'

const LEADS_MAX = 50_000
const SHORT_LEADS_MAX = 20_000

export const SLOW: Part = {
  subjects: ['slow'],
  async measure({ fewest, rounds, isShort }, add) {
    const leads = Math.min(fewest, isShort ? SHORT_LEADS_MAX : LEADS_MAX)
    await using upstream = await startUpstream(leads)
    for (let round = 1; round <= (isShort ? 1 : rounds); round++) {
      process.stderr.write(`slow upstream, round ${round}\n`)
      await using folder = await newFolder()
      const steps = runContender('slow.ts', [upstream.address, join(folder.path, 'leads.db'), String(leads)])
      for await (const { step, ms } of steps) add(`slow ${step} wall`, fewest, (ms * 1000) / leads)
    }
    return null
  },
}

/** The snapshot for analysts: made completely, and again after 1 % of the leads has changed. */
import { rm } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { pino } from 'pino'
import { publishDeps } from '../../../src/app/publishing.ts'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { openStore } from '../../../src/store/open.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { syncLeads } from '../contenders/sync.ts'
import { install } from '../installation.ts'
import type { Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import { readCpuMs } from '../step.ts'

export const SNAPSHOT: Part = {
  name: 'snapshot',
  subjects: ['snapshot'],
  async measure({ leads: sizes, rounds, isShort }, add) {
    const leads = sizes.at(-1) ?? 0
    // Keeps what Node compiles, as the command leadsheet does.
    enableCompileCache()
    process.stderr.write(`snapshot of ${leads} leads\n`)
    await using upstream = await startUpstream(leads)
    await using installation = await install('')
    await using store = await openStore(installation.database, new Date())
    const dataDir = join(installation.folder, 'data')
    const publishing = publishDeps(
      { dataDir, profile: REFERENCE_PROFILE, keep: 0 },
      store,
      pino({ level: 'silent' }),
    )
    await syncLeads(store, `${upstream.address}/v1`)
    // Each round changes the same leads again, back and forth.
    for (let round = 0; round < Math.min(rounds, isShort ? 1 : rounds); round++) {
      await rm(publishing.files.snapshot, { force: true })
      await publish('whole')
      await syncLeads(store, `${upstream.address}/${round % 2 === 0 ? 'v2' : 'v1'}`)
      await publish('changed')
    }
    return null

    async function publish(what: string): Promise<void> {
      const [began, cpuBefore] = [performance.now(), readCpuMs()]
      await publishSnapshot(publishing, new AbortController().signal)
      add(`snapshot ${what} wall`, leads, performance.now() - began)
      add(`snapshot ${what} cpu`, leads, readCpuMs() - cpuBefore)
    }
  },
}

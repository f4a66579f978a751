/** The snapshot for analysts. */
import { rm } from 'node:fs/promises'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { pathsIn } from '../../../src/app/installation.ts'
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
    const { snapshot: file } = pathsIn(join(installation.folder, 'data'))
    const publishing = {
      store,
      file,
      profile: REFERENCE_PROFILE,
      version: '0',
      group: null,
      now: () => new Date(),
    }
    await syncLeads(store, `${upstream.address}/v1`)
    for (let round = 0; round < Math.min(rounds, isShort ? 1 : rounds); round++) {
      await rm(file, { force: true })
      const [began, cpuBefore] = [performance.now(), readCpuMs()]
      await publishSnapshot(publishing, new AbortController().signal)
      add('snapshot wall', leads, performance.now() - began)
      add('snapshot cpu', leads, readCpuMs() - cpuBefore)
    }
    return null
  },
}

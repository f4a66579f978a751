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
import { addTimes, type Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import { timeOf } from '../step.ts'

export const SNAPSHOT: Part = {
  subjects: ['snapshot'],
  async measure({ most, rounds, isShort }, add) {
    // Keeps what Node compiles, as the command leadsheet does.
    enableCompileCache()
    process.stderr.write(`snapshot of ${most} leads\n`)
    await using upstream = await startUpstream(most)
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
    for (let round = 0; round < (isShort ? 1 : rounds); round++) {
      await rm(file, { force: true })
      const { signal } = new AbortController()
      addTimes(add, 'snapshot', most, await timeOf(() => publishSnapshot(publishing, signal)))
    }
    return null
  },
}

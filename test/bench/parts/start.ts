/** The time that commands take to start, compared with a bare Node, round by round. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { IDLE, install } from '../installation.ts'
import { addTimes, type Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import { timeOf } from '../step.ts'

const LEADS = 1000
/** The installed program, which uses a cache of compiled code. */
const COMMAND = join(import.meta.dirname, '../../../bin/leadsheet.js')

export const START: Part = {
  subjects: ['start'],
  async measure({ fewest, rounds }, add) {
    await using upstream = await startUpstream(LEADS)
    await using installation = await install(`api: { url: "${upstream.address}/v1", key: bench }\n${IDLE}`)
    await run([COMMAND, 'sync', '--quiet'])
    for (let round = 0; round < rounds; round++) {
      const bare = await timeOf(() => run(['-e', '0']))
      for (const [name, args] of [
        ['version', ['--version']],
        ['sync', ['sync', '--quiet']],
      ] as const) {
        const found = await timeOf(() => run([COMMAND, ...args]))
        const time = { ms: found.ms - bare.ms, cpuMs: found.cpuMs - bare.cpuMs }
        addTimes(add, `start ${name}`, fewest, time)
      }
    }
    return null

    function run(args: readonly string[]) {
      return promisify(execFile)(process.execPath, args, { cwd: installation.folder })
    }
  },
}

/** The time that commands take to start, compared with a bare Node, round by round. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { IDLE, install } from '../installation.ts'
import { addTimes, type Part } from '../measurement.ts'
import { MAIN, startUpstream } from '../programs.ts'
import { timeOf } from '../step.ts'

const LEADS = 1000
/** The exit status of `status` for these leads, which were all created on one day. */
const NOT_WELL = 3

export const START: Part = {
  subjects: ['start'],
  async measure({ fewest, rounds }, add) {
    await using upstream = await startUpstream(LEADS)
    await using installation = await install(`api: { url: "${upstream.address}/v1", key: bench }\n${IDLE}`)
    await run([MAIN, 'sync', '--quiet'])
    for (let round = 0; round < rounds; round++) {
      const bare = await timeOf(() => run(['-e', '0']))
      for (const [name, args] of [
        ['version', ['--version']],
        ['sync', ['sync', '--quiet']],
        ['status', ['status']],
      ] as const) {
        const found = await timeOf(() => run([MAIN, ...args]))
        const time = { ms: found.ms - bare.ms, cpuMs: found.cpuMs - bare.cpuMs }
        addTimes(add, `start ${name}`, fewest, time)
      }
    }
    return null

    function run(args: readonly string[]) {
      return promisify(execFile)(process.execPath, args, { cwd: installation.folder }).catch((failure) => {
        if (failure.code !== NOT_WELL) throw failure
      })
    }
  },
}

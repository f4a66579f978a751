/** The time that commands take to start, compared with a bare Node, round by round. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { IDLE, install } from '../installation.ts'
import { addTimes, type Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import { readChildrenCpuMs, type Time } from '../step.ts'

const LEADS = 1000
/** The installed program, which uses a cache of compiled code. */
const COMMAND = join(import.meta.dirname, '../../../bin/leadsheet.js')

export const START: Part = {
  subjects: ['start'],
  async measure({ fewest, rounds }, add) {
    await using upstream = await startUpstream(LEADS)
    await using installation = await install(`api: { url: "${upstream.address}/v1", key: bench }\n${IDLE}`)
    timeOf([COMMAND, 'sync', '--quiet'])
    for (let round = 0; round < rounds; round++) {
      const bare = timeOf(['-e', '0'])
      for (const [name, args] of [
        ['version', ['--version']],
        ['sync', ['sync', '--quiet']],
      ] as const) {
        const found = timeOf([COMMAND, ...args])
        const time = { ms: found.ms - bare.ms, cpuMs: found.cpuMs - bare.cpuMs }
        addTimes(add, `start ${name}`, fewest, time)
      }
    }
    return null

    function timeOf(args: readonly string[]): Time {
      const [began, before] = [performance.now(), readChildrenCpuMs()]
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd: installation.folder,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')}: found status ${status}, expected 0: ${stderr}`)
      return { ms: performance.now() - began, cpuMs: readChildrenCpuMs() - before }
    }
  },
}

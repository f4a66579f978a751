/** The time that commands take to start, compared with a bare Node, round by round. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { install } from '../installation.ts'
import type { Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import { readCpuMs } from '../step.ts'
import { fewLeads } from './sync.ts'

const LEADS = 1000
/** The installed program, which uses a cache of compiled code. */
const COMMAND = join(import.meta.dirname, '../../../bin/leadsheet.js')

export const START: Part = {
  name: 'start',
  subjects: ['start'],
  async measure(options, add) {
    await using upstream = await startUpstream(LEADS)
    await using installation = await install(
      `api: { url: "${upstream.address}/v1", key: bench }\nsnapshot: { when: never }\nreports: []`,
    )
    time([COMMAND, 'sync', '--quiet'])
    for (let round = 0; round < options.rounds; round++) {
      const bare = time(['-e', '0'])
      for (const [name, args] of [
        ['version', ['--version']],
        ['sync', ['sync', '--quiet']],
      ] as const) {
        const found = time([COMMAND, ...args])
        add(`start ${name} wall`, fewLeads(options), found.ms - bare.ms)
        add(`start ${name} cpu`, fewLeads(options), found.cpuMs - bare.cpuMs)
      }
    }
    return null

    function time(args: readonly string[]): { ms: number; cpuMs: number } {
      const [began, cpuBefore, own] = [performance.now(), readCpuMs(), process.cpuUsage()]
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd: installation.folder,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${args.join(' ')}: found status ${status}, expected 0: ${stderr}`)
      const { user, system } = process.cpuUsage(own)
      return { ms: performance.now() - began, cpuMs: readCpuMs() - cpuBefore - (user + system) / 1000 }
    }
  },
}

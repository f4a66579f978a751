/** The memory of a daemon that has synced once and does nothing. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { IDLE, install } from '../installation.ts'
import type { Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'

const LEADS = 2400
const SETTLE_MS = 10_000

export const IDLE_DAEMON: Part = {
  subjects: ['idle'],
  async measure({ fewest }, add) {
    await using upstream = await startUpstream(LEADS)
    await using installation = await install(`api: { url: "${upstream.address}/v1", key: bench }\n${IDLE}`)
    await using daemon = await installation.startDaemon()
    await daemon.untilSyncs(0)
    await delay(SETTLE_MS)
    const status = readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8')
    add('idle', fewest, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
    return null
  },
}
